"""AllPairs: the examination of ranks from documents that were shown at two of them, by maximum likelihood.

Each pair (a, b) has a relevance r_ab of its own: clicks at a have chance p_a r_ab, at b p_b r_ab (Agarwal, Zaitsev,
Wang, Li, Najork and Joachims 2019). Only ratios of the p are identified, so p is 1 at the first rank.

With x_ab = p_a r_ab, c clicks and s skips, the log-likelihood is c log x + s log(1 - x), which is concave in log p and
log r. The best r_ab is a root of a quadratic; what is left for log p has gradient c - s x / (1 - x), summed over pairs,
and an information that is the Laplacian of the graph of ranks with weights h_ab h_ba / (h_ab + h_ba), where
h = s x / (1 - x)^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats

_STEPS = 100
_TOLERANCE = 1e-8
_FARTHEST = 15.0
"""Largest absolute logarithm of p: a rank without clicks has no maximum."""


@dataclass(frozen=True)
class Pairs:
    """Statistics of documents shown at two ranks, all [..., k, k], 0 on the diagonal and for pairs not compared.

    clicked: [..., a, b] weighted click rate at rank a of the documents that were shown at ranks a and b. shown: their
    weight.
    """

    clicked: Floats
    shown: Floats

    def reaches(self) -> NDArray[np.bool_]:
        """[..., a, b] whether clicks bound p_b / p_a from above.

        They do where documents shown at both were clicked at a, directly or by way of other ranks (as in Ford 1957).
        """
        ranks = self.clicked.shape[-1]
        found = ((self.clicked > 0) | np.eye(ranks, dtype=np.bool_)).astype(np.float32)
        for _ in range(max(ranks - 1, 1).bit_length()):
            found = (found @ found > 0).astype(np.float32)
        return found > 0

    def curve(self) -> Floats:
        """[..., k] p, 1 at the first rank, for all logs at once by Newton's method, which never goes downhill."""
        theta = np.zeros(self.shown.shape[:-1])
        log_likelihood, slope, weight = self._at(theta)
        for _ in range(_STEPS):
            step = _newton(slope, weight)
            for _ in range(30):
                after = np.clip(theta + step, -_FARTHEST, _FARTHEST)
                reached, new_slope, new_weight = self._at(after)
                worse = reached < log_likelihood - 1e-10 * np.abs(log_likelihood)
                if not worse.any():
                    break
                step = np.where(worse[..., None], step / 2, step)
            moved = float(np.abs(after - theta).max())
            theta, log_likelihood, slope, weight = after, reached, new_slope, new_weight
            if moved < _TOLERANCE:
                break
        return np.asarray(np.exp(theta))

    def _at(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """([...] log-likelihood with the best relevances, [..., k] gradient, [..., k, k] weights of the Laplacian)."""
        p, q = np.exp(theta)[..., :, None], np.exp(theta)[..., None, :]
        clicks, skips = self.clicked, np.maximum(self.shown - self.clicked, 0.0)
        others, skipped = np.swapaxes(clicks, -1, -2), np.swapaxes(skips, -1, -2)
        both = clicks + others
        square, linear = (both + skips + skipped) * p * q, both * (p + q) + skips * p + skipped * q
        root = linear + np.sqrt(np.maximum(linear**2 - 4 * square * both, 0.0))
        r = np.divide(2 * both, root, out=np.zeros_like(root), where=root > 0)
        x = np.minimum(p * r, 1 - 1e-12)
        odds = x / (1 - x)
        log_likelihood = clicks * np.log(np.where(clicks > 0, x, 1.0)) + skips * np.log1p(-x)
        curved = skips * odds / (1 - x)
        beside = np.swapaxes(curved, -1, -2)
        total = curved + beside
        weight = np.divide(curved * beside, total, out=np.zeros_like(total), where=total > 0)
        return log_likelihood.sum(axis=(-1, -2)), (clicks - skips * odds).sum(axis=-1), weight


def _newton(slope: Floats, weight: Floats) -> Floats:
    """[..., k] a Newton step of at most 2; 0 at the first rank."""
    ranks = slope.shape[-1]
    laplacian = weight.sum(axis=-1)[..., None] * np.eye(ranks) - weight
    scale = np.maximum(laplacian.max(axis=(-1, -2), initial=0.0), 1e-12)[..., None, None]
    inner = laplacian[..., 1:, 1:] + 1e-9 * scale * np.eye(ranks - 1)
    step = np.linalg.solve(inner, slope[..., 1:, None])[..., 0]
    largest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
    step = step * np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))
    return np.concatenate([np.zeros((*step.shape[:-1], 1)), step], axis=-1)
