"""`unseen-documents`: documents that were not in a click model's training log."""

from ..formatting import percent
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
    counts = "as their features predict" if by_features else "like an average document"
    return Statement(
        "warning" if by_features or found.control >= 1 - MOSTLY_UNKNOWN else "serious",
        f"{percent(1 - found.control, 0)} of what the target shows does not occur in the training log of the "
        "model, and is "
        f"assumed to be clicked {counts}.",
        Wording("Train on a log that shows more of it, or by item alone ({}) if queries are rare.", Option("by", None)),
    )


@finding("unseen-documents", "Unseen documents", lambda found: found.unseen > 0, cause="click model")
def of_prediction(found: PredictionEvidence) -> Statement:
    if found.features:
        return Statement(
            "note",
            f"{percent(found.unseen, 1)} of the shown documents do not occur in the model's training log: the model "
            "predicts them from their features.",
            "Nothing, if their features are like those of the training log.",
        )
    return Statement(
        "serious" if found.unseen > MOST_UNSEEN else "warning" if found.unseen > MANY_UNSEEN else "note",
        f"{percent(found.unseen, 1)} of the shown documents do not occur in the model's training log: the "
        "model treats them "
        "as average documents.",
        "Train on a log with the same queries and items. If they are the same, check how their ids are written.",
    )
