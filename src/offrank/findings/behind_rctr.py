"""`behind-rctr`: a click model that predicts sessions less well than the click rates by rank of its training log."""

import math

from ..formatting import with_error
from .evidence_clicks import PredictionEvidence
from .registry import Statement, finding

MUCH = 0.01
"""Nats a session: what a model may lose by chance, or by its priors, before it is said. `benchmarks/click_sparse.py`
prints what models lose."""


def _behind(found: PredictionEvidence) -> bool:
    """Whether the model loses much; of a single session nobody knows."""
    return found.ahead is not None and found.ahead.value < -MUCH and math.isfinite(found.ahead.standard_error)


def behind(message: str, perhaps: str, remedy: str) -> Statement:
    """The statement that a model predicts worse than a simpler one; perhaps: why it may be chance, empty if not."""
    return Statement("note" if perhaps else "warning", f"{message}{': ' if perhaps else ''}{perhaps}.", remedy)


@finding("behind-rctr", "Behind click rates by rank", _behind, cause="click model")
def behind_rctr(found: PredictionEvidence) -> Statement:
    assert found.ahead is not None
    away, error = with_error(-found.ahead.value, found.ahead.standard_error)
    return behind(
        f"The model's log-likelihood is {away} nats per session (standard error {error}) "
        "below that of the click rates by rank in its training log",
        "" if found.ahead.high < 0 else "chance alone could explain the difference",
        "To predict clicks on rankings by this log's own policy, use rctr. To judge documents or other rankings, "
        "train on a log with more sessions per document.",
    )
