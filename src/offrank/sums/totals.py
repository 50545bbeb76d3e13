"""Sums of columns over each replicate of a bootstrap.

The Poisson bootstrap is keyed by row: its replicates are the same under any partition of the log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from ..log.hashing import ODD
from . import _kernels
from .base import Fold, Sample

Products = tuple[tuple[int, int], ...]
"""Pairs of columns whose products are summed too: second moments, for what is refitted in each replicate."""


def with_products(values: Floats, products: Products) -> Floats:
    """[p + d, n] the products of these pairs of columns, then the columns; later samples may have more columns."""
    return np.concatenate([[values[one] * values[other] for one, other in products], values])


@dataclass(frozen=True)
class BootstrapFold(Fold):
    """Reduces samples to the sums [replicates, products + columns] of each replicate."""

    replicates: int = 200
    seed: int = 0
    products: Products = ()

    def of(self, batch: Sample) -> Floats:
        values = with_products(batch.columns, self.products) if self.products else batch.columns
        sums = np.zeros((len(values), self.replicates))
        # The golden-ratio multiple separates the keys of two seeds.
        key = batch.key + np.uint64((self.seed * int(ODD)) % 2**64)
        _kernels.poisson_sums(sums, values, key, _kernels.POISSON)
        return sums.T
