"""`no-information`: a model or a logging policy that does not distinguish documents."""

from .evidence import OfCmip
from .registry import Statement, finding


@finding("no-information", "Information", lambda found: found.constant)
def no_information(_: OfCmip) -> Statement:
    return Statement(
        "serious",
        "Within every grade, the model or the logging policy finds all documents equally relevant: CMIP is 0.",
        "This does not commend the model. Take the expected rank where logging relevance is constant, and look at "
        "nDCG.",
    )
