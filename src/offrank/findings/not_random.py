"""Rows of one context show the same far more often than the logging policy says."""

from .evidence import LogEvidence, Repeats
from .miscalibrated import UNLIKELY
from .registry import Statement, finding

FIXED = 0.1
"""Share of pairs that repeat for no reason of chance, from which no estimate is used: so many weights are wrong."""
_EVERY = 0.99
"""Share of the pairs from which rows of one context never differ."""


@finding("not-random", "Randomness of the slates", cause="randomness")
def not_random(log: LogEvidence) -> Statement | None:
    """The log is less random than the logging policy says, or not random at all."""
    found = log.repeats
    if found is None or not repeated(log):
        return None
    return Statement(
        "serious" if found.fixed >= FIXED else "warning",
        f"{repeats_in_words(found)} under {log.logging}: "
        + (
            "the slates are fixed, not drawn at random."
            if never_drawn(log)
            else "part of it was not drawn from this policy."
        ),
        _remedy(found),
    )


def repeated(log: LogEvidence) -> bool:
    """Whether a correct log would hardly ever repeat itself so often. Rows that are copies add no information."""
    return log.repeats is not None and log.repeats.chance ** (1 - log.copies) < UNLIKELY


def repeats_in_words(found: Repeats) -> str:
    """How often two rows show the same, in words."""
    where = {"query": "one query", "user": "one user and the same candidates"}.get(found.by, "the same candidates")
    rate, wanted = (f"{one / found.pairs:.2g}" for one in (found.observed, found.expected))
    return f"Two rows of {where} show the same {found.what} with frequency {rate}, where {wanted} is expected"


def never_drawn(log: LogEvidence) -> bool:
    """Whether rows of one context (hardly) ever differ: then nothing else has to be the cause."""
    return log.repeats is not None and log.repeats.observed >= _EVERY * log.repeats.pairs


def _remedy(found: Repeats) -> str:
    if found.by == "user":
        return (
            "If a slate is drawn once for each user and then kept, keep one row per user and slate. If every user "
            "has a fixed list, the log has no randomness: only a user model can judge another ranking."
        )
    return (
        "Look for lists that are fixed for a query, cached, or sorted by a score that the log lacks. Slates that "
        "were not drawn at random have no importance weights: use a user model (pbm, click models), or show a "
        "random slate now and then."
    )
