"""One state per group: a table per banner type, query class or country, for any fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ..errors import UsageError
from ..log.batch import Integers
from .base import Fold, Sample

S = TypeVar("S")
R = TypeVar("R")

MOST_GROUPS = 2_000


@dataclass(frozen=True)
class GroupBy(Generic[S, R]):
    """Keeps a state of `fold` for each name that occurs.

    Raises:
        UsageError: more than MOST_GROUPS groups, whose states would outgrow the memory.
    """

    fold: Fold[S, Sample, R]

    def empty(self) -> dict[str, S]:
        return {}

    def add_groups(self, state: dict[str, S], batch: Sample, codes: Integers, names: Sequence[str]) -> dict[str, S]:
        """Add a sample whose row i belongs to group names[codes[i]]."""
        state = dict(state)
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        groups = np.split(order, starts[1:]) if len(order) else []
        for code, rows in zip(present, groups, strict=True):
            before = state.get(names[code])
            state[names[code]] = self.fold.add(self.fold.empty() if before is None else before, batch.take(rows))
        return _bounded(state)

    def merge(self, left: dict[str, S], right: dict[str, S]) -> dict[str, S]:
        merged = dict(left)
        for name, state in right.items():
            merged[name] = self.fold.merge(merged[name], state) if name in merged else state
        return _bounded(merged)

    def finish(self, state: dict[str, S]) -> dict[str, R]:
        return {name: self.fold.finish(state[name]) for name in sorted(state)}


def _bounded(state: dict[str, S]) -> dict[str, S]:
    if len(state) > MOST_GROUPS:
        raise UsageError(
            f"the column to group by has more than {MOST_GROUPS} values",
            "group by a coarser column, such as a banner type or a query class",
        )
    return state
