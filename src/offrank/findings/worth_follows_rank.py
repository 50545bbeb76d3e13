"""`worth-follows-rank`: good documents that were shown high."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding

BENT = 0.01
"""How far a prior that all documents share may move a continuation, before the order of the documents matters."""


@finding("worth-follows-rank", "Continuation", lambda found: abs(found.bend) > BENT, cause="click model")
def worth_follows_rank(found: FitEvidence) -> Statement:
    return Statement(
        "note",
        "Better documents were shown higher, or lower: one prior for all documents would change the continuation "
        f"by {-found.bend:+.3f}. Each document has a prior by its ranks instead, and half of this change is added "
        "as a standard deviation of the continuation, because a log does not tell which prior is right.",
        "For a more certain continuation and satisfaction, use a log in which documents change ranks.",
    )
