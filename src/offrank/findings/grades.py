"""The grades of a measure: one grade only, grades that are too small, and those without a partner."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("one-grade", "Grades", lambda found: found.grades == 1, cause="measure")
def one_grade(_: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        "All documents have the same grade, so agreement because of true relevance cannot be distinguished from bias.",
        "Give grades of several levels.",
    )


@finding("small-grade", "Grades", lambda found: found.left_out, cause="measure")
def small_grade(found: CmipEvidence) -> Statement:
    told = ", ".join(f"{grade:g} ({size})" for grade, size in found.left_out)
    total = sum(size for _, size in found.left_out)
    return Statement(
        "note",
        f"{total:,} documents were left out because their grades have too few documents: {told}.",
        "Judge more documents of these grades.",
    )


@finding("unpaired-grade", "Grades", lambda found: found.unpaired, cause="measure")
def unpaired_grade(found: CmipEvidence) -> Statement:
    return Statement(
        "note",
        f"Up to {found.unpaired:,} documents had a grade that is missing in the other random half, and were left "
        "out of their half.",
        "Judge more documents of the rare grades.",
    )
