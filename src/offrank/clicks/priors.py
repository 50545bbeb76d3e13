"""What is known of a document before it is seen: Beta priors, fitted by the likelihood of all documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import UsageError
from ..log.batch import Floats
from .em import expit, logit

Prior = Literal["fit"] | tuple[float, float]
"""Of the probability of a document: fitted, or Beta(a, b) as it is given."""


@dataclass(frozen=True)
class Beta:
    """Beta(a, b): what a clicks and b views without click would say, had they been seen before."""

    a: float
    b: float

    @classmethod
    def of(cls, mean: float, share: float) -> Beta:
        """By its mean and by `share` = 1 / (1 + a + b), from 0 (all documents alike) to 1 (each is 0 or 1)."""
        strength = 1.0 / share - 1.0
        return cls(mean * strength, (1.0 - mean) * strength)

    @classmethod
    def at(cls, table: Floats) -> Beta:
        """As `table` has written it."""
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
        """[2] as it stands beside what it is the prior of."""
        return np.array([self.a, self.b])

    @property
    def log_hyper(self) -> float:
        """Log-density of the faint belief that keeps fits off the edges, where few documents would put them.

        Beta(2, 2) of the mean and of the share: as though of each, one thing of either kind had been seen.
        """
        return float(np.log([self.mean, 1 - self.mean, self.share, 1 - self.share]).sum())


FLAT = Beta(1.0, 1.0)
"""Every probability alike."""


def given(prior: object) -> Beta | None:
    """The prior that a setting names; None where it is to be fitted.

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

Slopes = Callable[[Beta], tuple[float, float, float]]
"""(log-evidence, its derivative by a, its derivative by b)."""


def best(evidence: Slopes, start: Beta) -> Beta:
    """The prior with the largest evidence, never a worse one than the start: Newton in the logits of mean and share.

    evidence: best per document, so that it is of order one. Curvature comes from differences of slopes; where it is no
    maximum's, or a step goes down, steps follow the slopes or are halved.
    """
    point = logit(np.array([start.mean, start.share]))
    height, slopes = _at(evidence, point)
    for _ in range(_STEPS):
        nearby = [_at(evidence, point + shift)[1] for shift in _SHIFT * np.eye(2)]
        step = _newton(slopes, (np.array(nearby) - slopes) / _SHIFT)
        while np.abs(step).max() > _SMALL:
            after, new_slopes = _at(evidence, _inside(point + step))
            if after >= height:
                break
            step = step / 2
        else:
            break
        point, height, slopes = _inside(point + step), after, new_slopes
    return Beta.of(*map(float, expit(point)))


def _at(evidence: Slopes, point: Floats) -> tuple[float, Floats]:
    """The evidence at logits of mean and share, with its derivatives by them."""
    mean, share = map(float, expit(point))
    prior = Beta.of(mean, share)
    height, by_a, by_b = evidence(prior)
    by_mean = prior.strength * (by_a - by_b) * mean * (1 - mean)
    by_share = -(mean * by_a + (1 - mean) * by_b) / share * (1 - share)
    return height, np.array([by_mean, by_share])


def _newton(slopes: Floats, curvature: Floats) -> Floats:
    """A step of at most 2 logits."""
    values, axes = np.linalg.eigh((curvature + curvature.T) / 2)
    step = axes @ ((axes.T @ slopes) / np.maximum(np.abs(values), 1e-6))
    return np.asarray(step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300)))


def _inside(point: Floats) -> Floats:
    return np.clip(point, -14.0, 14.0)


def hyper_slopes(prior: Beta) -> tuple[float, float, float]:
    """`Beta.log_hyper` with its derivatives by a and b: it is log(a b) - log(s) - 2 log(1 + s), s = a + b."""
    common = -1.0 / prior.strength - 2.0 / (1.0 + prior.strength)
    return prior.log_hyper, 1.0 / prior.a + common, 1.0 / prior.b + common


def fit_rates(shown: Floats, clicked: Floats) -> Beta:
    """The prior of click rates: by the likelihood of the beta-binomial, shown and clicked [d] one per document."""
    from scipy.special import betaln, digamma

    pairs, place = np.unique(np.stack([shown, clicked], axis=1), axis=0, return_inverse=True)
    n, y = pairs.T
    weight = np.bincount(place.ravel()) / len(shown)

    def evidence(prior: Beta) -> tuple[float, float, float]:
        a, b, s = prior.a, prior.b, prior.strength
        height = weight @ (betaln(a + y, b + n - y) - betaln(a, b))
        both = digamma(s) - digamma(s + n)
        by_a = weight @ (digamma(a + y) - digamma(a) + both)
        by_b = weight @ (digamma(b + n - y) - digamma(b) + both)
        faint = np.array(hyper_slopes(prior)) / len(shown)
        return float(height + faint[0]), float(by_a + faint[1]), float(by_b + faint[2])

    return best(evidence, Beta.of(float((y.sum() + 1) / (n.sum() + 2)), 0.2))
