"""Beta priors, fitted by the likelihood of all sessions with each document's probability integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats
from ..em import logit
from ..priors import Beta, best, hyper_slopes
from . import _kernels
from .outcomes import Outcomes

_DOCUMENTS = 6_000
_NODES = np.linspace(-6.0, 6.0, 21)


FLAT = Beta(1.0, 1.0)
"""Uniform: what is believed of probabilities that all sessions share."""


def mean(prior: Beta, successes: Floats, trials: Floats) -> Floats:
    """Of the posterior, which is where it is largest on the logit scale."""
    return np.asarray((successes + prior.a) / (trials + prior.strength))


def log_density(prior: Beta, value: Floats) -> float:
    """Of logits, but for a constant, summed."""
    return float((prior.a * np.log(value) + prior.b * np.log1p(-value)).sum())


def near(left: Beta, right: Beta) -> bool:
    """Within 2 %."""
    return bool(np.allclose([left.a, left.b], [right.a, right.b], rtol=0.02))


@dataclass(frozen=True)
class Grid:
    """Likelihoods of some documents' probabilities, at 21 logits around each: six standard deviations either way.

    More than 6,000 documents are thinned evenly: the fit of two numbers then rests on enough.

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
        """The prior of largest evidence."""
        return best(self._evidence, start)

    def _evidence(self, prior: Beta) -> tuple[float, float, float]:
        """(log-evidence per document, its slopes by a and b)."""
        from scipy.special import betaln, digamma  # slow to import

        log_p, log_q = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)
        logs = self.logs + prior.a * log_p + prior.b * log_q
        largest = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - largest)
        total = share.sum(axis=1, keepdims=True)
        share /= total
        # Steps of the grid do not depend on the prior: left out.
        height = float((largest + np.log(total)).mean()) - betaln(prior.a, prior.b)
        by_a, by_b = (
            float((share * log).sum(axis=1).mean() - digamma(part) + digamma(prior.strength))
            for log, part in ((log_p, prior.a), (log_q, prior.b))
        )
        faint, faint_a, faint_b = np.array(hyper_slopes(prior)) / len(logs)
        return float(height + faint), float(by_a + faint_a), float(by_b + faint_b)
