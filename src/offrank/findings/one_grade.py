"""`one-grade`: documents with one grade only."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("one-grade", "Grades", lambda found: found.grades == 1, cause="measure")
def one_grade(_: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        "All documents have one grade: agreement that true relevance explains is not told apart from bias.",
        "Give the grades of several levels.",
    )
