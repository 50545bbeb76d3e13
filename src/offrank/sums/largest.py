"""The largest values of each column, which show the tail of the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Fold, Sample

MOST_LARGEST = 1024
"""How many of the largest weights and rewards of a log are kept."""
_ROOM = 4
"""Values that are collected before the largest of them are selected, as a multiple of those kept."""


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest values [columns, keep] of each column, in descending order; -inf where there are fewer."""

    values: Floats

    def __add__(self, other: Largest) -> Largest:
        both = np.sort(np.concatenate([self.values, other.values], axis=1), axis=1)
        return Largest(both[:, : -self.values.shape[1] - 1 : -1].copy())


@dataclass(frozen=True)
class LargestFold(Fold):
    """Keeps the `keep` largest values of the chosen columns. absolute: whether the signs do not count."""

    columns: tuple[int, ...]
    keep: int = MOST_LARGEST
    absolute: bool = False

    def add(self, part: Largest | None, batch: Sample) -> Largest:
        """Of many values few are above the least of those kept: these are collected, and cut where they are many."""
        keep, row, columns = self.keep, 0, np.array(self.columns, np.int64)
        found, count = np.empty((len(columns), _ROOM * keep + _kernels.BLOCK)), np.full(len(columns), keep)
        found[:, :keep] = -np.inf if part is None else part.values
        least = found[:, keep - 1].copy()
        while row < len(batch.key):
            row = _kernels.rows_above(batch.columns, columns, self.absolute, row, least, found, count)
            for line in np.flatnonzero(count > _ROOM * keep).tolist():
                found[line, :keep] = np.partition(found[line, : count[line]], -keep)[-keep:]
                count[line], least[line] = keep, found[line, :keep].min()
        for line, kept in enumerate(found):
            kept[:keep] = np.sort(kept[: count[line]])[: -keep - 1 : -1]
        return Largest(found[:, :keep].copy())
