"""What is known of a log whatever is estimated from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..folds.estimate import Interval


@dataclass(frozen=True)
class Shown:
    """How often something was shown, and how often the logging policy says it is: the worst of many comparisons.

    rank: from 1 at the top, None for any rank. item: its code; else `lift` says which items: those that the policy
    shows there at least so many times as often as a uniform one would. observed, expected: rows (before sub-sampling).
    chance: an upper bound of the probability that some comparison of a right log is as far off.
    """

    rank: int | None
    observed: float
    expected: float
    chance: float
    item: int | None = None
    lift: float | None = None


@dataclass(frozen=True, kw_only=True)
class OfLog:
    """A log, whatever is estimated from it.

    - rows: impressions read; logging: the spelling of the logging policy.
    - compared, apart, typical_ratio: rows with a written propensity, those in which it is not the logging policy's,
      and how many times that it typically is (geometric mean).
    - fit: how what was shown fits the logging policy, None where that could not be compared.
    - copies: the least share of the rows that are copies of others.
    - mean_weight: of the uniform policy; sampling_factor: the sum of squared 1 / inclusion over the sum of them;
      ess: effective sample size of those weights.
    - shown_only: whether every impression showed all of its candidates.
    - rows_per_context, counted_by: where propensities were counted in the log.
    - unknown: check -> why it could not be made.
    """

    rows: int = 0
    logging: str = "logged"
    compared: int = 0
    apart: int = 0
    typical_ratio: float = 1.0
    fit: Shown | None = None
    copies: float = 0.0
    mean_weight: Interval | None = None
    sampling_factor: float = 1.0
    ess: float = 0.0
    shown_only: bool = False
    rows_per_context: float = math.inf
    counted_by: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
