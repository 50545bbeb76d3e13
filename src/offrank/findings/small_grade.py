"""`small-grade`: documents of grades that are too small."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("small-grade", "Grades", lambda found: found.left_out, cause="measure")
def small_grade(found: CmipEvidence) -> Statement:
    told = ", ".join(f"{grade:g} ({size})" for grade, size in found.left_out)
    total = sum(size for _, size in found.left_out)
    return Statement(
        "note",
        f"{total:,} documents were left out because their grades have too few documents: {told}.",
        "Judge more documents of these grades.",
    )
