"""The mean weight of the uniform policy, which tells of the log's propensities whatever the target."""

from __future__ import annotations

import math

from .evidence_log import OfLog
from .registry import Said, finding

ODD, IMPOSSIBLE = 3.3, 5.0
"""Standard errors: one right log in a thousand, and one in a million."""
FEW_FACTOR = 1.5
"""Rows have to count so many times for the sub-sampling to be told from other faults."""
NEAR = 0.3
"""How far off the mean weight may be, relatively, from what a factor that is used twice makes."""
SMALL = 0.005
"""A mean weight that is less than so far off makes no estimate wrong."""
KNOWN = 0.1
"""Effective share of the rows from which on a low mean is no matter of a tail that the log is too short to show."""


@finding("double-subsampling", title="Mean importance weight of uniform")
def double_subsampling(log: OfLog) -> Said | None:
    """The propensities contain the factor of the sub-sampling already."""
    found = log.mean_weight
    if found is None or not _high(log) or not _factor(log):
        return None
    return Said(
        "serious",
        f"The mean weight of uniform is {found.value:.3g}, and rows count {log.sampling_factor:.3g}-fold for the "
        "sub-sampling: the propensities contain that factor already.",
        "Correct for the sub-sampling once: multiply it out of the propensities, or leave `inclusion` away.",
    )


@finding("mean-weight", title="Mean importance weight of uniform")
def mean_weight_of_log(log: OfLog) -> Said | None:
    """Right propensities give the uniform policy a mean weight of at most 1, and of 1 where all slates can be shown."""
    found = log.mean_weight
    if found is None:
        return None
    away = found.deviation(1.0)
    if _high(log) and not _factor(log):
        return Said(
            "serious" if away > IMPOSSIBLE else "warning",
            f"The mean weight of uniform is {found.value:.4g} ({_far(away)} standard errors above 1): on average the "
            f"propensities are {found.value:.3g} times too small.",
            "Look whether the propensities are those of the slates that were shown, and whether a sub-sampling factor "
            "is in them. A plain estimate is off by about this factor, a self-normalised one hides it.",
        )
    if found.value < 1 - SMALL and away > IMPOSSIBLE and log.ess >= KNOWN * log.rows:
        return Said(
            "warning",
            f"The mean weight of uniform is {found.value:.4g} ({_far(away)} standard errors below 1): the propensities "
            f"are {1 / found.value:.3g} times too large, or the logging policy never shows some slates.",
            "Look whether the propensities are those of the slates that were shown.",
        )
    return None


def _high(log: OfLog) -> bool:
    """Whether the mean is above 1 by more than chance: weights are skewed, so that high means have large errors."""
    found = log.mean_weight
    if found is None or not math.isfinite(found.standard_error):
        return False
    return found.value > 1 + SMALL and found.deviation(1.0) > ODD


def _factor(log: OfLog) -> bool:
    assert log.mean_weight is not None
    return log.sampling_factor > FEW_FACTOR and abs(log.mean_weight.value / log.sampling_factor - 1) < NEAR


def _far(away: float) -> str:
    return f"{away:.1f}" if away < 1000 else "over 1,000"
