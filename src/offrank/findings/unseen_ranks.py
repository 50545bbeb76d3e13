"""`unseen-ranks`: slates that are longer than those in the training log."""

from .evidence_clicks import PredictionEvidence
from .registry import Statement, finding


@finding("unseen-ranks", "Unseen ranks", lambda found: 0 < found.learnt < found.slots, cause="click model")
def unseen_ranks(found: PredictionEvidence) -> Statement:
    return Statement(
        "warning",
        f"Slates have up to {found.slots} ranks, and the model learnt from {found.learnt}: what it says of rank "
        f"{found.learnt} goes on below.",
        "Learn from slates as long as these.",
    )
