"""`unseen-ranks`: slates that are longer than those in the training log."""

from .evidence_clicks import PredictionEvidence
from .registry import Statement, finding


@finding("unseen-ranks", "Unseen ranks", lambda found: 0 < found.learnt < found.slots, cause="click model")
def unseen_ranks(found: PredictionEvidence) -> Statement:
    return Statement(
        "warning",
        f"Slates have up to {found.slots} ranks, but the model was trained on {found.learnt}: its values at rank "
        f"{found.learnt} are used below that.",
        "Train on slates of this length.",
    )
