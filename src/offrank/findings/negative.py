"""`negative`: a negative estimate of a value that cannot be negative."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("negative", "Sign", lambda found: found.value < 0, cause="measure")
def negative(found: CmipEvidence) -> Statement:
    return Statement(
        "note",
        f"The estimate is negative ({found.value:.4f}), which the true value cannot be.",
        "Rely on the interval and the p-value. A negative value does not prove that the model is unbiased.",
    )
