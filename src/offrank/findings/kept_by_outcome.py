"""`kept-by-outcome`: rows that were kept or left out by what was clicked, at rates that the log cannot test."""

from ..wording import Option, Wording
from .evidence_rows import KeptEvidence
from .registry import Statement, finding

FAR = 5.0
"""Standard errors between the mean inclusion of rows with and without a click."""


@finding(
    "kept-by-outcome",
    "Rows kept by their outcome",
    lambda kept: kept.clicks and set(kept.totals) < {"clicked", "all"},
    cause="outcome",
)
def kept_by_outcome(kept: KeptEvidence) -> Statement | None:
    if not kept.apart > FAR:
        return None
    clicked, every = kept.estimated("clicked")[0], kept.estimated("all")[0]
    return Statement(
        "note",
        "Rows were kept depending on whether they were clicked. Every estimate depends on the rates in "
        f"`inclusion`, which this log cannot test. They imply {every:,.0f} impressions, {clicked:,.0f} of them with "
        "a click.",
        Wording("To test the rates, give the true numbers of impressions, clicked and in all ({}).", Option("totals")),
    )
