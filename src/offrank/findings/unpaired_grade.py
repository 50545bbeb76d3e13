"""`unpaired-grade`: documents without a partner of their grade."""

from .evidence import OfCmip
from .registry import Said, finding


@finding("unpaired-grade", "Grades", lambda found: found.unpaired)
def unpaired_grade(found: OfCmip) -> Said:
    return Said(
        "note",
        f"Up to {found.unpaired:,} documents had a grade that the other random half lacked, and were left out of a "
        "half.",
        "Judge more documents of the rare grades.",
    )
