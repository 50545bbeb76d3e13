"""`no-clicks`: a log without clicks, judged or learnt from."""

from ..wording import ColumnNames, Wording
from .evidence_clicks import FitEvidence
from .evidence_rows import KeptEvidence
from .registry import Statement, finding


@finding("no-clicks", "Clicks", lambda found: not found.clicked, cause="click model")
def no_clicks(_: FitEvidence) -> Statement:
    return Statement(
        "serious",
        "No session has a click: the model's documents and ranks are determined by its priors alone.",
        Wording("Check that the right column is read as clicks ({}).", ColumnNames({"clicks": "NAME"})),
    )


FEWEST = 1000
"""Rows without a single click or reward, from which something else is read as clicks, or they were not logged."""


@finding("no-clicks", "Clicks", lambda kept: kept.rows[0] >= FEWEST and not kept.rows[1], cause="outcome")
def none_logged(kept: KeptEvidence) -> Statement | None:
    if not kept.clicks:
        return None
    return Statement(
        "serious",
        f"None of {kept.rows[0]:,.0f} rows has a click or a reward, so every policy seems to earn 0.",
        Wording("Check that the right column is read as clicks ({}).", ColumnNames({"clicks": "NAME"})),
    )
