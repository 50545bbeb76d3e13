"""`duplicate-rows`: rows that were written more than once."""

from .evidence import RowsEvidence
from .registry import Statement, finding


@finding("duplicate-rows", "Rows written twice", lambda found: found.copies > 0, cause="rows")
def duplicate_rows(found: RowsEvidence) -> Statement:
    return Statement(
        "warning",
        f"At least {found.copies:.0%} of the rows are copies of others: equal rows come together far more often than "
        "independent impressions would make them.",
        "Look for a file that is read twice, or a join that multiplies rows. Copies make intervals too narrow: leave "
        "them out, or cluster by what they share.",
    )
