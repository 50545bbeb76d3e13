"""Which of several estimates to believe, from their differences to estimates that assume less.

The error of a candidate has two parts. Its standard error is known. Its bias shows in the difference to an estimate
that assumes less, which is the bias plus noise of known size, both for the target and for other policies
(pseudo-targets) that the log tells about more precisely. Biases of one candidate for several policies are taken as
draws from one distribution with mean 0 and a standard deviation in proportion to the distance of the policy from the
logging one, as studies are in a meta-analysis with random effects (Paule and Mandel 1982). With the target alone,
the squared bias is the square of the difference less its variance, as in the focused information criterion (Claeskens
and Hjort 2003).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..language.formatting import nine_digits
from ..log.batch import Floats

COARSE = 2.0
"""What a standard error that rests on few rows is multiplied by."""
_STEPS = 60


@dataclass(frozen=True)
class Contrast:
    """The difference of two estimates of one policy, on the same rows.

    error: its standard error. distance: of the policy from the logging one, relative to the target's; 1 for the target.
    """

    policy: str
    value: float
    error: float
    distance: float = 1.0


@dataclass(frozen=True)
class EstimatorCandidate:
    """An estimate of the target to choose from.

    - name, assumes: the estimator's spelling and its assumptions.
    - doubt: what its standard error is multiplied by: 1 if that is reliable, `COARSE` if it rests on few rows; infinite
      for an estimate that must not be used.
    - target: its contrast with each estimate that assumes less, by name, for the target itself; where both are sound.
    - others: the same for the pseudo-targets.
    """

    name: str
    assumes: frozenset[str]
    value: float
    standard_error: float
    doubt: float = 1.0
    target: Mapping[str, Contrast] = field(default_factory=dict)
    others: Mapping[str, Sequence[Contrast]] = field(default_factory=dict)

    @property
    def spread(self) -> float:
        """The standard error times the doubt."""
        return self.standard_error * self.doubt


@dataclass(frozen=True)
class EstimatedError:
    """The estimated error of a candidate.

    - bias: root of the estimated squared bias, against the less assuming estimate `against` where that is largest;
      None: nothing assumes less. error: root of the sum of squared bias and squared `spread`.
    - low, high: of the error, if the bias were as small or as large as that one difference for the target allows
      (2 standard errors); high is infinite where there is none.
    - refuted: whether the bias is larger than the spread.
    """

    candidate: EstimatorCandidate
    bias: float = 0.0
    against: str | None = None
    low: float = 0.0
    high: float = math.inf

    @property
    def error(self) -> float:
        return math.hypot(self.bias, self.candidate.spread)

    @property
    def refuted(self) -> bool:
        return self.bias > self.candidate.spread


@dataclass(frozen=True)
class EstimatorRanking:
    """The candidates by estimated error, the best first, and those that must not be used.

    trusted: the least assuming one with a reliable standard error that is not refuted, which the interval of the choice
    has to include; None if there is none.
    """

    ranked: tuple[EstimatedError, ...]
    unusable: tuple[EstimatorCandidate, ...]
    trusted: str | None

    @property
    def chosen(self) -> str:
        """The name of the choice: the best; if none can be used, the least assuming one, self-normalised if possible.

        Of equal assumptions that is the one of the larger standard error, which few rows with a weight leave too small.
        """
        if self.ranked:
            return self.ranked[0].candidate.name
        return min(self.unusable, key=lambda one: (len(one.assumes), -nine_digits(one.standard_error), one.name)).name


def ranking(candidates: Sequence[EstimatorCandidate]) -> EstimatorRanking:
    """Order candidates by estimated error.

    A candidate is compared with every one that assumes less and is not refuted itself, of those with the same
    assumptions with the least uncertain. The largest of the biases counts. One that must not be used for the target may
    still tell of others by pseudo-targets for which it is sound.

    Raises:
        ValueError: there are none.
    """
    if not candidates:
        raise ValueError("there are no candidates")
    judged: list[EstimatedError] = []
    for one in sorted(candidates, key=_place):
        judged.append(_judged(one, _references(one, judged)))
    usable = [one for one in judged if math.isfinite(one.candidate.doubt)]
    trusted = next((one.candidate.name for one in usable if one.candidate.doubt == 1 and not one.refuted), None)
    unusable = tuple(one.candidate for one in judged if not math.isfinite(one.candidate.doubt))
    return EstimatorRanking(tuple(sorted(usable, key=_by_error)), unusable, trusted)


def squared_bias(target: Contrast | None, others: Sequence[Contrast]) -> float:
    """The expected squared bias for the target, from contrasts with an estimate that assumes less.

    Biases are normal with mean 0 and standard deviation t * distance. t solves sum D^2 / (error^2 + t^2 distance^2) =
    number of contrasts, and is 0 where even t = 0 explains them. Given t, the target's own difference determines the
    rest (Bayes' rule); with the target alone the result is max(D^2 - error^2, 0).
    """
    every = [one for one in (target, *others) if one is not None and one.error > 0 and one.distance > 0]
    if not every:
        return 0.0
    spread = _between(*(np.array([getattr(one, name) for one in every]) for name in ("value", "error", "distance")))
    if target is None or not target.error > 0 or spread == 0:
        return spread
    share = spread / (spread + target.error**2)
    return float((share * target.value) ** 2 + share * target.error**2)


def _between(value: Floats, error: Floats, distance: Floats) -> float:
    """The variance t^2 of Paule and Mandel: the left side decreases in t^2, so it is found by bisection."""
    squares, noise, scale = value**2, error**2, distance**2
    low, high = 0.0, float((squares / scale).mean())
    if (squares / noise).sum() <= len(value):
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if (squares / (noise + middle * scale)).sum() > len(value):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _place(one: EstimatorCandidate) -> tuple[int, float, float, str]:
    return len(one.assumes), one.doubt, nine_digits(one.standard_error), one.name


def _by_error(one: EstimatedError) -> tuple[float, int, str]:
    """The sort key: errors that differ by rounding only count as equal, and then the less assuming comes first."""
    return nine_digits(one.error), len(one.candidate.assumes), one.candidate.name


def _references(one: EstimatorCandidate, judged: Sequence[EstimatedError]) -> list[str]:
    best: dict[frozenset[str], str] = {}
    for other in judged:  # of equal assumptions the most reliable and least uncertain comes first
        if other.candidate.assumes < one.assumes and not other.refuted:
            best.setdefault(other.candidate.assumes, other.candidate.name)
    return list(best.values())


def _judged(one: EstimatorCandidate, references: Sequence[str]) -> EstimatedError:
    """The candidate against the reference that shows the largest bias."""
    found = [_against(one, name) for name in references if name in one.target or one.others.get(name)]
    if not found:
        return EstimatedError(one, low=one.spread, high=math.inf if one.assumes else one.spread)
    return max(found, key=lambda each: nine_digits(each.bias))


def _against(one: EstimatorCandidate, name: str) -> EstimatedError:
    target = one.target.get(name)
    bias, least, most = math.sqrt(squared_bias(target, one.others.get(name, ()))), 0.0, math.inf
    if target is not None:
        least, most = max(abs(target.value) - 2 * target.error, 0.0), abs(target.value) + 2 * target.error
    low, high = (math.hypot(end, one.spread) for end in (least, most))
    return EstimatedError(one, bias, name, low, high)
