"""`few-documents`: fewer documents than the method needs."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("few-documents", "Documents", lambda found: found.n < found.least, cause="measure")
def few_documents(found: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        f"{found.n:,} documents are fewer than the {found.least:,} below which `{found.method}` is a poor measure.",
        "Judge more documents; read the interval and the p-value, not the value.",
    )
