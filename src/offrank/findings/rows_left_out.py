"""Rows left out while reading, and rows that were kept at a rate which is not read."""

from ..formatting import percent, quote
from ..wording import ColumnNames, Wording
from .evidence_rows import KeptEvidence
from .registry import Statement, finding

FEW_LEFT_OUT = 0.001
"""Share of the rows up to which those left out for their outcome give a warning, and untested ones are passed over."""
FAR_APART = 4.0
"""Standard errors between the mean outcome of rows that were left out and of those that were read."""


@finding("left-out", "Outcome of rows left out", lambda kept: kept.left_out, cause=("sampling", "rows", "outcome"))
def left_out(kept: KeptEvidence) -> Statement | None:
    share = kept.by_outcome / (kept.read + kept.left_out)
    untested = kept.left_out - kept.tested
    if kept.by_outcome:
        message = (
            f"{percent(share)} of the rows ({kept.by_outcome:,}) were left out for what their clicks or reward hold. "
            "The others were chosen by their outcome, so no number is that of the whole log."
        )
        remedy = "Do not skip these rows: write what their outcome was, such as [0, 0] where nothing was clicked."
        return Statement("serious" if share > FEW_LEFT_OUT else "warning", message, remedy)
    if abs(kept.gap) > FAR_APART:
        message = (
            f"{kept.left_out:,} rows were left out. Where their outcome is known, its mean is {kept.earned[1]:.3g}; "
            f"that of the others is {kept.earned[0]:.3g} ({abs(kept.gap):.1f} standard errors apart)."
        )
    elif untested > FEW_LEFT_OUT * (kept.read + kept.left_out):
        message = (
            f"{untested:,} rows were left out with an unknown outcome: they may have earned more or less than others."
        )
    else:
        return None
    return Statement(
        "warning", message, "Correct these rows instead of skipping them; `offrank check` counts them by rule."
    )


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
