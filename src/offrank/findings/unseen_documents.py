"""`unseen-documents`: documents that were not in a click model's training log."""

from ..wording import Option, Wording
from .evidence import EstimateEvidence
from .evidence_clicks import PredictionEvidence
from .registry import Statement, finding

UNKNOWN = 0.01
"""Share of the target's documents."""
MOSTLY_UNKNOWN = 0.2
MANY_UNSEEN = 0.2
"""Share of the documents shown in the evaluation log."""
MOST_UNSEEN = 0.5


@finding(
    "unseen-documents",
    "Unseen documents",
    lambda found: found.kind == "model" and found.control < 1 - UNKNOWN,
    cause="click model",
)
def of_estimate(found: EstimateEvidence) -> Statement:
    by_features = found.model is not None and found.model.features
    counts = "as its features predict" if by_features else "like an average document"
    return Statement(
        "warning" if by_features or found.control >= 1 - MOSTLY_UNKNOWN else "serious",
        f"{1 - found.control:.0%} of what the target shows was never shown in the log that the model has learnt from, "
        f"and counts as clicked {counts}.",
        Wording(
            "Learn from a log that shows more of it, or by items alone ({}) where queries are rare.", Option("by", None)
        ),
    )


@finding("unseen-documents", "Unseen documents", lambda found: found.unseen > 0, cause="click model")
def of_prediction(found: PredictionEvidence) -> Statement:
    if found.features:
        return Statement(
            "note",
            f"{found.unseen:.1%} of the shown documents were not in the log that the model learnt from: it expects of "
            "them what their features predict.",
            "Nothing, if their features are like those of the log.",
        )
    return Statement(
        "serious" if found.unseen > MOST_UNSEEN else "warning" if found.unseen > MANY_UNSEEN else "note",
        f"{found.unseen:.1%} of the shown documents were not in the log that the model learnt from: it expects of them "
        "what it expects of any.",
        "Learn from a log with the same queries and items; if these are the same, look how their ids are written.",
    )
