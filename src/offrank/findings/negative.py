"""`negative`: a negative estimate of a value that cannot be negative."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("negative", "Sign", lambda found: found.value < 0, cause="measure")
def negative(found: CmipEvidence) -> Statement:
    return Statement(
        "note",
        f"The estimate is below 0 ({found.value:.4f}), where the truth cannot be.",
        "Read the interval and the p-value; it is no proof of a debiased model.",
    )
