"""Mean weights that are not 1, and what would explain them."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.formatting import Span
from ..sums.estimate import Interval
from ..wording import Verb
from .log import LogEvidence
from .odd_mean import IMPOSSIBLE, IMPOSSIBLE_BY_MARKOV, NEAR, REFUTED, WEIGHTINGS, LawEvidence, odd_mean, refuting
from .registry import Statement, finding, serious, warning
from .row import Row
from .weights import sampled_twice

KNOWN = 0.1  # Effective share of the rows above which an unseen tail cannot explain a low mean


@dataclass(frozen=True, kw_only=True)
class GroupEvidence:
    """The mean weights of one group of a log, each of which tests the logging policy in its rows."""

    weights: tuple[tuple[str, Interval, float], ...] = ()  # name, mean, bound of P(so high a mean)
    tested: int = 1  # targets times groups, which share the false alarms


@finding(
    "unlisted-candidates", "Candidates", lambda found: found.unlisted, cause="propensities", explains="mean weight"
)
def unlisted_candidates(found: LogEvidence | LawEvidence) -> Statement | None:
    """Propensities of slates chosen from more items give orders of those shown a mean weight above 1."""
    odd = odd_mean(found)
    if odd is None or odd.mean.value < 1 or sampled_twice(odd):
        return None
    return Statement.of(
        "serious" if isinstance(found, LawEvidence) or odd.away > refuting() else "warning",
        "The log does not list its candidates, so only the items shown count as candidates. On average, the "
        f"propensities are {odd.mean.value:.3g} times too small for orders of these items: the slates seem to be "
        "chosen from more items.",
        "List all items that could have been shown in a column `candidates` (in a long log: one row each, without "
        "a position if it was not shown). If there were no others, check that the propensities are those of the "
        "slates shown.",
    )


@finding("mean-weight", "Mean weight", odd_mean, cause="mean weight")
def mean_weight(found: Row) -> Statement | None:
    """Weights average to 1 if propensities are right and every slate of the target could have been logged.

    Above 1, propensities are too small, or of other slates; the same factor for all policies points to a constant
    error. Below 1, slates have no support, propensities are too large, or the log is too short to show the tail.
    """
    odd = odd_mean(found)
    if odd is None or sampled_twice(odd):
        return None
    reason = (
        "Slates of the target without support in the log, a tail of weights that this log is too short to contain, "
        "or propensities that are too large"
        if odd.mean.value < 1
        else "Propensities that are too small (do they contain a sub-sampling factor?), or propensities of other "
        "slates than those shown"
    )
    impossible = odd.away > IMPOSSIBLE or odd.mean.value > max(found.groups, 1) * IMPOSSIBLE_BY_MARKOV
    return Statement.of(
        "serious" if impossible else "warning",
        f"The mean weight is {_how_odd(odd.mean, odd.away)} for this policy.",
        "{} would explain this; {} with the uniform policy tells which. A plain estimate is off by this "
        "factor; a self-normalised one hides it.",
        reason,
        Verb("check"),
    )


@finding("mean-weight", "Mean weights", odd_mean, cause="mean weight")
def mean_weight_of_law(law: LawEvidence) -> Statement | None:
    odd = odd_mean(law)
    if odd is None or sampled_twice(odd):
        return None
    return serious(
        f"{odd.name} is {_how_odd(odd.mean, odd.away)}. Every estimate that uses these propensities is wrong, "
        "whatever its own mean weight.",
        "Check that the propensities are those of the slates shown, that rows were not kept depending on clicks "
        "(otherwise write `inclusion`), and that the target's scores were not made from what these rows showed or "
        "what was clicked in them.",
    )


@finding("mean-weight", "Mean weights of a group", cause="mean weight")
def mean_weight_of_group(group: GroupEvidence) -> Statement | None:
    level = REFUTED / WEIGHTINGS / group.tested
    odd = [one for one in group.weights if one[1].value >= 1 + NEAR and one[2] < level]
    if not odd:
        return None
    name, mean, chance = min(odd, key=lambda one: one[2])
    return serious(
        f"In this group, the mean weight of {name} is {_how_odd(mean, mean.deviation(1.0))}. Correct propensities "
        f"would rarely give this (probability at most {max(chance, 1e-99):.1g}). Every estimate of the group that "
        "uses them is wrong, whatever its own mean weight.",
        "Check that these rows have the propensities of the slates shown. If the groups depend on what was shown "
        "or clicked, estimates by group mean nothing: group by what was known before the impression.",
    )


@finding("mean-weight", "Mean importance weight of uniform", cause="mean weight")
def mean_weight_of_uniform(log: LogEvidence) -> Statement | None:
    """Correct propensities give the uniform policy a mean weight of 1, or less if some slates are never shown."""
    odd, mean = odd_mean(log), log.mean_weight
    if mean is None or (odd is not None and sampled_twice(odd)):
        return None
    away, value = mean.deviation(1.0), Span.of(mean).number()
    if odd is not None:
        return Statement.of(
            "serious" if odd.away > refuting() else "warning",
            f"The mean weight of the uniform policy is {value} ({_standard_errors(away)} above 1): on average, the "
            f"propensities are {value} times too small.",
            "Check that the propensities are those of the slates shown, and that they contain no sub-sampling "
            "factor. A plain estimate is off by about this factor; a self-normalised one hides it.",
        )
    if log.fit is None and mean.value <= 1 - NEAR and away > IMPOSSIBLE and log.ess >= KNOWN * log.rows:
        return warning(
            f"The mean weight of the uniform policy is {value} ({_standard_errors(away)} below 1): the propensities "
            f"are {1 / mean.value:.3g} times too large, or the logging policy never shows some slates.",
            "Check that the propensities are those of the slates shown.",
        )
    return None


def _standard_errors(away: float) -> str:
    return f"{f'{away:.1f}' if away < 1000 else 'over 1,000'} standard errors"


def _how_odd(mean: Interval, away: float) -> str:
    low = mean.value < 1
    value = Span.of(mean).number()
    return (
        f"{value} ({_standard_errors(away)} from 1): on average, the propensities are "
        f"{f'{1 / mean.value:.3g} times too large' if low else f'{value} times too small'}"
    )
