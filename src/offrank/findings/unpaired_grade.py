"""`unpaired-grade`: documents without a partner of their grade."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("unpaired-grade", "Grades", lambda found: found.unpaired, cause="measure")
def unpaired_grade(found: CmipEvidence) -> Statement:
    return Statement(
        "note",
        f"Up to {found.unpaired:,} documents had a grade that is missing in the other random half, and were left "
        "out of their half.",
        "Judge more documents of the rare grades.",
    )
