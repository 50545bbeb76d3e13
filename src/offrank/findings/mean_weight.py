"""Mean weights: those that are not 1, and what would explain them."""

from ..language.formatting import Span
from ..sums.estimate import Interval, Severity
from ..wording import Verb, Wording
from .double_subsampling import counted_twice
from .evidence import EstimateEvidence, LawEvidence, LogEvidence
from .evidence_rows import GroupEvidence
from .odd_mean import (
    IMPOSSIBLE,
    IMPOSSIBLE_BY_MARKOV,
    NEAR,
    REFUTED,
    WEIGHTINGS,
    deviation,
    refuted,
    refuting,
    rise,
)
from .registry import Statement, finding

KNOWN = 0.1
"""Effective share of the rows above which an unseen tail cannot explain a low mean."""


@finding("mean-weight", "Mean weight", cause="mean weight")
def mean_weight(found: EstimateEvidence) -> Statement | None:
    away, mean = deviation(found), found.mean_weight
    if away is None or mean is None or counted_twice(found):
        return None
    low = mean.value < 1
    reason = (
        "Slates of the target without support in the log, a tail of weights that this log is too short to contain, "
        "or propensities that are too large"
        if low
        else "Propensities that are too small (do they contain a sub-sampling factor?), or propensities of other "
        "slates than those shown"
    )
    return Statement(
        "serious" if away > IMPOSSIBLE or mean.value > max(found.groups, 1) * IMPOSSIBLE_BY_MARKOV else "warning",
        f"The mean weight is {_said(mean, away)} for this policy.",
        Wording(
            "{} would explain this; {} with the uniform policy tells which. A plain estimate is off by this "
            "factor; a self-normalised one hides it.",
            reason,
            Verb("check"),
        ),
    )


@finding("mean-weight", "Mean weights", cause="mean weight")
def mean_weight_of_law(law: LawEvidence) -> Statement | None:
    """Weights whose mean is not 1 refute the logging policy, and so every estimate that depends on it."""
    worst = refuted(law)
    if worst is None or counted_twice(worst[1]):
        return None
    name, found, away = worst
    assert found.mean_weight is not None
    return Statement(
        "serious",
        f"The mean weight of {name} is {_said(found.mean_weight, away)}. Every estimate that uses these "
        "propensities is wrong, whatever its own mean weight.",
        "Check that the propensities are those of the slates shown, that rows were not kept depending on clicks "
        "(otherwise write `inclusion`), and that the target's scores are not older than the impressions.",
    )


@finding("mean-weight", "Mean weights of a group", cause="mean weight")
def mean_weight_of_group(group: GroupEvidence) -> Statement | None:
    """Weights whose mean in a group is above 1 refute the logging policy there."""
    level = REFUTED / WEIGHTINGS / group.tested
    odd = [one for one in group.weights if one[1].value >= 1 + NEAR and one[2] < level]
    if not odd:
        return None
    name, mean, chance = min(odd, key=lambda one: one[2])
    return Statement(
        "serious",
        f"In this group, the mean weight of {name} is {_said(mean, mean.deviation(1.0))}. Correct propensities "
        f"would rarely give this (probability at most {max(chance, 1e-99):.1g}). Every estimate of the group that "
        "uses them is wrong, whatever its own mean weight.",
        "Check that these rows have the propensities of the slates shown. If the groups depend on what was shown "
        "or clicked, estimates by group mean nothing: group by what was known before the impression.",
    )


def _said(mean: Interval, away: float) -> str:
    low, far = mean.value < 1, f"{away:.1f}" if away < 1000 else "over 1,000"
    factor = 1 / mean.value if low else mean.value
    return (
        f"{Span.of(mean).number()} ({far} standard errors from 1): on average, the propensities are {factor:.3g} "
        f"times too {'large' if low else 'small'}"
    )


@finding("mean-weight", "Mean importance weight of uniform", cause="mean weight")
def mean_weight_of_uniform(log: LogEvidence) -> Statement | None:
    """Correct propensities give the uniform policy a mean weight of 1, or less if some slates are never shown."""
    mean, high = log.mean_weight, rise(log)
    if mean is None or (high is not None and counted_twice(log)):
        return None
    away = mean.deviation(1.0)
    far = f"{away:.1f}" if away < 1000 else "over 1,000"
    if high is not None:
        return Statement(
            "serious" if high > refuting() else "warning",
            f"The mean weight of the uniform policy is {Span.of(mean).number()} ({far} standard errors above 1): on "
            f"average, the propensities are {Span.of(mean).number()} times too small.",
            "Check that the propensities are those of the slates shown, and that they contain no sub-sampling "
            "factor. A plain estimate is off by about this factor; a self-normalised one hides it.",
        )
    if log.fit is None and mean.value <= 1 - NEAR and away > IMPOSSIBLE and log.ess >= KNOWN * log.rows:
        return Statement(
            "warning",
            f"The mean weight of the uniform policy is {Span.of(mean).number()} ({far} standard errors below 1): the "
            f"propensities are {1 / mean.value:.3g} times too large, or the logging policy never shows some slates.",
            "Check that the propensities are those of the slates shown.",
        )
    return None


@finding(
    "unlisted-candidates",
    "Candidates",
    lambda log: log.unlisted and not counted_twice(log),
    cause="propensities",
    explains="mean weight",
)
def unlisted_candidates(log: LogEvidence) -> Statement | None:
    """Propensities of slates chosen from more items give orders of those shown a mean weight above 1."""
    high, mean = rise(log), log.mean_weight
    if high is None or mean is None:
        return None
    return _of_more(mean.value, "serious" if high > refuting() else "warning")


@finding("unlisted-candidates", "Candidates", lambda law: law.unlisted, cause="propensities", explains="mean weight")
def unlisted_candidates_of_law(law: LawEvidence) -> Statement | None:
    """The same of items, and of any other target."""
    worst = refuted(law)
    mean = None if worst is None else worst[1].mean_weight
    if worst is None or mean is None or mean.value < 1 or counted_twice(worst[1]):
        return None
    return _of_more(mean.value, "serious")


def _of_more(times: float, severity: Severity) -> Statement:
    """Say that the candidates are missing. times: the mean weight."""
    return Statement(
        severity,
        "The log does not list its candidates, so only the items shown count as candidates. On average, the "
        f"propensities are {times:.3g} times too small for orders of these items: the slates seem to be chosen from "
        "more items.",
        "List all items that could have been shown in a column `candidates` (in a long log: one row each, without "
        "a position if it was not shown). If there were no others, check that the propensities are those of the "
        "slates shown.",
    )
