"""The arms of an experiment, which chance alone should tell apart."""

import math

from ..language.formatting import Span, percent
from .evidence_rows import (
    ArmsEvidence,
    ControlEvidence,
    PlaceboEvidence,
    SharedUnitsEvidence,
)
from .registry import Statement, finding

MISMATCHED = 3.29
"""Deviates beyond which a right experiment has such a share in 1 of 1,000 logs, which is the usual bound: Fabijan and
others (2019), Diagnosing sample ratio mismatch in online controlled experiments."""


@finding("sample-ratio", "Shares of the arms", cause=("rows", "arms"))
def sample_ratio(found: ArmsEvidence) -> Statement | None:
    """Rows were lost, or added, in one arm more than in another: the arms no longer differ by chance alone."""
    away = {arm: share.deviation(said) for arm, (share, said) in found.shares.items()}
    worst = max(away, key=lambda arm: away[arm], default=None)
    if worst is None or not away[worst] > MISMATCHED:
        return None
    share, said = found.shares[worst]
    value, ends = Span.of(share).percents(signed=False)
    return Statement(
        "serious",
        f"Arm `{worst}` of `{found.column}` has {value} of the impressions ({ends}) "
        f"instead of the planned {100 * said:.4g} %: one arm has lost or gained rows, so "
        "the arms no longer differ by chance alone.",
        "Find out where the rows went, such as crashes, redirects, bots or filters that affect one arm more than "
        "another; or correct the planned shares.",
    )


@finding("control-moved", "Control by arm", cause=("rows", "arms"))
def control_moved(found: ControlEvidence) -> Statement | None:
    """A column that was known before the impression differs between arms by chance alone: this one follows the arm."""
    away = {arm: one.deviation(0.0) for arm, one in found.away.items()}
    worst = max(away, key=lambda arm: away[arm], default=None)
    if worst is None or not away[worst] > MISMATCHED:
        return None
    far = Span.of(found.away[worst]).number(signed=True)
    return Statement(
        "serious",
        f"The mean of control `{found.column}` in arm `{worst}` of `{found.arms}` is {far} "
        f"from its overall mean ({away[worst]:.1f} standard errors): the control depends on the arm, or the arms "
        "were not assigned at random.",
        "Use a column whose value was known before the impression, such as the user's past click rate; or cluster "
        "by the unit that was randomised, such as the user.",
    )


PLACEBO_CHANCE = 0.0005
"""Share of right experiments that say so, for all pairs of arms together; 3.5 standard errors of one pair."""


@finding("unlike-arms", "Arms that show the same", cause=("rows", "arms"))
def unlike_arms(found: PlaceboEvidence) -> Statement | None:
    """A placebo: the same list earns the same, whichever arm served it, if nothing else differs between the arms."""
    if not found.pairs * math.erfc(found.deviates / math.sqrt(2)) < PLACEBO_CHANCE:
        return None
    (one, other), (mine, theirs) = found.arms, found.means
    same, earned = ("first item", "clicks on it") if found.first else ("list", "the outcome")
    perhaps = ", or users look further before they click the first" if found.first else ""
    if found.drawn:
        perhaps += ", or one of them draws by another law than is given here"
        shown = f"Weighted by how likely both rankers show the same {same}, {sum(found.rows):,.0f} impressions"
        said = f"{shown} have different outcomes: {earned}"
    else:
        said = f"In {sum(found.rows):,.0f} impressions both rankers show the same {same}, yet {earned}"
    return Statement(
        "warning",
        f"{said} per impression is {mine:.4g} in arm `{one}` of `{found.column}` and {theirs:.4g} in `{other}` "
        f"({found.deviates:.1f} standard errors): the arms differ by more than their rankers, such as times, users, "
        f"speed or tracking{perhaps}.",
        "Find out what: shares that were changed during the test, or users who were not assigned at random, make the "
        "difference of the arms wrong; of an arm that is slower or loses clicks it is right, but not of its ranker.",
    )


FEW_SHARED = 0.01
"""Share of the users that may be in several arms by new cookies or devices."""
BY_USER = 0.25
"""Of the share that there would be if chance drew the arm of each row: with less, users kept their arm."""


@finding("shared-users", "Users in several arms", lambda found: found.shared > 0, cause="arms")
def shared_users(found: SharedUnitsEvidence) -> Statement:
    """Who has met both rankers behaves by both, and the means of the arms are of partly the same users."""
    said = f"Of the values of `{found.unit}` with several rows, {percent(found.shared)} are in more than one arm of "
    said += f"`{found.column}`"
    if found.shared >= BY_USER * found.by_row:
        return Statement(
            "note",
            f"{said}: the arm was drawn by impression or visit. What one ranker shows may change what the same user "
            "does under the other.",
            f"If the test was to be randomised by `{found.unit}`, its assignment is broken; else this is as designed.",
        )
    return Statement(
        "note" if found.shared <= FEW_SHARED else "warning",
        f"{said}, while the others kept their arm. If the test was randomised by `{found.unit}`, this is a fault: they "
        "met both rankers, which blurs the difference of the arms.",
        "Find out why their arm changed (new cookies, another device, a new assignment), or remove their rows.",
    )
