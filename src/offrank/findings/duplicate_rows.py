"""`duplicate-rows`: rows that were written more than once."""

from ..formatting import percent
from .evidence import RowsEvidence
from .registry import Statement, finding


@finding("duplicate-rows", "Rows written twice", lambda found: found.copies > 0, cause="rows")
def duplicate_rows(found: RowsEvidence) -> Statement:
    return Statement(
        "warning",
        f"At least {percent(found.copies, 0)} of the rows are copies of other rows: equal rows occur in pairs far more "
        "often than in independent impressions.",
        "Look for a file that is read twice, or a join that duplicates rows. Copies make intervals too narrow: "
        "remove them, or cluster by what they share.",
    )
