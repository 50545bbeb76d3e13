"""The largest values of each column, which show the tail of the weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Sample


@dataclass(frozen=True)
class LargestFold:
    """Keeps the `keep` largest values of the chosen columns in descending order. State: [len(columns), keep].

    absolute: whether the signs do not count.
    """

    columns: tuple[int, ...]
    keep: int = 1024
    absolute: bool = False

    def empty(self) -> Floats:
        return np.full((len(self.columns), self.keep), -np.inf)

    def add(self, state: Floats, batch: Sample) -> Floats:
        each = (batch.values[:, column] for column in self.columns)
        return self._each(map(partial(_kernels.largest, absolute=self.absolute), state, each))

    def merge(self, left: Floats, right: Floats) -> Floats:
        return self._each(map(partial(_kernels.largest, absolute=False), left, right))

    def finish(self, state: Floats) -> Floats:
        return state

    def _each(self, lines: Iterable[Floats]) -> Floats:
        return np.array(list(lines)).reshape(len(self.columns), self.keep)
