"""Poisson bootstrap keyed by row: the same replicates under any partition of the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Products, Sample, with_products


@dataclass(frozen=True)
class BootstrapFold:
    """Reduces samples to the column sums [replicates, columns + products] of each replicate."""

    columns: int
    replicates: int = 200
    seed: int = 0
    products: Products = ()

    def empty(self) -> Floats:
        return np.zeros((self.replicates, self.columns + len(self.products)))

    def add(self, state: Floats, batch: Sample) -> Floats:
        sums = np.zeros(state.shape[::-1])
        # The golden-ratio multiple keeps the keys of two seeds apart.
        key = batch.key + np.uint64((self.seed * 0x9E3779B97F4A7C15) % 2**64)
        _kernels.poisson_sums(sums, with_products(batch.values, self.products), key, _kernels.POISSON)
        return state + sums.T

    def merge(self, left: Floats, right: Floats) -> Floats:
        return left + right

    def finish(self, state: Floats) -> Floats:
        return state
