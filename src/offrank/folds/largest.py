"""The largest values of each column, which show the tail of the weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
        columns = zip(state, self.columns, strict=True)
        return self._each(_kernels.largest(kept, batch.values[:, column], self.absolute) for kept, column in columns)

    def merge(self, left: Floats, right: Floats) -> Floats:
        return self._each(_kernels.largest(a, b, False) for a, b in zip(left, right, strict=True))

    def finish(self, state: Floats) -> Floats:
        return state

    def _each(self, lines: Iterable[Floats]) -> Floats:
        return np.array(list(lines)).reshape(len(self.columns), self.keep)
