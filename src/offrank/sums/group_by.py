"""Any fold by group, such as banner type, query class or country: one state per group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import UsageError
from ..log.batch import Labels, LogBatch
from .base import Fold, Sample, Tee

S = TypeVar("S")
R = TypeVar("R")

MOST_GROUPS = 2_000


@dataclass(frozen=True)
class GroupBy(Generic[S, R]):
    """Keeps a state of `fold` for each group that occurs in the samples.

    Raises:
        UsageError: more than MOST_GROUPS groups, whose states would outgrow the memory.
    """

    fold: Fold[S, Sample, R]

    def empty(self) -> dict[str, S]:
        return {}

    def add(self, state: dict[str, S], batch: Sample) -> dict[str, S]:
        assert batch.groups is not None
        state, codes = dict(state), batch.groups.codes
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        _refuse_many(len(present))  # before their states are made
        groups = np.split(order, starts[1:]) if len(order) else []
        for code, rows in zip(present, groups, strict=True):
            name = batch.groups.names[code]
            before = state.get(name)
            state[name] = self.fold.add(self.fold.empty() if before is None else before, batch.take(rows))
        return _bounded(state)

    def merge(self, left: dict[str, S], right: dict[str, S]) -> dict[str, S]:
        merged = dict(left)
        for name, state in right.items():
            merged[name] = self.fold.merge(merged[name], state) if name in merged else state
        return _bounded(merged)

    def finish(self, state: dict[str, S]) -> dict[str, R]:
        return {name: self.fold.finish(state[name]) for name in sorted(state)}


def with_groups(whole: Fold[Any, Sample, Any], each: Fold[Any, Sample, Any] | None) -> Tee:
    """Reduces the samples of the `whole` log, and those of `each` group unless that is None."""
    return Tee({"whole": whole} if each is None else {"whole": whole, "groups": GroupBy(each)})


Grouping = Callable[[LogBatch], Labels]
"""Maps a batch to the group of each row."""


def by_column(column: str) -> Grouping:
    """Group rows by a column of the log."""
    return partial(_labels, column)


def _labels(column: str, batch: LogBatch) -> Labels:
    return batch.labels[column]


def by_slots(batch: LogBatch) -> Labels:
    """Group rows by their number of slots."""
    slots, codes = np.unique(batch.contexts.length, return_inverse=True)
    return Labels(codes, tuple(str(number) for number in slots))


def _bounded(state: dict[str, S]) -> dict[str, S]:
    _refuse_many(len(state))
    return state


def _refuse_many(groups: int) -> None:
    if groups > MOST_GROUPS:
        raise UsageError(
            f"the column to group by has more than {MOST_GROUPS} values",
            "group by a coarser column, such as a banner type or a query class",
        )
