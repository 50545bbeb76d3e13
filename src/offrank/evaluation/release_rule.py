"""The release rule's decision on one target, from its estimates."""

from __future__ import annotations

import math

from ..errors import UsageError
from ..estimators.wrappers import without_normalisation
from ..findings.reasons import Reason
from ..findings.release import Release, nothing_earned, release
from .candidates import TargetEstimates
from .counts import AnyEstimator, Counts
from .differences import estimator_of


def released(name: str, one: TargetEstimates, summary: Counts, level: float, largest: float | None = None) -> Release:
    """Return whether a target may replace the logging policy; the intervals are at level 2 level - 1.

    largest: a reward that is known to occur, if it is larger than those of this log.

    Raises:
        UsageError: only logged quantities were asked for.
    """
    found = one.verdict(name, summary.about_log)
    if found is None:
        raise UsageError("only what was logged was asked for", "name an estimator of the targets, such as 'snips'")
    if found.estimator is None:
        return release(level, found)
    estimator = estimator_of(one, found.estimator)
    rewarded, missing = summary.rewarded(one.target, estimator), summary.missing(one.target, estimator)
    return release(
        level, found, rewarded, missing, summary.one_more(estimator, largest), _unearned(one, summary, estimator, level)
    )


def _unearned(one: TargetEstimates, summary: Counts, deciding: AnyEstimator, level: float) -> tuple[Reason, ...]:
    """Return the reason that a less assuming estimate saw many impressions of the target, none of which earned."""
    for key, found in one.found.items():
        less = found.estimator
        if not without_normalisation(less).assumptions < without_normalisation(deciding).assumptions:
            continue
        rows = summary.weighted_rows(one.target, less)
        expected = rows * summary.rewarded_share(less)
        if expected > -math.log(1 - level) and summary.rewarded(one.target, less) == 0:
            return (nothing_earned(key, rows, expected),)
    return ()
