"""A number and its standard error: intervals, estimates, and how far a studentised mean is off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["note", "warning", "serious"]


@dataclass(frozen=True)
class Caution:
    """Why a number should be doubted: a stable code, what it means and what to do.

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

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.remedy}"


@dataclass(frozen=True)
class PlacedCaution:
    """A caution, and which number of a result it is about: None where it is about every one.

    target, estimator: of estimates. model, metric: of ranking metrics and click models. group: of the `by` column.
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


@dataclass(frozen=True)
class Interval:
    """A value with its confidence interval and standard error.

    freedom: the degrees of freedom of that error. skewness: of the value, as the sample shows it: third central moment
    over the error cubed.
    """

    value: float
    low: float
    high: float
    standard_error: float
    freedom: float = field(default=math.inf, repr=False)
    skewness: float = field(default=0.0, repr=False)

    def to_dict(self) -> dict[str, float | None]:
        """Value, ends and standard error by name; None for what is not finite."""
        numbers = {"value": self.value, "low": self.low, "high": self.high, "standard_error": self.standard_error}
        return {name: float(number) if math.isfinite(number) else None for name, number in numbers.items()}

    def deviation(self, expected: float) -> float:
        """How far off the value is: the deviate of a normal law that is as rare, two-sided, as this is.

        In standard errors, and less where few clusters tell the error or where the value is skewed towards the expected
        one. A studentised interval holds what is within its quantile.
        """
        if not self.standard_error > 0:
            return math.inf if self.value != expected else 0.0
        return _deviate((self.value - expected) / self.standard_error, self.skewness, self.freedom)


@dataclass(frozen=True)
class Design:
    """What two policies alone say of an estimator's weights, before anything is drawn: no reward is looked at.

    - rows: contexts that were looked at, a random sample of the log's.
    - second_moment: E[w^2] under the logging policy, averaged over contexts; over slots too where each has weights.
    - third_moment: E[w^3]; nan where it is not known (`pi`).
    - largest: the largest weight that what the target shows can have; of `pi` up to its sign, of any slate.
    - unsupported: share of what the target shows that the logging policy never shows.
    - hidden: share of what the target shows at weights so large that such a log is expected to hold fewer than five
      rows with one of them.
    - effective: the effective sample size that a log of this length is expected to have: (sum of expected
      weights)^2 over the expected sum of squared weights, each divided by the inclusion probability.
    - visible: the same of the weights that are not hidden, which is what logs of this length typically show.
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
class Estimate:
    """What a policy would have earned per impression, and how far to trust it.

    - value, low, high, standard_error: in units of the reward.
    - n: impressions read.
    - ess: effective sample size: how many impressions of the target itself would tell its value with this standard
      error. nan where nothing is weighted; (sum of weights)^2 / sum of squared weights where no reward tells more.
    - mean_weight: should be 1 within mean_weight_interval; None where the weights have no expectation of 1.
    - max_weight_share: the largest weight as a share of all.
    - tail_index: Pareto index of the weights, None if too few.
    - difference: to what the logging policy earned on the same rows, paired.
    - chosen: the spelling of the estimator that the data chose, where they could choose.
    - cluster: the column whose values are taken as clusters of dependent rows, None where rows are independent.
    - design_effect: the variance by clusters over that of independent rows.
    - effective_clusters: how many clusters of one size they are worth.
    - design: what the policies alone say of the weights; None where they cannot.
    - detectable: the smallest true difference to the log that a log of this kind shows as one, with a chance of .8.
    - about_log: what is wrong with the log for this estimate as for others; the result has it once.

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
    ess: float
    mean_weight: float | None
    max_weight_share: float
    tail_index: float | None = None
    mean_weight_interval: Interval | None = None
    difference: Interval | None = None
    warnings: tuple[Caution, ...] = field(default=())
    chosen: str | None = None
    cluster: str | None = None
    design_effect: float | None = None
    effective_clusters: float | None = None
    design: Design | None = None
    detectable: float = math.nan
    about_log: tuple[Caution, ...] = field(default=(), repr=False)

    @property
    def trustworthy(self) -> bool:
        """A number, and no serious warning, neither of it nor of the log."""
        found = (*self.warnings, *self.about_log)
        return math.isfinite(self.value) and all(caution.severity != "serious" for caution in found)


def transformed(away: float, skewness: float) -> float:
    """Nearly standard normal, for a mean that is `away` standard errors off, both estimated, and so skewed itself.

    Hall (1992, "On the removal of skewness by transformation"): with T standard errors and c = skewness / 3,
    ((1 + c T)^3 - 1) / (3 c) + c / 2. The mean of n rows of skewness s has the skewness s / sqrt(n).
    """
    c = skewness / 3
    return away + c * away**2 + c**2 * away**3 / 3 + c / 2


def untransformed(deviate: float, skewness: float) -> float:
    """The standard errors that `transformed` takes to this deviate."""
    c = skewness / 3
    if abs(c) < 1e-6:
        return deviate - c * deviate**2 - c / 2
    return (math.cbrt(1 + 3 * c * (deviate - c / 2)) - 1) / c


def _deviate(away: float, skewness: float, freedom: float) -> float:
    """The two-sided deviate of a normal law that is as rare as a mean `away` standard errors off, with a sign, is.

    Skewness only ever makes it less: what a sample shows of it is not enough to call something rarer.
    """
    sign = math.copysign(1.0, away)
    found = min(abs(away), max(sign * transformed(away, skewness), 0.0))
    return found if freedom == math.inf else _of_student(found, freedom)


def _of_student(away: float, freedom: float) -> float:
    """The standard normal deviate with the tail of Student's `away`."""
    from scipy.special import ndtri, stdtr

    tail = float(stdtr(freedom, -away))
    return -float(ndtri(tail)) if tail > 0 else away
