"""`only-clicked-rows`: a log in which every impression was clicked."""

from ..wording import Option, Wording
from .evidence_rows import KeptEvidence
from .registry import Statement, finding

FEWEST = 100
"""Rows. Even if 9 of 10 impressions are clicked, so many without an exception have a chance of 1 in 38,000."""


@finding("only-clicked-rows", "Rows without a click", lambda kept: kept.clicks and not kept.rows[0], cause="sampling")
def only_clicked_rows(kept: KeptEvidence) -> Statement | None:
    if kept.rows[1] < FEWEST or (kept.totals and kept.totals.get("clicked") == kept.totals.get("all")):
        return None
    rows = int(kept.rows[1])
    return Statement(
        "serious",
        f"Each of the {rows:,} impressions was clicked: impressions without a click seem to be missing, so click "
        "rates cannot be estimated.",
        Wording(
            "Use a log that also has impressions without a click, or a known share of them (then write "
            "`inclusion`). If every impression really was clicked, confirm it: {}.",
            Option("totals", {"clicked": rows, "all": rows}),
        ),
    )
