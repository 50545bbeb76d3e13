"""`negative`: an estimate where the truth cannot be."""

from .evidence import OfCmip
from .registry import Said, finding


@finding("negative", "Sign")
def negative(found: OfCmip) -> Said | None:
    if not found.value < 0:
        return None
    return Said(
        "note",
        f"The estimate is below 0 ({found.value:.4f}), where the truth cannot be.",
        "Read the interval and the p-value; it is no proof of a debiased model.",
    )
