"""`one-grade`: documents with one grade only."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("one-grade", "Grades", lambda found: found.grades == 1, cause="measure")
def one_grade(_: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        "All documents have the same grade, so agreement because of true relevance cannot be distinguished from bias.",
        "Give grades of several levels.",
    )
