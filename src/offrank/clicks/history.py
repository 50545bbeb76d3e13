"""A model of the history of clicks: the chance of a click given the clicks above it, e (a + t).

a is the attraction of the document. e falls with the rank and the distance to the last click, with the attraction of
what was passed over since (readers who leave as they are not served), with that of what was clicked last (readers who
are satisfied) and, if asked for, with that of the item below (who compare): log e = rank and distance
- lost x passed over - satisfied x clicked - compared x below. t is the trust in a rank. At
the first rank e = 1 and t = 0, which makes all else relative to it. Where e (a + t) is above 0.9, it is bent to stay
below 1. The position-based, user browsing and trust-biased models are cases of it; the cascade, dynamic Bayesian and
dependent click models come close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, Integers
from . import _kernels_history

DISTINCT_RANKS, AWAY = 12, 6
"""Ranks and distances to the last click beyond these have the numbers of the last one."""
PRIOR_SESSIONS = 0.02
"""Sessions that the prior of an attraction counts for."""
FALLS = 0.25
"""What the logarithm of e falls by with each rank, by the prior."""
PRIOR_TRUST = float(np.log(0.02))
"""The logarithm of the trust in a rank below the first, by the prior."""
_PRECISION = {"looks": 0.25, "trust": 0.5, "lost": 0.25, "satisfied": 0.25, "compared": 0.25}
_NONE = -50.0
"""The logarithm of the trust in the first rank."""
_FIRST, _STEPS, _CLOSE = 60, 100, 1e-9
"""Steps without and with curvature, and the gradient at which they end."""
_STEP = 1e-5
"""Of finite differences of the gradient."""
_ENOUGH = 1e-24
"""Of the square of the residual, relative: a direction is solved for no further."""


class HistoryShape(NamedTuple):
    """The numbers of a model: logits of documents, then of the behaviour.

    These are log e [ranks, away + 1], log t [ranks], lost [ranks], satisfied and compared.
    """

    documents: int
    ranks: int
    away: int

    @classmethod
    def of(cls, documents: int, ranks: int) -> HistoryShape:
        """Of lists of so many ranks."""
        return cls(documents, min(max(ranks, 1), DISTINCT_RANKS), min(max(ranks - 1, 1), AWAY))

    @property
    def kinds(self) -> dict[str, int]:
        """How many numbers of the behaviour there are of each kind, in their order."""
        return {
            "looks": self.ranks * (self.away + 1),
            "trust": self.ranks,
            "lost": self.ranks,
            "satisfied": 1,
            "compared": 1,
        }

    def behaviour(self, of: dict[str, float]) -> Floats:
        """The number of each kind, for each number of the behaviour."""
        return np.concatenate([np.full(count, of[kind]) for kind, count in self.kinds.items()])

    @property
    def before(self) -> Floats:
        """The prior means of the numbers of the behaviour, and the values of those that are not learnt."""
        looks = -FALLS * np.repeat(np.arange(self.ranks), self.away + 1)
        trust = np.where(np.arange(self.ranks) > 0, PRIOR_TRUST, _NONE)
        return np.concatenate([looks, trust, np.zeros(self.ranks + 2)])

    @property
    def learnt(self) -> NDArray[np.bool_]:
        """Which numbers of the behaviour are learnt: none of the first rank, nor of clicks that cannot be above."""
        rank, away = np.divmod(np.arange(self.kinds["looks"]), self.away + 1)
        below = np.arange(self.ranks) > 0
        return np.concatenate([(rank > 0) & (away <= rank), below, below, [self.ranks > 1, False]])


@dataclass(frozen=True)
class ClickedLists:
    """Sessions to learn from: documents [n, k], -1 after the last; clicks [n, k], 0 or 1; weight [n]."""

    lists: Integers
    clicks: Integers
    weight: Floats


@dataclass(frozen=True, eq=False)
class ClickHistory:
    """A model that was learnt. theta: [p] see `HistoryShape`; free: [p] which of it was learnt."""

    shape: HistoryShape
    theta: Floats
    free: NDArray[np.bool_]
    rate: float

    @property
    def attraction(self) -> Floats:
        """[documents] what attracts a click where it is looked at."""
        logits = np.maximum(self.theta[: self.shape.documents], -700.0)  # what is never clicked may go towards -inf
        return np.asarray(1 / (1 + np.exp(-logits)))

    def expected(self, lists: Integers, weight: Floats | None = None) -> tuple[Floats, Floats]:
        """[n] the expected clicks of lists [n, k], and the gradient [p] of their sum, `weight` [n] times each."""
        found, gradient = np.zeros(len(lists)), np.zeros(len(self.theta))
        weight = np.ones(len(lists)) if weight is None else weight
        _kernels_history.expected_of_lists(
            self.theta, self.attraction, tuple(self.shape), lists, weight, found, gradient
        )
        return found, gradient

    def scores(self, lists: Integers, clicks: Integers, directions: Floats) -> Floats:
        """[n, a] the derivative of each session's log-probability in directions [a, p]."""
        found = np.zeros((len(lists), len(directions)))
        _kernels_history.scores_along(self.theta, self.attraction, tuple(self.shape), lists, clicks, directions, found)
        return found

    def log_likelihood(self, sessions: ClickedLists) -> tuple[float, Floats]:
        """The log-likelihood, and its gradient [p]."""
        gradient = np.zeros(len(self.theta))
        one = sessions
        known = self.theta, self.attraction, tuple(self.shape), one.lists, one.clicks, one.weight
        return _kernels_history.log_likelihoods(*known, gradient), gradient

    @property
    def prior(self) -> tuple[float, Floats, Floats]:
        """The logarithm of the prior, its gradient [p], and its curvature [p], downwards."""
        attraction, rate, shape = self.attraction, self.rate, self.shape
        precision = shape.behaviour(_PRECISION)
        away = self.theta[shape.documents :] - shape.before
        logits = self.theta[: shape.documents]
        found = -PRIOR_SESSIONS * float((rate * np.logaddexp(0, -logits) + (1 - rate) * np.logaddexp(0, logits)).sum())
        found -= float((precision * away**2).sum()) / 2
        slope = np.concatenate([PRIOR_SESSIONS * (rate - attraction), -precision * away])
        return found, slope, np.concatenate([PRIOR_SESSIONS * attraction * (1 - attraction), precision])

    def posterior(self, sessions: ClickedLists) -> tuple[float, Floats]:
        """The logarithm of the posterior density, up to a constant, and its gradient [p]; 0 where nothing is learnt."""
        (found, slope), (before, prior, _) = self.log_likelihood(sessions), self.prior
        return found + before, np.where(self.free, slope + prior, 0.0)

    def direction(self, sessions: ClickedLists, slope: Floats) -> Floats:
        """[p] how the numbers move with a slope [p] of what is expected: the inverse of the information times it."""
        free = self.free

        def times(vector: Floats) -> Floats:
            return np.where(free, self.information(sessions, vector)[0], 0.0)

        return _solved(times, np.where(free, slope, 0.0), np.where(free, self.information(sessions, slope)[1], 1.0))

    def information(self, sessions: ClickedLists, vector: Floats) -> tuple[Floats, Floats]:
        """[p] what sessions and prior tell of the numbers, given the clicks above, times a vector; [p] its diagonal."""
        one, found, diagonal = sessions, np.zeros(len(self.theta)), np.zeros(len(self.theta))
        known = self.theta, self.attraction, tuple(self.shape), one.lists, one.clicks, one.weight
        _kernels_history.information_times(*known, vector, found, diagonal)
        curvature = self.prior[2]
        return found + curvature * vector, diagonal + curvature


def click_history(sessions: ClickedLists, documents: int, *, compares: bool = False) -> ClickHistory:
    """A model of great posterior density: the greatest, where the bounded steps arrive there.

    They may not, as for users who click the best item alone. compares: whether the item below may take clicks away,
    which only lists tell that have one item above many others.
    """
    from scipy.optimize import minimize  # slow to import

    shape, one = HistoryShape.of(documents, sessions.lists.shape[1]), sessions
    shown = np.bincount(one.lists[one.lists >= 0], minlength=documents) > 0
    rate = 1.5 * (one.weight @ (one.clicks > 0).sum(axis=1)) / (one.weight @ (one.lists >= 0).sum(axis=1))
    rate = float(np.clip(rate, 0.05, 0.6))
    free = np.concatenate([shown, shape.learnt])
    free[-1] = compares and shape.ranks > 1
    theta = np.concatenate([np.full(documents, np.log(rate / (1 - rate))), shape.before])

    scale = np.ones(int(free.sum()))

    def cost(asked: Floats) -> tuple[float, Floats]:
        theta[free] = asked / scale
        found, gradient = ClickHistory(shape, theta, free, rate).posterior(sessions)
        return -found, -gradient[free] / scale

    def curved(asked: Floats, toward: Floats) -> Floats:
        step = _STEP / max(float(np.abs(toward / scale).max()), 1e-300)
        return np.asarray((cost(asked + step * toward)[1] - cost(asked - step * toward)[1]) / (2 * step))

    begun = minimize(cost, theta[free].copy(), jac=True, method="L-BFGS-B", options={"maxiter": _FIRST, "maxcor": 20})
    theta[free] = begun.x
    scale = np.sqrt(ClickHistory(shape, theta, free, rate).information(sessions, theta)[1][free])
    options = {"maxiter": _STEPS, "gtol": _CLOSE, "initial_trust_radius": 10.0}
    ended = minimize(cost, begun.x * scale, jac=True, hessp=curved, method="trust-ncg", options=options)
    theta[free] = ended.x / scale
    return ClickHistory(shape, theta, free, rate)


def _solved(times: Callable[[Floats], Floats], wanted: Floats, diagonal: Floats) -> Floats:
    """The x with times(x) = wanted, by conjugate gradients."""
    found, left = np.zeros(len(wanted)), wanted.copy()
    scaled = left / diagonal
    toward, size = scaled.copy(), float(left @ scaled)
    enough = _ENOUGH * size
    for _ in range(len(wanted)):
        if not size > enough:
            break
        moved = times(toward)
        step = size / float(toward @ moved)
        found, left = found + step * toward, left - step * moved
        scaled = left / diagonal
        before, size = size, float(left @ scaled)
        toward = scaled + size / before * toward
    return found
