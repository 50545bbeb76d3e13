"""`no-policy`: a logging policy that does not distinguish documents, so that no model can copy it."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("no-policy", "No policy to copy", lambda found: found.level, cause="measure")
def no_policy(_: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        "Within every grade, the logging policy gives all documents the same expected rank: no model could copy "
        "it, and each has a CMIP of 0.",
        "Choose by perplexity and nDCG. If the policy does rank documents, give their expected ranks.",
    )
