"""The release rule's decision on one target, from its estimates."""

from __future__ import annotations

import math

from ..errors import UsageError
from ..estimators.base import Estimator
from ..estimators.layout import ROWS
from ..findings.reasons import Reason
from ..findings.release import Release, nothing_earned, release
from ..findings.verdict import Verdict
from ..policies.base import Policy
from ..sums.estimate import Interval
from ..sums.mean import Name, with_control
from .candidates import requested
from .counts import Counts
from .differences import Side

_NOTHING = 1e-9
"""A share of the target's slates that is a rounding error."""


def released(found: Verdict | None, side: Side, summary: Counts, level: float, largest: float | None = None) -> Release:
    """Return whether a target may replace the logging policy; the intervals are at level 2 level - 1.

    found: the verdict on it. side: the target, and what the estimators say of it.
    largest: a reward that is known to occur, if it is larger than those of this log.

    Raises:
        UsageError: only logged quantities were asked for.
    """
    target, rows = side
    if found is None:
        raise UsageError("only the logged ranking was evaluated", "name an estimator of the targets, such as 'snips'")
    if found.estimator is None:
        return release(level, found)
    estimator = rows[found.estimator].estimator
    rewarded, missing = _rewarded(summary, target, estimator), _missing(summary, target, estimator)
    return release(
        level,
        found,
        rewarded,
        missing,
        _one_more(summary, estimator, largest),
        _unearned(side, summary, estimator, level),
    )


def _unearned(side: Side, summary: Counts, deciding: Estimator, level: float) -> tuple[Reason, ...]:
    """Return the reason that a less assuming estimate saw many impressions of the target, none of which earned."""
    target, rows = side
    for one in requested(rows):
        less = one.estimator
        if not less.kind.assumes < deciding.kind.assumes:
            continue
        seen = summary.weighted_rows(target, less)
        base = less.unnormalised
        rewarded = _above(summary, _least(summary, base), base.kind.outcome, ROWS)  # of the log: effective impressions
        expected = seen * rewarded / summary.sums.n
        if expected > -math.log(1 - level) and _rewarded(summary, target, less) == 0:
            return (nothing_earned(one.name, seen, expected),)
    return ()


def _rewarded(counts: Counts, target: Policy, estimator: Estimator) -> float:
    """Return the effective number of impressions behind an estimate that earned more than the least reward."""
    at = counts.columns(target, estimator)
    return _above(counts, _least(counts, at.estimator), at.value, at.weight)


def _one_more(counts: Counts, estimator: Estimator, largest: float | None = None) -> float:
    """Return what one more impression of the largest reward would add to the logged mean."""
    weighting, sums = estimator.unnormalised, counts.sums
    most = max(float(sums.largest[weighting.kind.outcome]), -math.inf if largest is None else largest)
    return max(most - sums.value(counts.layout.logged(weighting)), 0.0) / float(sums.total[ROWS])


def _above(counts: Counts, least: float, value: Name, weight: Name) -> float:
    """Return the effective number of rows by the values less `least` times their weights."""
    sums = counts.sums
    total, square = sums.combined({weight: -least, value: 1.0})
    rounding = 1e-12 * (sums.squares[value] + least**2 * sums.squares[weight])
    return total**2 / square if square > rounding else 0.0


def _least(counts: Counts, weighting: Estimator) -> float:
    """Return the least logged reward; at most 0 where rewards are divided by inclusion, or counted slot by slot."""
    least = float(counts.sums.least[weighting.kind.outcome])
    divided = least > 0 and counts.sums.largest[ROWS] > 1
    return min(least, 0.0) if weighting.kind.each_slot or divided else least


def _missing(counts: Counts, target: Policy, estimator: Estimator) -> Interval | None:
    """Return the difference to the log if whatever the log lacks of the target earned the least logged reward.

    It is that of mean(w (reward - least)): weights that are never seen, or too rarely, lower it. None if the
    logging policy is known to show all that the target shows, often enough for a log of this length.
    """
    at = counts.columns(target, estimator)
    design = counts.design(at)
    if design is not None and design.unsupported + design.hidden < _NOTHING:
        return None
    mean = with_control(at.value, at.weight, ROWS, _least(counts, at.estimator))
    return counts.inference.difference(mean, counts.layout.logged(at.estimator))
