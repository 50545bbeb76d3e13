"""Any fold by group, such as banner type, query class or country: one state per group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import UsageError
from ..log.batch import Labels, LogBatch
from .base import Fold, Sample, Tee, total

MOST_GROUPS = 2_000


@dataclass(frozen=True)
class Groups:
    """A part of each group. of: by the group's name."""

    of: Mapping[str, Any]

    @property
    def by_name(self) -> dict[str, Any]:
        """The parts, in the order of the names."""
        return dict(sorted(self.of.items()))

    def __add__(self, other: Groups) -> Groups:
        """The parts of all groups.

        Raises:
            UsageError: more than MOST_GROUPS groups, whose parts would outgrow the memory.
        """
        found = total(dict(self.of), dict(other.of))
        _refuse_many(len(found))
        return Groups(found)


@dataclass(frozen=True)
class GroupBy(Fold):
    """Keeps a part of `fold` for each group that occurs in the samples.

    Raises:
        UsageError: too many groups.
    """

    fold: Fold

    def add(self, part: Groups | None, batch: Sample) -> Groups:
        assert batch.groups is not None
        codes, found = batch.groups.codes, dict[str, Any]() if part is None else dict(part.of)
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        _refuse_many(len(present))  # before their parts are made
        groups = np.split(order, starts[1:]) if len(order) else []
        for code, rows in zip(present, groups, strict=True):
            name = batch.groups.names[code]
            found[name] = self.fold.add(found.get(name), batch.take(rows))
        _refuse_many(len(found))
        return Groups(found)

    def result(self, part: Groups) -> dict[str, Any]:
        return {name: self.fold.result(one) for name, one in part.by_name.items()}


def with_groups(whole: Fold, each: Fold | None) -> Tee:
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


def _refuse_many(groups: int) -> None:
    if groups > MOST_GROUPS:
        raise UsageError(
            f"the column to group by has more than {MOST_GROUPS} values",
            "group by a coarser column, such as a banner type or a query class",
        )
