"""`left-out`: rows left out while reading, whose outcome decided it, differs from that of the others, or is unknown."""

from ..formatting import percent, plural
from .evidence_rows import KeptEvidence
from .registry import Statement, finding

FEW = 0.001
"""Share of the rows up to which those left out for their outcome give a warning, and untested ones are passed over."""
FAR = 4.0
"""Standard errors between the mean outcome of rows that were left out and of those that were read."""
_MEND = "Mend these rows instead of skipping them; `offrank check` counts them by rule."


@finding("left-out", "Outcome of rows left out", lambda kept: kept.left_out, cause=("sampling", "rows", "outcome"))
def left_out(kept: KeptEvidence) -> Statement | None:
    every = kept.read + kept.left_out
    untested = kept.left_out - kept.tested - kept.by_outcome
    if kept.by_outcome:
        share = kept.by_outcome / every
        return Statement(
            "serious" if share > FEW else "warning",
            f"{_rows(kept.by_outcome)} left out for what their clicks or reward hold ({percent(share)} of the log). "
            "The rows that remain were chosen by their outcome, so no number is that of the whole log.",
            "Do not skip these rows: write what their outcome was, such as [0, 0] where nothing was clicked.",
        )
    if abs(kept.gap) > FAR:
        return Statement(
            "warning",
            f"{_rows(kept.left_out)} left out, and those whose outcome is known have a mean of {kept.earned[1]:.3g}, "
            f"the others {kept.earned[0]:.3g} ({abs(kept.gap):.1f} standard errors apart). The answer is of the rows "
            "that remain.",
            _MEND,
        )
    if untested > FEW * every:
        return Statement(
            "warning",
            f"{_rows(untested)} left out without a known outcome, so nothing tells whether they earned as much as the "
            "others.",
            _MEND,
        )
    return None


def _rows(count: int) -> str:
    return f"{plural(count, 'row', 'rows')} {'was' if count == 1 else 'were'}"
