"""`behind-rctr`: a click model that predicts sessions less well than the click rates by rank of its training log."""

import math

from .evidence_clicks import OfPrediction
from .registry import Statement, finding

MUCH = 0.01
"""Nats a session: what a model may lose by chance, or by its priors, before it is said. `benchmarks/click_sparse.py`
prints what models lose."""


def _behind(found: OfPrediction) -> bool:
    """Whether the model loses much; of a single session nobody knows."""
    return found.ahead is not None and found.ahead.value < -MUCH and math.isfinite(found.ahead.standard_error)


@finding("behind-rctr", "Behind click rates by rank", _behind, cause="click model")
def behind_rctr(found: OfPrediction) -> Statement:
    assert found.ahead is not None
    clear = found.ahead.high < 0
    return Statement(
        "warning" if clear else "note",
        f"The model predicts the clicks of a session {-found.ahead.value:.4f} nats (standard error "
        f"{found.ahead.standard_error:.4f}) less well than the click rates by rank of the log that it has learnt from"
        + ("." if clear else ": no more than chance may explain."),
        "To predict clicks on rankings by the policy of this log take rctr; to judge documents or other rankings, "
        "learn from a log with more sessions of each document.",
    )
