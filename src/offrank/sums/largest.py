"""The largest values of each column, which show the tail of the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Fold, Sample

_ROOM = 4
"""Values that are collected before the largest of them are selected, as a multiple of those kept."""


@dataclass(frozen=True)
class LargestFold(Fold[Floats, Sample, Floats]):
    """Keeps the `keep` largest values of the chosen columns in descending order. State: [len(columns), keep].

    absolute: whether the signs do not count.
    """

    columns: tuple[int, ...]
    keep: int = 1024
    absolute: bool = False

    def empty(self) -> Floats:
        return np.full((len(self.columns), self.keep), -np.inf)

    def add(self, state: Floats, batch: Sample) -> Floats:
        """Of many values few are above the least of those kept: these are collected, and cut where they are many."""
        keep, row, columns = self.keep, 0, np.array(self.columns, np.int64)
        found, count = np.empty((len(columns), _ROOM * keep + _kernels.BLOCK)), np.full(len(columns), keep)
        found[:, :keep], least = state, state[:, -1].copy()
        while row < len(batch.key):
            row = _kernels.above(batch.columns, columns, self.absolute, row, least, found, count)
            for line in np.flatnonzero(count > _ROOM * keep).tolist():
                found[line, :keep] = np.partition(found[line, : count[line]], -keep)[-keep:]
                count[line], least[line] = keep, found[line, :keep].min()
        for line, kept in enumerate(found):
            kept[:keep] = np.sort(kept[: count[line]])[: -keep - 1 : -1]
        return found[:, :keep].copy()

    def merge(self, left: Floats, right: Floats) -> Floats:
        return np.sort(np.concatenate([left, right], axis=1), axis=1)[:, : -self.keep - 1 : -1].copy()
