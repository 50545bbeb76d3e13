"""`no-clicks`: a click model learnt from a log without clicks."""

from ..wording import ColumnNames, Wording
from .evidence_clicks import FitEvidence
from .registry import Statement, finding


@finding("no-clicks", "Clicks", lambda found: not found.clicked, cause="click model")
def no_clicks(_: FitEvidence) -> Statement:
    return Statement(
        "serious",
        "Nothing was clicked in any session: what the model says of documents and ranks is its priors, not the log's.",
        Wording("Look whether the right column is read as clicks ({}).", ColumnNames({"clicks": "NAME"})),
    )
