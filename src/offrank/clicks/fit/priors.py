"""Beta priors of documents, fitted by the marginal likelihood of all documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...log.batch import Floats
from . import _kernels
from .em import expit, logit
from .tails import Trials

Prior = Literal["fit"] | tuple[float, float]
"""The prior of a document's probability: fitted, or a given Beta(a, b)."""


@dataclass(frozen=True)
class Beta:
    """Beta(a, b): equivalent to a earlier clicks and b earlier views without a click."""

    a: float
    b: float

    @classmethod
    def of(cls, mean: float, share: float) -> Beta:
        """The Beta with this mean and `share` = 1 / (1 + a + b), from 0 (all documents alike) to 1 (each is 0 or 1)."""
        strength = 1.0 / share - 1.0
        return cls(mean * strength, (1.0 - mean) * strength)

    @classmethod
    def at(cls, table: Floats) -> Beta:
        """The Beta that `table` wrote."""
        return cls(float(table[0]), float(table[1]))

    @property
    def strength(self) -> float:
        return self.a + self.b

    @property
    def mean(self) -> float:
        return self.a / self.strength

    @property
    def share(self) -> float:
        return 1.0 / (1.0 + self.strength)

    @property
    def table(self) -> Floats:
        """[2] the prior as an array, to store with its table."""
        return np.array([self.a, self.b])

    def posterior_mean(self, successes: Floats, trials: Floats) -> Floats:
        """The posterior mean, which is the posterior mode on the logit scale."""
        return np.asarray((successes + self.a) / (trials + self.strength))

    def log_density(self, value: Floats) -> float:
        """The summed log-density of the logits, up to a constant."""
        return float((self.a * np.log(value) + self.b * np.log1p(-value)).sum())

    def is_near(self, other: Beta) -> bool:
        """Whether it is within 2 % of the other."""
        return bool(np.allclose([self.a, self.b], [other.a, other.b], rtol=0.02))

    def hyper(self) -> Floats:
        """[3] log-density of the weak hyperprior that keeps fits off the edges, and its derivatives by a and b.

        Beta(2, 2) for the mean and for the share, worth one observation of either kind each: this is
        log(a b) - log(s) - 2 log(1 + s), s = a + b.
        """
        density = float(np.log([self.mean, 1 - self.mean, self.share, 1 - self.share]).sum())
        common = -1.0 / self.strength - 2.0 / (1.0 + self.strength)
        return np.array([density, 1.0 / self.a + common, 1.0 / self.b + common])


FLAT = Beta(1.0, 1.0)
"""The uniform prior."""


def given(prior: object) -> Beta | None:
    """The prior given by a setting; None where it is to be fitted.

    Raises:
        UsageError: neither "fit" nor two positive numbers.
    """
    if prior == "fit":
        return None
    if isinstance(prior, Sequence) and len(prior) == 2 and all(isinstance(x, int | float) and x > 0 for x in prior):
        return Beta(float(prior[0]), float(prior[1]))
    raise UsageError(f"prior={prior!r} is no prior", "write fit, or two positive numbers such as [1, 5]")


_STEPS = 50
_SHIFT = 1e-4
_SMALL = 1e-9

Evidence = Callable[[Beta], tuple[float, float, float]]
"""(log-evidence per document, its derivative by a, its derivative by b)."""


def best(evidence: Evidence, start: Beta, documents: int) -> Beta:
    """The prior that maximises the evidence of the documents times the weak hyperprior; never worse than the start.

    Newton in the logits of mean and share. Curvature comes from differences of slopes; where it is not concave, or a
    step goes down, steps follow the slopes or are halved.
    """

    def at(point: Floats) -> tuple[float, Floats]:
        """The evidence at logits of mean and share, and its derivatives with respect to them."""
        mean, share = map(float, expit(point))
        prior = Beta.of(mean, share)
        value, by_a, by_b = np.array(evidence(prior)) + prior.hyper() / documents
        by_mean = prior.strength * (by_a - by_b) * mean * (1 - mean)
        by_share = -(mean * by_a + (1 - mean) * by_b) / share * (1 - share)
        return float(value), np.array([by_mean, by_share])

    point = logit(np.array([start.mean, start.share]))
    value, slopes = at(point)
    for _ in range(_STEPS):
        nearby = [at(point + shift)[1] for shift in _SHIFT * np.eye(2)]
        step = _newton(slopes, (np.array(nearby) - slopes) / _SHIFT)
        while np.abs(step).max() > _SMALL:
            there = np.clip(point + step, -14.0, 14.0)
            after, new_slopes = at(there)
            if after >= value:
                break
            step = step / 2
        else:
            break
        point, value, slopes = there, after, new_slopes
    return Beta.of(*map(float, expit(point)))


def _newton(slopes: Floats, curvature: Floats) -> Floats:
    """A Newton step of at most 2 logits."""
    values, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    step = axes @ ((axes.T @ slopes) / np.maximum(np.abs(values), 1e-6))
    return np.asarray(step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300)))


def fit_rates(shown: Floats, clicked: Floats) -> Beta:
    """The prior of click rates by the beta-binomial likelihood; shown and clicked [d], one entry per document."""
    from scipy.special import betaln, digamma

    pairs, place = np.unique(np.stack([shown, clicked], axis=1), axis=0, return_inverse=True)
    n, y = pairs.T
    weight = np.bincount(place.ravel()) / len(shown)

    def evidence(prior: Beta) -> tuple[float, float, float]:
        a, b, s = prior.a, prior.b, prior.strength
        both = digamma(s) - digamma(s + n)
        by_a, by_b = digamma(a + y) - digamma(a) + both, digamma(b + n - y) - digamma(b) + both
        return weight @ (betaln(a + y, b + n - y) - betaln(a, b)), weight @ by_a, weight @ by_b

    return best(evidence, Beta.of(float((y.sum() + 1) / (n.sum() + 2)), 0.2), len(shown))


_DOCUMENTS = 6_000
_NODES = np.linspace(-6.0, 6.0, 21)


@dataclass(frozen=True)
class EvidenceGrid:
    """Likelihoods of documents' probabilities on 21 logits around each: six standard deviations either way.

    More than 6,000 documents are thinned evenly: that many are enough to fit two numbers.

    row: [documents + 1] index among those kept, -1 where thinned out. logits, logs: [kept, 21].
    """

    value: Floats
    row: NDArray[np.int64]
    logits: Floats
    logs: Floats

    @classmethod
    def around(cls, value: Floats, strength: Floats) -> EvidenceGrid:
        """A grid around value, with effective sample size strength: [documents + 1] each, the last for unseen ones."""
        kept = np.arange(0, len(value) - 1, -(-(len(value) - 1) // _DOCUMENTS))
        row = np.full(len(value), -1)
        row[kept] = np.arange(len(kept))
        p = value[kept]
        spread = 1.0 / np.sqrt(strength[kept] * p * (1.0 - p))
        logits = np.clip(logit(p)[:, None] + spread[:, None] * _NODES, -30.0, 30.0)
        return cls(value, row, logits, np.zeros_like(logits))

    def add(self, trials: Trials) -> None:
        """Multiply the likelihoods by those of these trials."""
        p = self.value[self.row >= 0][:, None]
        odds = np.stack([np.exp(-np.logaddexp(0, -x)) for x in (self.logits, -self.logits)], axis=2)
        odds /= np.stack([p, 1.0 - p], axis=2)
        _kernels.add_logs(*trials, self.row, odds, self.logs)

    def fit(self, start: Beta) -> Beta:
        """The prior with the largest evidence, each document's probability integrated out."""
        from scipy.special import betaln, digamma

        log_p, log_q = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)

        def evidence(prior: Beta) -> tuple[float, float, float]:
            logs = self.logs + prior.a * log_p + prior.b * log_q
            largest = logs.max(axis=1, keepdims=True)
            share = np.exp(logs - largest)
            total = share.sum(axis=1, keepdims=True)
            # Steps of the grid do not depend on the prior: left out.
            value = (largest + np.log(total)).mean() - betaln(prior.a, prior.b)
            by_a, by_b = (
                (share / total * log).sum(axis=1).mean() - digamma(part) + digamma(prior.strength)
                for log, part in ((log_p, prior.a), (log_q, prior.b))
            )
            return value, by_a, by_b

        return best(evidence, start, len(self.logs))
