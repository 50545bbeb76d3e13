"""Intervals and estimates: values with standard errors, and the deviation of a studentised mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from ..errors import NoOverlapError
from ..log.batch import Floats
from ..wording import Attributed, Wording

Severity = Literal["note", "warning", "serious"]
FEW_EFFECTIVE = 100.0
"""Effective impressions: with so many, a click rate of 5 % rests on five clicks."""
FEW_REWARDS = 30.0
"""Effective number of rewarded impressions: an error that is estimated from fewer is not relied on."""


@dataclass(frozen=True)
class Caution:
    """A reason to doubt a number: a stable code, what it means and what to do.

    Parameters:
        code: its name, which does not change between versions.
        severity: `note`, `warning` or `serious`.
        message: what was found.
        remedy: what to do.
        missing: the share of what the target shows that the value may lack, where the direction of the error is
            known: above 0 the value is likely too low, below 0 too high; infinite where nobody knows by how much,
            nan where the value may be off in either direction.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> estimate = offrank.evaluate(log, "top(naive_score)", drawn_by, "snips")["snips"]
        >>> [(caution.code, caution.severity) for caution in estimate.warnings]
        [('small-ess-share', 'note')]
    """

    code: str
    severity: Severity
    message: str
    remedy: str
    missing: float = 0.0

    @property
    def text(self) -> str:
        """The code, the message and the remedy."""
        return Wording("{}: {} {}", self.code, self.message, self.remedy)

    def __str__(self) -> str:
        return str(self.text)

    def to_dict(self) -> dict[str, str | float | None]:
        """The words by name and, where the direction of the error is known, that and its share (None: unknown).

        Returns:
            `code`, `level`, `message` and what else is known.

        Examples:
            >>> offrank.Caution("low-ess", "The effective sample size is 12.", "warning", "Log more.").to_dict()["code"]
            'low-ess'
        """
        said = {"code": self.code, "severity": self.severity, "message": self.message, "remedy": self.remedy}
        if self.missing == 0:
            return dict(said)
        likely = "too low" if self.missing > 0 else "too high" if self.missing < 0 else "off"
        return {**said, "likely": likely, "missing": self.missing if math.isfinite(self.missing) else None}


@dataclass(frozen=True)
class PlacedCaution:
    """A caution and the number of a result that it is about: None where it is about all.

    Parameters:
        caution: the caution.
        target: of an estimate.
        estimator: of an estimate.
        model: of a ranking metric or a click model.
        metric: of a ranking metric or a click model.
        group: of the `by` column.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
        >>> [one.caution.code for one in result.findings]
        ['clustered']
    """

    caution: Caution
    target: str | None = None
    estimator: str | None = None
    model: str | None = None
    metric: str | None = None
    group: str | None = None

    @property
    def code(self) -> str:
        return self.caution.code

    @property
    def severity(self) -> Severity:
        return self.caution.severity

    def __str__(self) -> str:
        names = (self.target, self.model, self.estimator, self.metric, self.group)
        where = ", ".join(name for name in names if name is not None)
        return f"{self.severity} of {where or 'all'}: {self.caution}"


def cautions(found: Any) -> tuple[Caution, ...]:
    """Return the warnings about a number; the reason why there is none counts as a serious one."""
    if isinstance(found, NoOverlapError):
        return (Caution(found.code, "serious", found.message, found.remedy),)
    return tuple(found.warnings)


@dataclass(frozen=True)
class Interval(Attributed):
    """A value with its confidence interval and standard error.

    Parameters:
        value: the number, in its own unit.
        low: lower end.
        high: upper end.
        standard_error: of the value.
        freedom: the degrees of freedom of that error.
        skewness: of the value, from the sample: third central moment over the error cubed.
        seen: the share of the error that the log's own rows show; below 1 where rewards are too rare for their weights.

    Examples:
        >>> offrank.sums.Interval(0.5, 0.4, 0.6, 0.05).low
        0.4
    """

    value: float
    low: float
    high: float
    standard_error: float
    freedom: float = field(default=math.inf, repr=False)
    skewness: float = field(default=0.0, repr=False)
    seen: float = field(default=1.0, repr=False)

    def to_dict(self) -> dict[str, float | None]:
        """Value, ends and standard error by name; None for what is not finite."""
        numbers = {"value": self.value, "low": self.low, "high": self.high, "standard_error": self.standard_error}
        return {name: float(number) if math.isfinite(number) else None for name, number in numbers.items()}

    def above(self, least: float) -> Interval:
        """The interval cut at the least possible value; as it is where the value itself is below that."""
        return self if self.value < least or self.low == -math.inf else replace(self, low=max(self.low, least))

    def spanning(self, other: Interval) -> Interval:
        """The interval extended to contain another one, so that it covers the truth at least as often."""
        return replace(self, low=min(self.low, other.low), high=max(self.high, other.high))

    def widened(self, other: Interval) -> Interval:
        """The interval extended towards the value of another one, by the difference of the two values."""
        shift = other.value - self.value
        return replace(self, low=self.low + min(shift, 0.0), high=self.high + max(shift, 0.0))

    def deviation(self, expected: float) -> float:
        """The two-sided normal deviate of the distance between the value and an expected one.

        In standard errors, and less if the error rests on few clusters or the value is skewed towards the expected
        one. A studentised interval contains what is within its quantile.
        """
        if not self.standard_error > 0:
            return math.inf if self.value != expected else 0.0
        return _deviate((self.value - expected) / self.standard_error, self.skewness, self.freedom)


Known = Interval | Any
"""An interval, or None where the log gives none: that is not asked by type checkers, as for a group of `re.Match`."""


@dataclass(frozen=True)
class Design:
    """The moments of an estimator's weights that follow from two policies alone, without any reward.

    - rows: contexts examined, a random sample of the log's.
    - second_moment: E[w^2] under the logging policy, averaged over contexts, and over slots where each has weights.
    - third_moment: E[w^3]; nan where it is not known (`pi`).
    - largest: the largest weight among the slates of the target; for `pi`, the largest absolute weight of any slate.
    - unsupported: share of the target's slates or items that the logging policy never shows.
    - hidden: share of the target's slates or items at weights so large that such a log has fewer than five expected
      rows with one of them.
    - effective: the expected effective sample size of a log of this length: (sum of expected
      weights)^2 over the expected sum of squared weights, each divided by the inclusion probability.
    - visible: the same for the weights that are not hidden, which logs of this length typically contain.
    """

    rows: int
    second_moment: float
    third_moment: float
    largest: float
    unsupported: float
    hidden: float
    effective: float
    visible: float


@dataclass(frozen=True)
class Estimate(Attributed):
    """The estimated reward of a policy per impression, with diagnostics of how far to trust it.

    Parameters:
        value: the estimate, in units of the reward per impression, as the three below are.
        low: lower end of its confidence interval.
        high: upper end.
        standard_error: of the value.
        n: impressions read.
        ess: effective sample size: the number of impressions of the target itself whose mean would have this
            standard error. nan where nothing is weighted; (sum of weights)^2 / sum of squared weights if rewards do
            not vary.
        mean_weight: should be 1 within mean_weight_interval; None where the weights have no expectation of 1.
        max_weight_share: the largest weight as a share of the sum.
        tail_index: Pareto index of the weights, None if too few.
        mean_weight_interval: where the mean weight lies if the propensities are right.
        difference: to the logged mean on the same rows, paired.
        warnings: reasons to doubt this estimate.
        chosen: the spelling of the estimator selected by the data, where there was a choice.
        cluster: the column whose values are clusters of dependent rows, None where rows are independent.
        design_effect: the variance by clusters over that of independent rows.
        effective_clusters: the equivalent number of clusters of equal size.
        design: the moments of the weights under the policies alone; None where these are not available.
        detectable: the smallest true difference to the log that such a log detects with a power of .8.
        about_log: cautions about the log that concern all estimates; the result lists them once.
        checked: whether the log and the weights were checked: no warning is good news only then.

    Examples:
        >>> estimate = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "ips")["ips"]
        >>> estimate.low < estimate.value < estimate.high, estimate.ess < estimate.n
        (True, True)
    """

    value: float
    low: float
    high: float
    standard_error: float
    n: int
    ess: float = math.nan
    mean_weight: float | None = None
    max_weight_share: float = math.nan
    tail_index: float | None = None
    mean_weight_interval: Known = None
    difference: Known = None
    warnings: tuple[Caution, ...] = field(default=())
    chosen: str | None = None
    cluster: str | None = None
    design_effect: float | None = None
    effective_clusters: float | None = None
    design: Design | None = None
    detectable: float = math.nan
    about_log: tuple[Caution, ...] = field(default=(), repr=False)
    checked: bool = True

    @property
    def trustworthy(self) -> bool:
        """Whether it is a number that was checked, without a serious warning about itself or the log."""
        found = (*self.warnings, *self.about_log)
        sound = math.isfinite(self.value) and all(caution.severity != "serious" for caution in found)
        return self.checked and sound


_FARTHEST = 1e100
"""Deviates beyond this count as this: their third powers are taken."""


def transformed(away: float, skewness: float) -> float:
    """An approximately standard normal transform of a skewed studentised mean, `away` estimated standard errors off.

    Hall (1992, "On the removal of skewness by transformation"): with T standard errors and c = skewness / 3,
    ((1 + c T)^3 - 1) / (3 c) + c / 2. The mean of n rows of skewness s has skewness s / sqrt(n).
    """
    c = skewness / 3
    return away + c * away**2 + c**2 * away**3 / 3 + c / 2


def untransformed(deviate: float, skewness: float) -> float:
    """The number of standard errors that `transformed` maps to this deviate."""
    c = skewness / 3
    if abs(c) < 1e-6:
        return deviate - c * deviate**2 - c / 2
    return (math.cbrt(1 + 3 * c * (deviate - c / 2)) - 1) / c


def _deviate(away: float, skewness: float, freedom: float) -> float:
    """The signed normal deviate with the same two-sided probability as a mean `away` standard errors off.

    Skewness can only reduce it: its estimate is too uncertain to call something rarer.
    """
    sign = math.copysign(1.0, away)
    away = max(-_FARTHEST, min(away, _FARTHEST))
    found = min(abs(away), max(sign * transformed(away, skewness), 0.0))
    return found if freedom == math.inf else float(of_student(np.array(found), freedom))


def of_student(away: Floats, freedom: float | Floats) -> Floats:
    """The standard normal deviates with the same tail probabilities as Student's `away`, at least 0."""
    y, normal = np.arcsinh(away / np.sqrt(freedom)), NormalDist()
    beyond = _beyond(y, freedom) / _beyond(np.zeros_like(y), freedom) / 2
    deviates = [-normal.inv_cdf(one) if one > 0 else math.nan for one in beyond.ravel().tolist()]
    return np.where(beyond > 0, np.reshape(deviates, beyond.shape), away)


_NEGLIGIBLE = 40.0
"""A tail is summed up to where the density is smaller by the exponential of this."""
_STEPS = np.arange(-3.3, 3.3, 1 / 14)
"""The steps of the sum by double exponentials (Takahasi and Mori 1974)."""
_PLACES = 1 / (1 + np.exp(-np.pi * np.sinh(_STEPS)))
_WEIGHTS = np.pi / 56 * np.cosh(_STEPS) / np.cosh(np.pi / 2 * np.sinh(_STEPS)) ** 2
"""Where the density is summed between both ends of an interval, from 0 to 1, and the weight of each place."""
_CLOSE = 1e-15
"""The relative step at which the search of a quantile ends."""


@cache
def student(level: float, freedom: float) -> float:
    """The quantile of Student's distribution, or of the normal one if the degrees of freedom are infinite.

    SciPy has it too, but takes longer to load than a small log takes to read. Where t is sqrt(freedom) * sinh(y), the
    density of y is proportional to cosh(y) ** -freedom.
    """
    normal, both = NormalDist().inv_cdf(level), 2 * min(level, 1 - level)
    if math.isinf(freedom):
        return normal
    at, step, whole = math.asinh(abs(normal) / math.sqrt(freedom)), math.inf, _beyond(np.zeros(()), freedom)
    while abs(step) > _CLOSE * max(at, 1.0):  # the logarithm of a tail is concave
        left = float(_beyond(np.array(at), freedom))
        step = math.log(left / whole / both) * left * math.cosh(at) ** freedom
        at += step
    return math.copysign(math.sqrt(freedom) * math.sinh(at), normal)


def _beyond(y: Floats, freedom: Floats | float) -> Floats:
    """Return the integral of cosh ** -freedom above each y, at least 0."""
    y, freedom = y[..., None], np.asarray(freedom, np.float64)[..., None]
    end = np.logaddexp(y, -y) - math.log(2) + _NEGLIGIBLE / freedom
    width = end + np.log1p(np.sqrt(-np.expm1(-2 * end))) - y
    at = y + width * _PLACES
    found: Floats = (np.exp(-freedom * (np.logaddexp(at, -at) - math.log(2))) * _WEIGHTS * width).sum(axis=-1)
    return found
