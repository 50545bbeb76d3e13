"""`shares-moved`: the shares of an experiment's arms change along the log, and so does what rows earn."""

from ..formatting import Span, percent
from .evidence_rows import AlongEvidence
from .outcome_moves import clear, where_in_log
from .registry import Statement, finding

CONFOUNDED = 3.0
"""Standard errors between the difference of two arms in all, and within parts of equal shares, from which no number is
given. Below, both differ by less than the log can show, but a change of the outcome too makes the first one doubtful."""


@finding("shares-moved", "Shares of the arms along the log", cause=("rows", "arms"))
def shares_moved(found: AlongEvidence) -> Statement | None:
    """Each arm then has its rows at other times: a ramped test compares weeks, not rankers."""
    moved = [one for one in found.ramps if clear(one.window)]
    one = max(moved, key=lambda ramp: ramp.apart.deviation(0.0), default=None)
    if one is None:
        return None
    confounded = one.apart.deviation(0.0) > CONFOUNDED
    if not (confounded or (found.moved is not None and clear(found.moved))):
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
