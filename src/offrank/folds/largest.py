"""The largest values of each column, which show the tail of the weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
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
        state = state.copy()
        for line, column in enumerate(self.columns):
            values = np.abs(batch.values[:, column]) if self.absolute else batch.values[:, column]
            values = values[values > state[line, -1]]  # few, once the state is full
            if len(values):
                state[line] = self._top(state[line], values)
        return state

    def merge(self, left: Floats, right: Floats) -> Floats:
        return np.array([self._top(a, b) for a, b in zip(left, right, strict=True)]).reshape(left.shape)

    def finish(self, state: Floats) -> Floats:
        return state

    def _top(self, kept: Floats, values: Floats) -> Floats:
        both = np.concatenate([kept, values])
        return -np.sort(np.partition(-both, self.keep - 1)[: self.keep])
