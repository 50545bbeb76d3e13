"""Random: a baseline that learns nothing and scores all candidates equally."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .examples import Checkpoint, Data


@dataclass(frozen=True)
class Random:
    """Weights of zero (paper criteo-test-bed, section 4.2, method 1)."""

    greedy: ClassVar[bool] = False
    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = False
    epochs: int = 0

    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        yield Checkpoint.linear({}, np.zeros(data.encoding.size), data)
