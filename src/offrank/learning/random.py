"""Random: a baseline that learns nothing and scores all candidates equally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .examples import Checkpoint, Data, Learner


@dataclass(frozen=True)
class Random(Learner):
    """Weights of zero (paper criteo-test-bed, section 4.2, method 1)."""

    epochs: int = 0

    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        yield Checkpoint.linear({}, np.zeros(data.encoding.size), data)
