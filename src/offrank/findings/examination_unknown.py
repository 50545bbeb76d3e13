"""`examination-unknown`: ranks, or cells, whose examination the log does not identify."""

from ..formatting import percent
from .evidence_clicks import FitEvidence
from .registry import Statement, finding

MANY = 0.01
"""Share of the impressions in cells whose examination is not identified."""
ERROR = 0.3
"""Standard error of a continuation, in logits, above which a log does not identify how far users read."""
VARIABILITY = 0.02
"""Variance of ranks below which the continuation rests on a few documents that moved by chance."""


@finding("examination-unknown", "Examination", cause="click model")
def examination_unknown(found: FitEvidence) -> Statement | None:
    if found.hidden >= MANY:
        return Statement(
            "warning",
            f"{percent(found.hidden, 0)} of the views are at positions whose examination cannot be estimated from "
            "this log: "
            "almost no document was clicked both there and elsewhere. The estimates assume that documents are "
            "equally attractive at all positions.",
            "Use this model only to predict clicks on rankings like those in the log. To learn examination and "
            "relevance, use a log in which documents change positions.",
        )
    if found.error > ERROR or found.rank_variability < VARIABILITY:
        return Statement(
            "warning",
            "The log says little about how far users read: too few documents were clicked at different ranks. The "
            "continuation is determined mostly by the prior of the documents.",
            "Use this model only to predict clicks on rankings like those in the log. To learn continuation and "
            "relevance, use a log in which documents change positions.",
        )
    return None
