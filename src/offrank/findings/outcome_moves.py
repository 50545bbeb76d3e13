"""`outcome-moves`: the outcome changes along the log by more than chance."""

from ..formatting import percent
from ..wording import Option, Wording
from .evidence_rows import AlongEvidence, Window
from .registry import Statement, finding

CLEAR = 4.0
"""Normal deviates of the clearest of some 27 windows: right logs reach it in 1 of 1,000 at most."""
RELATIVE = 0.1
"""Least change, as a share of the larger of the two means."""
_LATE = 0.75
"""Share of the log from which on clicks may not have arrived yet."""


@finding("outcome-moves", "Outcome along the log", lambda found: found.moved is not None, cause=("outcome", "level"))
def outcome_moves(found: AlongEvidence) -> Statement | None:
    """What a log says of all of its days may hold of none, and days without their clicks are in every mean."""
    moved = found.moved
    assert moved is not None  # the finding's condition
    change = abs(moved.inside - moved.outside)
    if not (clear(moved) and change > RELATIVE * max(abs(moved.inside), abs(moved.outside))):
        return None
    if moved.last >= 1 and moved.first >= _LATE and moved.inside < moved.outside:
        cause = "Perhaps the clicks of the last rows have not arrived yet"
    else:
        cause = "Perhaps tracking broke, stock ran out or users changed"
    return Statement(
        "warning",
        f"The outcome changes along the log: {moved.inside:.4g} per impression {where_in_log(moved)}, "
        f"{moved.outside:.4g} in the rest ({moved.deviates:.1f} standard errors). Every value is a mean over "
        f"both. {cause}; or the rows are sorted by something else than time.",
        Wording(
            "If clicks are missing there, omit that part. If times differ, judge each by itself ({} where the log "
            "has such a column), and trust relative changes more than values.",
            Option("by", "day"),
        ),
    )


def clear(window: Window) -> bool:
    """Whether chance alone does not explain what differs there."""
    return window.deviates > CLEAR


def where_in_log(window: Window) -> str:
    """Where in the log a window is, in words."""
    if window.last >= 1:
        return f"in the last {percent(1 - window.first)} of the rows"
    return f"in the rows from {percent(window.first)} to {percent(window.last)} of the log"
