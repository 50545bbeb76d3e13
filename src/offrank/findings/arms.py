"""The arms of an experiment, which chance alone should tell apart, and what moves along a log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..language.formatting import Span, apart, percent
from ..sums.estimate import Interval
from ..wording import Option
from .registry import Statement, finding, note, serious, warning

MISMATCHED = 3.29
"""Deviates beyond which a right experiment has such a share in 1 of 1,000 logs, which is the usual bound: Fabijan and
others (2019), Diagnosing sample ratio mismatch in online controlled experiments."""
PLACEBO_CHANCE = 0.0005
"""Share of right experiments that say so, for all pairs of arms together; 3.5 standard errors of one pair."""
FEW_SHARED = 0.01  # Share of the users that may be in several arms by new cookies or devices
BY_USER = 0.25  # Of the share that there would be if chance drew the arm of each row: with less, users kept their arm
MOVED_CLEARLY = 4.0  # Normal deviates of the clearest of some 27 windows: right logs reach it in 1 of 1,000 at most
RELATIVE = 0.1  # Least change, as a share of the larger of the two means
_LATE = 0.75  # Share of the log from which on clicks may not have arrived yet
NEAR_ONE = 0.1
"""How much less than 1 the larger mean weight may be: else slates are never shown, and more of them at some times."""
CONFOUNDED = 3.0
"""Standard errors between a difference of two arms in all and within equal shares; with more, no number is given."""


@dataclass(frozen=True)
class Window:
    """A part of a log by its time, or by the order of its rows, held against the rest."""

    first: float  # share of the log that comes before it
    last: float  # share of the log up to its end
    inside: float  # mean of the outcome, or share of an arm
    outside: float
    deviates: float  # how clearly they differ, as a normal deviate of the clearest
    when: tuple[str, str] | None = None  # its times


@dataclass(frozen=True)
class Ramp:
    """Two arms of an experiment along its log."""

    column: str  # that tells the arms
    arm: str
    other: str
    window: Window  # of the share of the first
    pooled: Interval  # difference of their means in all
    within: Interval  # and within short parts of the log
    apart: Interval  # the first less the second


@dataclass(frozen=True)
class AlongEvidence:
    """What moves along a log."""

    moved: Window | None = None  # where the outcome differs most
    ramps: tuple[Ramp, ...] = ()  # pairs of arms
    weights: Window | None = None  # where the mean weight of the uniform policy differs most
    fine: bool = False  # whether it is along times of day


@dataclass(frozen=True, kw_only=True)
class ArmsEvidence:
    """The arms of an experiment."""

    column: str = "arm"
    shares: Mapping[str, tuple[Interval, float]] = field(default_factory=dict)  # of impressions, and as designed


@dataclass(frozen=True, kw_only=True)
class ControlEvidence:
    """A control in an experiment."""

    column: str = "past_rate"
    arms: str = "arm"  # the column of the arms
    away: Mapping[str, Interval] = field(default_factory=dict)  # by arm, its mean there less that of all rows


@dataclass(frozen=True)
class PlaceboEvidence:
    """Rows in which two rankers of an experiment show the same."""

    column: str = "arm"
    arms: tuple[str, ...] = ("A", "B")
    pairs: int = 1  # how many pairs of arms there are
    first: bool = False  # whether only the first item is the same, and its clicks are the outcome; else list and reward
    rows: tuple[float, ...] = (0.0, 0.0)  # of each arm, weighted by how likely the other shows the same
    means: tuple[float, ...] = (0.0, 0.0)
    deviates: float = 0.0  # how clearly the means differ, as a normal deviate
    drawn: bool = False  # whether a ranker draws, so that the weights rest on its law


@dataclass(frozen=True)
class SharedUnitsEvidence:
    """Users, or visits, of several rows."""

    column: str = "arm"
    unit: str = "user"
    shared: float = 0.0  # share of them with rows in more than one arm
    by_row: float = 1.0  # that share if chance drew the arm of each row


@finding("sample-ratio", "Shares of the arms", lambda found: found.shares, cause=("rows", "arms"))
def sample_ratio(found: ArmsEvidence) -> Statement | None:
    arm, (share, planned) = max(found.shares.items(), key=lambda one: one[1][0].deviation(one[1][1]))
    if not share.deviation(planned) > MISMATCHED:
        return None
    value, ends = Span.of(share).percents(signed=False, border=planned)
    return serious(
        f"Arm `{arm}` of `{found.column}` has {value} of the impressions ({ends}) instead of the planned "
        f"{100 * planned:.4g} %: one arm has lost or gained rows, so the arms no longer differ by chance alone.",
        "Find out where the rows went, such as crashes, redirects, bots or filters that affect one arm more than "
        "another; or correct the planned shares.",
    )


@finding("control-moved", "Control by arm", lambda found: found.away, cause=("rows", "arms"))
def control_moved(found: ControlEvidence) -> Statement | None:
    arm, away = max(found.away.items(), key=lambda one: one[1].deviation(0.0))
    if not away.deviation(0.0) > MISMATCHED:
        return None
    return serious(
        f"The mean of control `{found.column}` in arm `{arm}` of `{found.arms}` is {Span.of(away).number(signed=True)} "
        f"from its overall mean ({away.deviation(0.0):.1f} standard errors): the control depends on the arm, or the "
        "arms were not assigned at random.",
        "Use a column whose value was known before the impression, such as the user's past click rate; or cluster "
        "by the unit that was randomised, such as the user.",
    )


@finding("unlike-arms", "Arms that show the same", cause=("rows", "arms"))
def unlike_arms(found: PlaceboEvidence) -> Statement | None:
    """A placebo: the same list earns the same, whichever arm served it, if nothing else differs between the arms."""
    if not found.pairs * math.erfc(found.deviates / math.sqrt(2)) < PLACEBO_CHANCE:
        return None
    (one, other), (mine, theirs) = found.arms, apart(*found.means)
    same, earned = ("first item", "clicks on it") if found.first else ("list", "the outcome")
    perhaps = ", or users look further before they click the first" if found.first else ""
    if found.drawn:
        perhaps += ", or one of them draws by another law than is given here"
        shown = f"Weighted by how likely both rankers show the same {same}, {sum(found.rows):,.0f} impressions"
        said = f"{shown} have different outcomes: {earned}"
    else:
        said = f"In {sum(found.rows):,.0f} impressions both rankers show the same {same}, yet {earned}"
    return warning(
        f"{said} per impression is {mine} in arm `{one}` of `{found.column}` and {theirs} in `{other}` "
        f"({found.deviates:.1f} standard errors): the arms differ by more than their rankers, such as times, users, "
        f"speed or tracking{perhaps}.",
        "Find out what: shares that were changed during the test, or users who were not assigned at random, make the "
        "difference of the arms wrong; of an arm that is slower or loses clicks it is right, but not of its ranker.",
    )


@finding("shared-users", "Users in several arms", lambda found: found.shared > 0, cause="arms")
def shared_users(found: SharedUnitsEvidence) -> Statement:
    """Who has met both rankers behaves by both, and the means of the arms are of partly the same users."""
    said = f"Of the values of `{found.unit}` with several rows, {percent(found.shared)} are in more than one arm of "
    said += f"`{found.column}`"
    if found.shared >= BY_USER * found.by_row:
        return note(
            f"{said}: the arm was drawn by impression or visit. What one ranker shows may change what the same user "
            "does under the other.",
            f"If the test was to be randomised by `{found.unit}`, its assignment is broken; else this is as designed.",
        )
    return Statement.of(
        "note" if found.shared <= FEW_SHARED else "warning",
        f"{said}, while the others kept their arm. If the test was randomised by `{found.unit}`, this is a fault: they "
        "met both rankers, which blurs the difference of the arms.",
        "Find out why their arm changed (new cookies, another device, a new assignment), or remove their rows.",
    )


@finding("outcome-moves", "Outcome along the log", lambda found: _clearly(found.moved), cause=("outcome", "level"))
def outcome_moves(found: AlongEvidence) -> Statement:
    """What a log says of all of its days may hold of none, and days without their clicks are in every mean."""
    moved = found.moved
    assert moved is not None
    inside, outside = apart(moved.inside, moved.outside)
    late = moved.last >= 1 and moved.first >= _LATE and moved.inside < moved.outside
    cause = "the last clicks have not arrived yet" if late else "tracking broke, stock ran out or users changed"
    return warning(
        f"The outcome changes along the log: {inside} per impression {where_in_log(moved)}, "
        f"{outside} in the rest ({moved.deviates:.1f} standard errors). Every value is a mean over "
        f"both. Perhaps {cause}{'' if moved.when else '; or the rows are sorted by something else than time'}.",
        "If clicks are missing there, omit that part. If times differ, judge each by itself ({} where the log "
        "has such a column), and trust relative changes more than values.",
        Option("by", "day"),
    )


def _clearly(moved: Window | None) -> bool:
    if moved is None:
        return False
    change = abs(moved.inside - moved.outside)
    return moved.deviates > MOVED_CLEARLY and change > RELATIVE * max(abs(moved.inside), abs(moved.outside))


def where_in_log(window: Window) -> str:
    """Where in the log a window is, in words."""
    if window.when:
        return f"on {window.when[0]}" if len({*window.when}) == 1 else "from {} to {}".format(*window.when)
    if window.last >= 1:
        return f"in the last {percent(1 - window.first)} of the rows"
    return f"in the rows from {percent(window.first)} to {percent(window.last)} of the log"


@finding("weights-move", "Mean weight along the log", lambda found: _clearly(found.weights), cause="propensities")
def weights_move(found: AlongEvidence) -> Statement | None:
    """Right propensities give the uniform policy a mean weight of 1 in every part of a log."""
    moved = found.weights
    if moved is None or not max(moved.inside, moved.outside) > 1 - NEAR_ONE:
        return None
    inside, outside = apart(moved.inside, moved.outside)
    return warning(
        f"The mean weight of the uniform policy is {inside} {where_in_log(moved)} and {outside} in "
        f"the rest ({moved.deviates:.1f} standard errors). Right propensities give 1 everywhere.",
        "Find out whether the logging policy was changed there: remove those rows, or write their own propensities.",
    )


@finding("shares-moved", "Shares of the arms along the log", lambda found: found.ramps, cause=("rows", "arms"))
def shares_moved(found: AlongEvidence) -> Statement | None:
    """Each arm then has its rows at other times: a ramped test compares weeks, not rankers."""
    moved = [one for one in found.ramps if one.window.deviates > MOVED_CLEARLY]
    one = max(moved, key=lambda ramp: ramp.apart.deviation(0.0), default=None)
    if one is None:
        return None
    confounded = one.apart.deviation(0.0) > CONFOUNDED
    if not (confounded or (found.moved is not None and found.moved.deviates > MOVED_CLEARLY)):
        return None
    pooled, within = Span.of(one.pooled), Span.of(one.within)
    return Statement.of(
        "serious" if confounded else "warning",
        f"Arm `{one.arm}` of `{one.column}` has {percent(one.window.inside)} of the impressions "
        f"{where_in_log(one.window)} and {percent(one.window.outside)} in the rest, while the outcome changed too. The "
        f"means of the arms compare times, not only rankers: `{one.arm}` less `{one.other}` is "
        f"{pooled.number(signed=True)} in all, but {within.number(signed=True)} ({within.interval(signed=True)}) "
        "within parts of the log with equal shares.",
        "Compare the arms within a period of constant shares: remove the rows from before the shares were changed.",
    )
