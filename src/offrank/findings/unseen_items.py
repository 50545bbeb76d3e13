"""`unseen-items`: items that the target shows but the log's slates do not contain."""

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence
from .registry import Statement, finding

COVERED = 0.99
"""Share of the target's items."""


@finding("unseen-items", "Unseen items", cause=("overlap", "coverage"))
def unseen_items(found: EstimateEvidence) -> Statement | None:
    if found.normalised or found.kind == "model" or not found.control < COVERED:
        return None
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
