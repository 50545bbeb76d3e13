"""Poisson bootstrap keyed by row: the same replicates under any partition of the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from ..log.hashing import ODD
from . import _kernels
from .base import Products, Sample, TotalFold, Turned, with_products


@dataclass(frozen=True)
class BootstrapFold(Turned):
    """Reduces samples to the sums [replicates, products + columns or more] of each replicate."""

    columns: int
    replicates: int = 200
    seed: int = 0
    products: Products = ()

    @property
    def reducer(self) -> TotalFold:
        return TotalFold((self.replicates, self.columns + len(self.products)))

    def turned(self, batch: Sample) -> Floats:
        values = with_products(batch.values, self.products)
        sums = np.zeros((values.shape[1], self.replicates))
        # The golden-ratio multiple keeps the keys of two seeds apart.
        key = batch.key + np.uint64((self.seed * int(ODD)) % 2**64)
        _kernels.poisson_sums(sums, values, key, _kernels.POISSON)
        return sums.T
