"""`no-clicks`: a click model learnt from a log without clicks."""

from ..wording import ColumnNames, Wording
from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("no-clicks", "Clicks", lambda found: not found.clicked, cause="click model")
def no_clicks(_: FitEvidence) -> Statement:
    return Statement(
        "serious",
        "No session has a click: the model's documents and ranks are determined by its priors alone.",
        Wording("Check that the right column is read as clicks ({}).", ColumnNames({"clicks": "NAME"})),
    )
