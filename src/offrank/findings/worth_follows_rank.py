"""`worth-follows-rank`: good documents that were shown high."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding

BENT = 0.01
"""How far a prior that all documents share may move a continuation, before the order of the documents matters."""


@finding("worth-follows-rank", "Continuation", lambda found: abs(found.bend) > BENT, cause="click model")
def worth_follows_rank(found: FitEvidence) -> Statement:
    return Statement(
        "note",
        "Good documents were shown high, or bad ones: one prior for all documents would change the continuation by "
        f"{-found.bend:+.3f}. Each document has a prior by its ranks instead, and half of this change counts as a "
        "standard deviation of the continuation: a log does not tell which prior is right.",
        "For a continuation, and satisfactions, beyond this doubt, take a log in which documents change places.",
    )
