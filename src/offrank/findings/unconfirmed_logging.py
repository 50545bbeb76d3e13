"""The logging policy was read off the log, and nobody has confirmed it."""

from ..formatting import percent
from ..wording import Option, Wording
from .evidence import LogEvidence
from .registry import Statement, finding

BLIND = 0.2
"""Share of rows in a fixed order from which a log that would not show them tells too little of what drew it."""


UNCONFIRMED = "unconfirmed-logging"


@finding(UNCONFIRMED, "Logging policy", lambda log: log.unconfirmed is not None, cause="logging policy")
def unconfirmed_logging(log: LogEvidence) -> Statement:
    """The log does not contradict the policy; that does not make it the one that drew the log."""
    least = log.unconfirmed or 0.0
    blind = least > BLIND
    shown = (
        f"this log could not reveal that {'all' if least >= 1 else f'{percent(least, 0)}'} of its slates were fixed "
        "instead of drawn."
        if blind
        else f"the smallest share of fixed slates that this log could reveal is {least:.2g}."
    )
    return Statement(
        "serious" if blind else "warning",
        f"The logging policy {log.logging} was inferred from this log, and nobody has confirmed that it generated "
        f"the slates: {shown}",
        Wording("If you know that it did, confirm it with {}.", Option("logging", log.logging)),
    )
