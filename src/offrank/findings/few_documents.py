"""`few-documents`: fewer documents than the method needs."""

from .evidence import CmipEvidence
from .registry import Statement, finding


@finding("few-documents", "Documents", lambda found: found.n < found.least, cause="measure")
def few_documents(found: CmipEvidence) -> Statement:
    return Statement(
        "warning",
        f"There are only {found.n:,} documents, and `{found.method}` needs at least {found.least:,}.",
        "Judge more documents. Rely on the interval and the p-value, not on the value.",
    )
