"""Beta priors, fitted by the likelihood of all sessions with each document's probability integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats
from ..em import logit
from . import _kernels
from .outcomes import Outcomes

_DOCUMENTS = 20_000
_NODES = np.linspace(-6.0, 6.0, 21)


@dataclass(frozen=True)
class Beta:
    """Counts as `alpha` successes and `beta` failures would that were seen before."""

    alpha: float
    beta: float

    @classmethod
    def around(cls, mean: float, strength: float) -> Beta:
        """By its mean, kept off 0 and 1, and strength."""
        mean = float(np.clip(mean, 1e-6, 1 - 1e-6))
        return cls(mean * strength, (1 - mean) * strength)

    @property
    def strength(self) -> float:
        """Observations that it is worth."""
        return self.alpha + self.beta

    @property
    def table(self) -> Floats:
        """(alpha, beta)."""
        return np.array([self.alpha, self.beta])

    def mean(self, successes: Floats, trials: Floats) -> Floats:
        """Of the posterior."""
        return np.asarray((successes + self.alpha) / (trials + self.strength))

    def log(self, value: Floats) -> float:
        """Log-density of logits, but for a constant, summed."""
        return float((self.alpha * np.log(value) + self.beta * np.log1p(-value)).sum())

    def near(self, other: Beta) -> bool:
        """Within 2 %."""
        return bool(np.allclose([self.alpha, self.beta], [other.alpha, other.beta], rtol=0.02))


FLAT = Beta(1.0, 1.0)
"""Uniform: what is believed of probabilities that all sessions share."""


@dataclass(frozen=True)
class Grid:
    """Likelihoods of some documents' probabilities, at 21 logits around each: six standard deviations either way.

    More than 20,000 documents are thinned evenly: the fit of two numbers then rests on enough.

    row: [documents + 1] place among those kept, -1 where thinned out. logits, logs: [kept, 21].
    """

    value: Floats
    row: NDArray[np.int64]
    logits: Floats
    logs: Floats

    @classmethod
    def around(cls, value: Floats, strength: Floats) -> Grid:
        """value, strength: [documents + 1], the last for what was never seen."""
        kept = np.arange(0, len(value) - 1, -(-(len(value) - 1) // _DOCUMENTS))
        row = np.full(len(value), -1)
        row[kept] = np.arange(len(kept))
        p = value[kept]
        spread = 1.0 / np.sqrt(strength[kept] * p * (1.0 - p))
        logits = np.clip(logit(p)[:, None] + spread[:, None] * _NODES, -30.0, 30.0)
        return cls(value, row, logits, np.zeros_like(logits))

    def add(self, outcomes: Outcomes) -> None:
        """Multiply the likelihoods by those of these trials."""
        p = self.value[self.row >= 0][:, None]
        odds = np.stack([np.exp(-np.logaddexp(0, -x)) for x in (self.logits, -self.logits)], axis=2)
        odds /= np.stack([p, 1.0 - p], axis=2)
        seen = (outcomes.document, outcomes.success, outcomes.failure, outcomes.weight)
        _kernels.add_logs(*seen, self.row, odds, self.logs)

    def fit(self, start: Beta) -> Beta:
        """The prior of largest evidence: by L-BFGS in (logit of its mean, log of its strength).

        A faint prior of the strength (a factor of 20 either way from 2) decides where sessions say nothing.
        """
        from scipy.optimize import minimize  # slow to import

        begin = np.array([logit(np.array(start.alpha / start.strength)), np.log(start.strength)])
        bounds = [(-14.0, 14.0), (np.log(0.02), np.log(1e6))]
        return _at(minimize(self._loss, begin, jac=True, method="L-BFGS-B", bounds=bounds).x)

    def _loss(self, point: Floats) -> tuple[float, Floats]:
        """Minus the log-evidence, and its slopes."""
        from scipy.special import betaln, digamma

        prior = _at(point)
        log_p, log_q = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)
        logs = self.logs + prior.alpha * log_p + prior.beta * log_q
        largest = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - largest)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        # Steps of the grid do not depend on the prior: left out.
        height = float((largest + np.log(total)).sum()) - len(logs) * betaln(prior.alpha, prior.beta)
        expected = [len(logs) * (digamma(part) - digamma(prior.strength)) for part in (prior.alpha, prior.beta)]
        by_alpha, by_beta = (share * log_p).sum() - expected[0], (share * log_q).sum() - expected[1]
        faint = (point[1] - np.log(2.0)) / np.log(20.0)
        by_mean = prior.alpha * prior.beta / prior.strength * (by_alpha - by_beta)
        by_strength = prior.alpha * by_alpha + prior.beta * by_beta - faint / np.log(20.0)
        return faint**2 / 2 - height, -np.array([by_mean, by_strength])


def _at(point: Floats) -> Beta:
    return Beta.around(float(1 / (1 + np.exp(-point[0]))), float(np.exp(point[1])))
