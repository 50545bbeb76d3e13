"""`no-information`: a model that does not distinguish documents, or with a policy that does not where it does."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding(
    "no-information", "Information", lambda found: found.constant and not found.level, convicts=True, cause="measure"
)
def no_information(_: CmipEvidence) -> Statement:
    return Statement(
        "serious",
        "Within every grade, the model or the logging policy gives all documents the same relevance: CMIP is 0.",
        "This does not mean that the model is good: check nDCG, and use another model.",
    )
