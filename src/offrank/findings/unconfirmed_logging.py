"""The logging policy was read off the log, and nobody has confirmed it."""

from ..wording import Option, Wording
from .evidence import LogEvidence
from .registry import Statement, finding

BLIND = 0.2
"""Share of rows in a fixed order from which a log that would not show them tells too little of what drew it."""


UNCONFIRMED = "unconfirmed-logging"


@finding(UNCONFIRMED, "What drew the log", lambda log: log.unconfirmed is not None, cause="logging policy")
def unconfirmed_logging(log: LogEvidence) -> Statement:
    """The log does not contradict the policy; that does not make it the one that drew the log."""
    least = log.unconfirmed or 0.0
    blind = least > BLIND
    shown = (
        f"this log would not have shown it if {'all' if least >= 1 else f'{least:.0%}'} of its slates were fixed, not "
        "drawn."
        if blind
        else f"the smallest share of fixed slates that this log would have shown is {least:.2g}."
    )
    return Statement(
        "serious" if blind else "warning",
        f"{log.logging} was read off this log, and nobody has confirmed that it drew the slates: {shown}",
        Wording("If you know that they were drawn so, say {}.", Option("logging", log.logging)),
    )
