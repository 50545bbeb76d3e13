"""`examination-unknown`: ranks, or cells, whose examination the log does not identify."""

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
            f"{found.hidden:.0%} of the views are in places whose examination the log does not tell: hardly any "
            "document that was seen there and elsewhere was clicked. It is taken to be as though the documents of all "
            "places were alike.",
            "Predict clicks with this model only for rankings like those of the log; its examination and its relevance "
            "need a log in which documents change places.",
        )
    if found.error > ERROR or found.rank_variability < VARIABILITY:
        return Statement(
            "warning",
            "The log hardly tells how far users read: too few documents were clicked at different ranks. What is said "
            "of it is mostly the prior of the documents.",
            "Predict clicks with this model only for rankings like those of the log; its continuation and its "
            "relevance need a log in which documents change places.",
        )
    return None
