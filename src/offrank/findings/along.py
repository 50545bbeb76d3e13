"""What moves along a log, and users who click everything."""

from ..language.formatting import Span, percent
from ..wording import Option, Wording
from .evidence_rows import AlongEvidence, RobotsEvidence, Window
from .registry import Statement, finding

MOVED_CLEARLY = 4.0
"""Normal deviates of the clearest of some 27 windows: right logs reach it in 1 of 1,000 at most."""
RELATIVE = 0.1
"""Least change, as a share of the larger of the two means."""
_LATE = 0.75
"""Share of the log from which on clicks may not have arrived yet."""


@finding("outcome-moves", "Outcome along the log", lambda found: _clearly(found.moved), cause=("outcome", "level"))
def outcome_moves(found: AlongEvidence) -> Statement:
    """What a log says of all of its days may hold of none, and days without their clicks are in every mean."""
    moved = found.moved
    assert moved is not None
    late = moved.last >= 1 and moved.first >= _LATE and moved.inside < moved.outside
    cause = "the last clicks have not arrived yet" if late else "tracking broke, stock ran out or users changed"
    return Statement(
        "warning",
        f"The outcome changes along the log: {moved.inside:.4g} per impression {where_in_log(moved)}, "
        f"{moved.outside:.4g} in the rest ({moved.deviates:.1f} standard errors). Every value is a mean over "
        f"both. Perhaps {cause}{'' if moved.when else '; or the rows are sorted by something else than time'}.",
        Wording(
            "If clicks are missing there, omit that part. If times differ, judge each by itself ({} where the log "
            "has such a column), and trust relative changes more than values.",
            Option("by", "day"),
        ),
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


NEAR_ONE = 0.1
"""How much less than 1 the larger mean weight may be: else slates are never shown, and more of them at some times."""


@finding("weights-move", "Mean weight along the log", lambda found: found.weights is not None, cause="propensities")
def weights_move(found: AlongEvidence) -> Statement | None:
    """Right propensities give the uniform policy a mean weight of 1 in every part of a log."""
    moved = found.weights
    if moved is None or not (_clearly(moved) and max(moved.inside, moved.outside) > 1 - NEAR_ONE):
        return None
    return Statement(
        "warning",
        f"The mean weight of the uniform policy is {moved.inside:.3g} {where_in_log(moved)} and {moved.outside:.3g} in "
        f"the rest ({moved.deviates:.1f} standard errors). Right propensities give 1 everywhere.",
        "Find out whether the logging policy was changed there: remove those rows, or write their own propensities.",
    )


CONFOUNDED = 3.0
"""Standard errors between a difference of two arms in all and within equal shares; with more, no number is given."""


@finding("shares-moved", "Shares of the arms along the log", lambda found: bool(found.ramps), cause=("rows", "arms"))
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
    return Statement(
        "serious" if confounded else "warning",
        f"Arm `{one.arm}` of `{one.column}` has {percent(one.window.inside)} of the impressions "
        f"{where_in_log(one.window)} and {percent(one.window.outside)} in the rest, while the outcome changed too. The "
        f"means of the arms compare times, not only rankers: `{one.arm}` less `{one.other}` is "
        f"{pooled.number(signed=True)} in all, but {within.number(signed=True)} ({within.interval(signed=True)}) "
        "within parts of the log with equal shares.",
        "Compare the arms within a period of constant shares: remove the rows from before the shares were changed.",
    )


ROBOTS, USUAL_USERS = 0.005, 0.3
"""Smallest share of the users, and largest: where more take whole lists, they are no exception."""
CLEARER = 5.0
"""Log-likelihood ratio: with less, they may be the last of users whose rates fall off."""
GROUP_APART = 4.0
"""How many times as many as the users who click a little less."""


@finding("clicked-whole", "Users who click everything", lambda found: found.clearer > CLEARER, cause="outcome")
def clicked_whole(found: RobotsEvidence) -> Statement | None:
    if not (ROBOTS <= found.robots <= USUAL_USERS and found.robots >= GROUP_APART * found.fewer):
        return None
    return Statement(
        "warning",
        f"Of {found.users:,} values of `{found.unit}` with several lists, some {found.robots * found.users:,.0f} "
        f"({percent(found.robots, 1)}) clicked nearly everything in nearly all of them, hardly anyone a little less. "
        f"They have {percent(found.carried, 0)} of the clicks, and may be robots: every value is then too high.",
        f"Leave out the rows of each `{found.unit}` with 5 lists or more who clicked nearly every item in 7 of 10, and "
        "compare both answers. If people do take whole lists, as with songs, this is no fault.",
    )
