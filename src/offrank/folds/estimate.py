"""A number and its doubt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["note", "warning", "serious"]


@dataclass(frozen=True)
class Caution:
    """Why a number should be doubted: a stable code, what it means and what to do."""

    code: str
    severity: Severity
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.remedy}"


@dataclass(frozen=True)
class Interval:
    """A value with its confidence interval and standard error."""

    value: float
    low: float
    high: float
    standard_error: float


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

    @property
    def trustworthy(self) -> bool:
        """No serious warning."""
        return all(caution.severity != "serious" for caution in self.warnings)
