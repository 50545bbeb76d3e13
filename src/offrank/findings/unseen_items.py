"""`unseen-items`: items that the target shows but the log's slates do not contain."""

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence
from .model_weights import of_model
from .registry import Statement, finding

COVERED = 0.99
"""Share of the target's items."""


@finding("unseen-items", "Unseen items", cause=("overlap", "coverage"))
def unseen_items(found: EstimateEvidence) -> Statement | None:
    if found.normalised or found.kind == "model" or not found.control < COVERED:
        return None
    if of_model(found):
        return Statement(
            "serious",
            f"{1 - found.control:.0%} of the clicks that the model expects of the target are on items that no logged "
            "slate can speak for, and count as nothing.",
            "In an A/B test say form=logging and the logging policy, which knows what the other ranker shows. A log "
            "that never shows an item bounds the answer, and cannot give it.",
            missing=1 - found.control,
        )
    return Statement(
        "serious",
        f"{1 - found.control:.0%} of what the target shows is not in the logged slates, and counts as earning nothing.",
        Wording(
            "Use interpol with a wide window ({}), which knows how likely an item was shown; pbm is for logs that "
            "show every candidate.",
            EstimatorOption("interpol(window=2)"),
        ),
        missing=1 - found.control,
    )
