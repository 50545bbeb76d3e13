"""`unseen-items`: items that the target shows but the log's slates do not contain."""

from ..formatting import percent
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
            f"{percent(1 - found.control, 0)} of the target's clicks that the model expects are on items without "
            "support in "
            "the logged slates, and count as zero.",
            "For an A/B test, use form=logging and name the logging policy, so that other rankers' items have "
            "support. If the log never shows an item, it can only bound the answer.",
            missing=1 - found.control,
        )
    return Statement(
        "serious",
        f"{percent(1 - found.control, 0)} of what the target shows does not occur in the logged slates, and "
        "counts as zero.",
        Wording(
            "Use interpol with a wide window ({}), which accounts for the probability that an item was shown. pbm "
            "needs logs that show every candidate.",
            EstimatorOption("interpol(window=2)"),
        ),
        missing=1 - found.control,
    )
