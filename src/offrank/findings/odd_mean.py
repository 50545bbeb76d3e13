"""Tests of whether a mean weight differs from 1 beyond chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from ..inference.pareto import odd_weights, unseen
from ..sums.estimate import Interval
from .log import LogEvidence
from .row import Row

ODD, IMPOSSIBLE = 3.3, 5.0  # Standard errors from 1: of the first there are as many in one of a thousand logs
NEAR = 0.005  # A mean this close to 1 is not reported
ODD_BY_MARKOV, IMPOSSIBLE_BY_MARKOV = 20.0, 100.0
"""Weights are >= 0 with expectation 1: the chance of a mean of t or more is at most 1 / t (Markov's inequality)."""
REFUTED = 5e-4
"""Share of healthy logs whose logging policy some mean weight of the run refutes, at most (Bonferroni;
benchmarks/healthy.py weights). As much again is left to what was shown, by `miscalibrated`."""
WEIGHTINGS = 20
"""Weightings of a target that share these false alarms, however many are asked for: of a correction by those asked for,
more of them would make a log right that fewer have refuted."""
_EXAMINED = 2048  # Contexts at most in which the share is counted that a log hides, which so has an error of its own
_ROUNDING = 1e-6  # If weights do not vary, their mean differs from what is expected by rounding errors only


@dataclass(frozen=True, kw_only=True)
class LawEvidence:
    """The mean weights of a run, each of which tests the logging policy of the log."""

    weights: tuple[tuple[str, Row], ...] = ()  # of each estimator for each target, asked for or a reference, by name
    targets: int = 1
    copies: float = 0.0  # lower bound of the share of rows that are copies of others
    unlisted: bool = False  # as in `LogEvidence`


class OddMean(NamedTuple):
    """A mean weight that is not 1, of what, how many standard errors from 1, and the factor of the sub-sampling."""

    name: str
    mean: Interval
    away: float
    factor: float


def odd_mean(found: Row | LogEvidence | LawEvidence) -> OddMean | None:
    """The mean weight of an estimate, of uniform, or the clearest of a run; None if it is close enough to 1."""
    if isinstance(found, LawEvidence):
        return _refuting(found)
    away = _from_one(found) if isinstance(found, Row) else _above_one(found)
    if away is None or found.mean_weight is None:
        return None
    name = "The mean weight" if isinstance(found, Row) else "The mean weight of the uniform policy"
    return OddMean(name, found.mean_weight, away, found.sampling_factor)


def _from_one(found: Row) -> float | None:
    """How far the mean weight is from 1, in standard errors; None if it is close enough or cannot be determined.

    A mean below 1 is compared with 1 minus the share of the target that so short a log hides: see `odd_weights`. What a
    group hides is not known, and tails of a few hundred rows tell little of it. Groups share the false alarms.
    """
    mean = found.mean_weight
    if mean is None or not math.isfinite(mean.standard_error) or not found.normalised:
        return None
    if found.kind.bound and found.control <= 1:
        return None  # clipping makes a mean weight smaller
    if found.groups:
        hidden = 1.0
    elif found.hidden is None:
        hidden = unseen(found.estimate.max_weight_share, found.estimate.tail_index)
    else:
        hidden = found.hidden + found.unsupported
    low = mean.value < 1
    gap = 1 - hidden - mean.value if low else mean.value - 1
    sampling = math.sqrt(max(hidden * (1 - hidden), 0.0) / _EXAMINED) if low else 0.0
    away = min(odd_weights(mean, hidden), max(gap, 0.0) / max(sampling, _ROUNDING))
    shared = max(found.groups, 1)
    least = ODD if shared == 1 else -NormalDist().inv_cdf(NormalDist().cdf(-ODD) / shared)
    odd = mean.value >= shared * ODD_BY_MARKOV or (away >= least and abs(mean.value - 1) >= NEAR)
    return away if odd else None


def _above_one(log: LogEvidence) -> float | None:
    """How far the mean weight of uniform is above 1, in standard errors; None if it is close enough.

    With correct propensities its expectation is at most 1. Chance seldom exceeds it: weights are skewed, so that a high
    mean comes with a large error.
    """
    mean = log.mean_weight
    if mean is None or not math.isfinite(mean.standard_error) or mean.value < 1 + NEAR:
        return None
    away = mean.deviation(1.0) * math.sqrt(1 - log.copies)
    return away if away >= ODD else None


def _refuting(law: LawEvidence) -> OddMean | None:
    """The clearest of the mean weights that refute the logging policy.

    A mean above 1 does: with right propensities none is expected above it, whatever the log supports. One below 1
    does only where what the log hides is known from both policies. Copies of rows are no further evidence.
    """
    share, least = math.sqrt(1 - law.copies), refuting(law.targets)
    odd = []
    for name, one in law.weights:
        mean, away = one.mean_weight, _from_one(one)
        if away is None or mean is None or (mean.value < 1 and one.hidden is None):
            continue
        if away * share > least or mean.value > IMPOSSIBLE_BY_MARKOV:
            odd.append(OddMean(f"The mean weight of {name}", mean, away, one.sampling_factor))
    return max(odd, key=lambda one: one.away, default=None)


def refuting(targets: int = 1) -> float:
    """Standard errors from which on a mean weight of one of so many targets refutes the logging policy."""
    return -NormalDist().inv_cdf(REFUTED / WEIGHTINGS / max(targets, 1) / 2)
