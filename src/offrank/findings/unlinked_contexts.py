"""`unlinked-contexts`: values of a context whose examination cannot be compared with that of the others."""

from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("unlinked-contexts", "Contexts", lambda found: bool(found.unlinked), cause="click model")
def unlinked_contexts(found: FitEvidence) -> Statement:
    some = ", ".join(map(repr, found.unlinked[:5])) + (" ..." if len(found.unlinked) > 5 else "")
    return Statement(
        "warning",
        f"The examination in {some} cannot be compared with that elsewhere: no clicked document was shown both "
        "there and in other contexts.",
        "Use each of these curves on its own, and do not compare the attractiveness of documents across contexts.",
    )
