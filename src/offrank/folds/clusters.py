"""What dependent rows do to an error: the jackknife over clusters, and how many clusters they are worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from .moments import Moments


@dataclass(frozen=True)
class Clusters:
    """The clusters of a column of the log, those that share a hash bucket taken as one.

    sums: [g, d] sums of the columns over each cluster; rows: [g] how many rows it has, none of them 0. buckets: how
    many there are, with the empty ones.
    """

    column: str
    sums: Floats
    rows: Floats
    buckets: int

    @classmethod
    def of(cls, column: str, buckets: Floats) -> Clusters:
        """Out of the state of a `BucketsFold`."""
        held = buckets[buckets[:, -1] > 0]
        return cls(column, held[:, :-1], held[:, -1], len(buckets))

    def __len__(self) -> int:
        return len(self.rows)

    def jackknife(self, function: Callable[[Floats], Floats]) -> float:
        """Standard error of a function of the column sums [..., d] -> [...]; infinite if it rests on one cluster alone.

        sqrt((g - 1) / g * sum over clusters of (function without the cluster - function)^2). Of a ratio, the residual
        of a cluster with the share h of the denominator is divided by 1 - h, which is what the estimate, drawn towards
        a large cluster, takes from it: the estimator CR3 of Bell and McCaffrey (2002). Of clusters of one size it is
        the plain sandwich with the factor g / (g - 1).
        """
        count, total = len(self), self.sums.sum(axis=0)
        if count < 2:
            return math.inf  # one cluster does not say how much others would differ
        away = function(total - self.sums) - function(total)
        error = math.sqrt((count - 1) / count * float(away @ away))
        return error if math.isfinite(error) else math.inf

    def linear_error(self, influence: Floats) -> float:
        """Without that division, what resampling the clusters shows: influence is [d] coefficients of a row."""
        sums = self.sums[:, : len(influence)] @ influence
        return math.sqrt(float(sums @ sums)) / float(self.rows.sum())

    def freedom(self, column: int) -> float:
        """Degrees of freedom of the jackknife of a ratio to this column."""
        return degrees_of_freedom(self.sums[:, column])

    @property
    def repeats(self) -> float:
        """Rows in the cluster of a row, itself among them, on average; what shares its bucket by chance is taken off."""
        n = float(self.rows.sum())
        return float(self.rows @ self.rows - n**2 / self.buckets) / (n * (1 - 1 / self.buckets))

    def design_effects(self, moments: Moments) -> Floats:
        """[d - 1] variance of the mean of each column but the first, by clusters over that of independent rows.

        Means are ratios to the first column. NaN where a mean does not vary.
        """
        mean = moments.mean / moments.mean[0]
        cross = moments.comoment
        alone = np.diagonal(cross) - 2 * mean * cross[0] + mean**2 * cross[0, 0]
        together = ((self.sums[:, : len(mean)] - self.sums[:, :1] * mean) ** 2).sum(axis=0)
        factor = len(self) / max(len(self) - 1, 1) * (1 - 1 / moments.n)
        varies = alone > 1e-12 * moments.squares
        return np.asarray(np.divide(factor * together, alone, out=np.full(len(mean), np.nan), where=varies)[1:])


def degrees_of_freedom(sizes: Floats) -> float:
    """Satterthwaite's degrees of freedom of the jackknife over clusters of these sizes [g].

    The variance estimate is a quadratic form of the clusters' sums; its degrees of freedom are
    2 mean^2 / variance, for rows that are alike and independent (Bell and McCaffrey 2002, Imbens and Kolesar 2016).
    With the share h of a cluster and q = h / (1 - h) they are
    (sum q)^2 / (sum q^2 + (sum q^2)^2 - sum q^4): g - 1 for g clusters of one size, fewer for unlike ones.
    """
    shares = np.abs(sizes)
    total = float(shares.sum())
    shares = shares[shares > 0] / total if total > 0 else shares[:0]
    if len(shares) < 2 or shares.max() >= 1:
        return 0.0
    q = shares / (1 - shares)
    squares = float(q @ q)
    return float(q.sum() ** 2 / (squares + squares**2 - float((q**4).sum())))
