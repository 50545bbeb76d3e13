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
            "The model gives every document the same relevance, so its judgements carry no information.",
            "Use a model of documents, such as pbm, ubm or dbn.",
        )
    if not found.intervals:
        return Statement(
            "warning",
            "The model has no posterior for relevance, so the uncertainty of the judgements is unknown.",
            "Use a model that has one, such as pbm, ubm or dbn.",
        )
    if found.wide:
        share = found.wide / found.documents
        return Statement(
            "serious" if share > MOST else "warning" if share > MANY else "note",
            f"{found.wide:,} of {found.documents:,} documents have an interval wider than two grades: they were "
            "shown too rarely to be graded.",
            "Keep the documents with a high certainty or with many sessions, or train on a longer log.",
        )
    return None
