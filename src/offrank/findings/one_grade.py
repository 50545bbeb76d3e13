"""`one-grade`: what one grade alone cannot tell."""

from .evidence import OfCmip
from .registry import Said, finding


@finding("one-grade", "Grades")
def one_grade(found: OfCmip) -> Said | None:
    if found.grades != 1:
        return None
    return Said(
        "warning",
        "All documents have one grade: agreement that true relevance explains is not told apart from bias.",
        "Give the grades of several levels.",
    )
