"""Attention that decreases with every rank and click, but never ends: the published code's "DBN"."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from offrank.log.batch import Booleans, Floats, Integers

from . import _kernels

LOWEST = 0.1
"""Minimum of the attraction, whatever the noise."""


@dataclass(frozen=True)
class Fading:
    """Law P(C_k = 1 | clicks read before) = e_k a_k, with e_1 = 1 and e_{k+1} = gamma e_k (1 - s_k C_k).

    Unlike in a dynamic Bayesian network nobody leaves: a user who clicked at rank 5 may click at rank 6 whatever
    happened, and no skip means that reading has ended.

    - attraction: [n, k]; with `noise` above 0, a_k is drawn for each session, from a normal distribution with
      this mean and standard deviation, clipped to [.1, 1]. The law integrates out the noise exactly.
    - satisfaction: [n, k]; None: s_k is the attraction that was drawn.
    - shown: [n, k] whether there is an item; an empty rank gets no click and costs no attention.
    - kept: [n, k] share of the clicks that are logged; later behaviour depends on all clicks.
    - upward: whether the user reads from the bottom.
    """

    attraction: Floats
    satisfaction: Floats | None
    shown: Booleans
    gamma: float
    noise: float = 0.0
    kept: Floats | None = None
    upward: bool = False

    def marginal(self) -> Floats:
        return np.asarray(_kernels.fading_marginal(self._clicking, self._going_on, self._kept, self._order))

    def conditional(self, clicks: Floats) -> Floats:
        law = self._clicking, self._going_on, self._kept, self._order
        return np.asarray(_kernels.fading_conditional(*law, clicks))

    def sample(self, rng: np.random.Generator) -> Floats:
        attraction = self.attraction
        if self.noise > 0:
            attraction = np.clip(attraction + self.noise * rng.normal(size=attraction.shape), LOWEST, 1.0)
        attraction = np.where(self.shown, attraction, 0.0)
        satisfaction = attraction if self.satisfaction is None else self.satisfaction
        draws = rng.random((2, *attraction.shape))
        law = attraction, satisfaction, self._going_on, self._kept, self._order
        return np.asarray(_kernels.fading_sample(*law, draws[0], draws[1]))

    @cached_property
    def _clicking(self) -> Floats:
        """Return E[a (1 - s)^m] [n, k, k + 1]."""
        most = self.attraction.shape[1]
        if self.satisfaction is None:
            found = attraction_moments(self.attraction, self.noise, most)
        else:
            mean = attraction_moments(self.attraction, self.noise, 0)
            found = mean * (1 - self.satisfaction[:, :, None]) ** np.arange(most + 1)
        return np.where(self.shown[:, :, None], found, 0.0)

    @property
    def _going_on(self) -> Floats:
        return np.where(self.shown, self.gamma, 1.0)

    @property
    def _kept(self) -> Floats:
        return np.ones(self.shown.shape) if self.kept is None else np.ascontiguousarray(self.kept)

    @property
    def _order(self) -> Integers:
        ranks = np.arange(self.shown.shape[1])
        return ranks[::-1].copy() if self.upward else ranks


def attraction_moments(attraction: Floats, noise: float, most: int) -> Floats:
    """Return E[a (1 - a)^m] [..., most + 1], where a is the attraction plus normal noise, clipped to [.1, 1].

    There are few distinct attractions, as there are few grades. Between the ends the integrand is smooth, and
    Gauss-Legendre quadrature is exact to the last digits; the clipped mass is added at the ends.
    """
    distinct, place = np.unique(attraction, return_inverse=True)
    power = np.arange(most + 1)
    if noise == 0:
        found = distinct[:, None] * (1 - distinct[:, None]) ** power
    else:
        a, share = _nodes()
        z = (a - distinct[:, None]) / noise
        density = np.exp(-(z**2) / 2) / (noise * np.sqrt(2 * np.pi)) * share
        found = density @ (a[:, None] * (1 - a[:, None]) ** power)
        found += _normal_below(LOWEST, distinct, noise)[:, None] * LOWEST * (1 - LOWEST) ** power
        found[:, 0] += _normal_below(-1.0, -distinct, noise)  # at 1 all moments but the first vanish
    return np.asarray(found[place.reshape(attraction.shape)])


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return quadrature points between the ends, and their weights."""
    point, share = np.polynomial.legendre.leggauss(128)
    return LOWEST + (1 - LOWEST) * (point + 1) / 2, share * (1 - LOWEST) / 2


def _normal_below(end: float, mean: Floats, deviation: float) -> Floats:
    """Return P(a normal variable is below `end`)."""
    return np.array([0.5 * math.erfc((m - end) / (deviation * math.sqrt(2))) for m in mean.tolist()])
