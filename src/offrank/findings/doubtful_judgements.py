"""`doubtful-judgements`: judgements of documents that say little, or whose doubt is unknown."""

from .evidence_clicks import JudgementsEvidence
from .registry import Statement, finding

MANY = 0.1
"""Share of the documents whose interval spans more than two grades."""
MOST = 0.5


@finding("doubtful-judgements", "Judgements", cause="measure")
def doubtful_judgements(found: JudgementsEvidence) -> Statement | None:
    if found.alike:
        return Statement(
            "serious",
            "The model gives every document the same relevance: its judgements say nothing.",
            "Judge with a model of documents, such as pbm, ubm or dbn.",
        )
    if not found.intervals:
        return Statement(
            "warning",
            "The model has no posterior of its relevance: how sure the judgements are is unknown.",
            "Judge with a model that has one, such as pbm, ubm or dbn.",
        )
    if found.wide:
        share = found.wide / found.documents
        return Statement(
            "serious" if share > MOST else "warning" if share > MANY else "note",
            f"The intervals of {found.wide:,} of {found.documents:,} documents span more than two grades: these were "
            "seen too rarely to be graded.",
            "Keep those with a high certainty, or those seen often (sessions), or learn from a longer log.",
        )
    return None
