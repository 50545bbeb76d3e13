"""`unread-rate`: a column that follows the outcome like a rate with which rows were kept, and is not read."""

from ..formatting import quote
from ..wording import ColumnNames, Wording
from .evidence_rows import KeptEvidence
from .registry import Statement, finding


@finding("unread-rate", "Rates of kept rows", lambda kept: kept.unread is not None, cause="sampling")
def unread_rate(kept: KeptEvidence) -> Statement:
    found = kept.unread
    assert found is not None
    return Statement(
        "serious",
        f"The column {quote(found.column)} is {found.low:g} in rows without a click or reward and {found.high:g} in "
        "others, so it looks like the rate with which rows were kept. It is not read: then every value is wrong by "
        "the ratio of these rates.",
        Wording(
            "If it is that rate, say so ({}); if it is anything else, remove it from the table.",
            ColumnNames({"inclusion": found.column}),
        ),
    )
