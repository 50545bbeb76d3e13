"""Probabilities that were written down beside the shown slates: read, checked and padded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..log import _kernels, rules
from ..log.batch import Floats, Integers
from ..log.rules import Faults
from ..log.schema import WRITTEN, Columns
from . import arrow
from .arrow import Lists


def columns(roles: Iterable[str], written: Iterable[str], known: Columns) -> dict[str, str]:
    """What is read of the probabilities that are needed: `role` or `role:column` -> column.

    Where the logging policy's own are missing, another role may hold the same: the product of the slots' is the
    slate's, and on slates of one slot all three are one.

    Raises:
        ColumnError: the log has no such column.
    """
    chosen = {}
    for role in sorted(set(roles) & set(WRITTEN)):
        there = role if known.has(role) else next(filter(known.has, WRITTEN[role]), role)
        chosen[there] = known.of(there)
    for name in sorted(written):
        chosen[name] = known.named(name.partition(":")[2])
    return chosen


@dataclass(frozen=True)
class WrittenColumn:
    """One checked column: lists of `dimensions` - 1 levels beside the slate (0 levels: a number per row)."""

    dimensions: int
    numbers: Floats
    lists: Lists | None = None

    def head(self, slots: int) -> WrittenColumn:
        """Of the first slots alone; a number per row is of all."""
        return self if self.lists is None else replace(self, lists=self.lists.head(slots))

    def take(self, rows: Integers | None, slots: int) -> Floats:
        """[n], [n, k] or [n, k, k] of these rows, all where None; in slates of so many slots."""
        pick: Any = slice(None) if rows is None else rows
        if self.lists is None:
            found = self.numbers[pick]
            return found[:, :slots, :slots] if self.dimensions == 3 else found
        return self.lists.take(rows).padded(slots, 1.0)


def read(name: str, data: Callable[[], Any], column: str, lengths: Integers, faults: Faults) -> WrittenColumn:
    """Read the column of `role` or `role:column`; rows that break a rule are marked.

    lengths: [n] slots of each row. The logging policy did draw what was shown, so that its own are above 0.
    """
    role, _, other = name.partition(":")
    if role == "propensity":
        found = arrow.numbers(data(), column)
        rule = rules.BAD_PROBABILITY if other else rules.BAD_PROPENSITY
        faults.mark(~_fine(found, zero=bool(other)), rule, column)
        if not other:
            faults.mark(found < rules.LEAST_PROBABILITY, rules.TINY_PROBABILITY, column)
        return WrittenColumn(1, found)
    if role == "slot_propensity":
        lists = arrow.number_lists(data(), column)
        if lists.null is not None:
            faults.mark(lists.null, rules.NULL, column)
        faults.mark(lists.lengths != lengths, rules.RAGGED, column)
        rule = rules.BAD_PROBABILITY if other else rules.BAD_SLOT_PROPENSITY
        fine = _fine(lists.values, zero=bool(other))
        if not fine.all():
            faults.mark(lists.rows_where(~fine), rule, column)
        if not other and len(lists.values) and lists.values.min() < rules.LEAST_PROBABILITY:
            faults.mark(lists.rows_where(lists.values < rules.LEAST_PROBABILITY), rules.TINY_PROBABILITY, column)
        return WrittenColumn(2, lists.values, lists)
    squares, wrong = arrow.square_lists(data(), column)
    faults.mark(wrong | (squares.lengths != lengths), rules.RAGGED, column)
    matrices = _matrices(squares, int(squares.lengths.max(initial=0)))
    bad = _kernels.bad_rank_propensity(matrices, squares.lengths, not other)
    faults.mark(bad, rules.BAD_RANK_PROBABILITY if other else rules.BAD_RANK_PROPENSITY, column)
    return WrittenColumn(3, matrices)


def _fine(values: Floats, *, zero: bool) -> Any:
    """Which values are probabilities; NaN is none."""
    return ((values >= 0) if zero else (values > 0)) & (values <= 1)


def _matrices(found: Lists, width: int) -> Floats:
    n = len(found.starts)
    uniform = n and (found.lengths == width).all() and (np.diff(found.starts) == width * width).all()
    if uniform:
        first = int(found.starts[0])
        block = found.values[first : first + n * width * width].reshape(n, width, width)
        return block if block.flags.writeable else block.copy()
    out = np.zeros((n, width, width))
    _kernels.pad_square(found.values, found.starts, found.lengths, out)
    return out
