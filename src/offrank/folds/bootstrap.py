"""Poisson bootstrap keyed by row: the same replicates under any partition of the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from ..log.hashing import ODD
from . import _kernels
from .base import Products, Sample, widened, with_products


@dataclass(frozen=True)
class BootstrapFold:
    """Reduces samples to the sums [replicates, products + columns or more] of each replicate."""

    columns: int
    replicates: int = 200
    seed: int = 0
    products: Products = ()

    def empty(self) -> Floats:
        return np.zeros((self.replicates, self.columns + len(self.products)))

    def add(self, state: Floats, batch: Sample) -> Floats:
        values = with_products(batch.values, self.products)
        sums = np.zeros((values.shape[1], self.replicates))
        # The golden-ratio multiple keeps the keys of two seeds apart.
        key = batch.key + np.uint64((self.seed * int(ODD)) % 2**64)
        _kernels.poisson_sums(sums, values, key, _kernels.POISSON)
        return self.merge(state, sums.T)

    def merge(self, left: Floats, right: Floats) -> Floats:
        columns = max(left.shape[1], right.shape[1])
        return widened(left, columns) + widened(right, columns)

    def finish(self, state: Floats) -> Floats:
        return state
