"""`few-rows-per-context`: propensities that were counted in too few rows."""

from .evidence import CountingEvidence
from .registry import Statement, finding

FEW_ROWS = 50.0
"""Rows per context: plain estimates often miss the truth with 20, but not with 80 (benchmarks/cluster_coverage.py)."""


@finding("few-rows-per-context", "Counted propensities", lambda found: found.rows < FEW_ROWS, cause="counting")
def few_rows_per_context(found: CountingEvidence) -> Statement:
    return Statement(
        "warning",
        f"The propensities were estimated from {found.rows:.3g} rows per value of `{found.by}`. Slates that were "
        "never shown there count as impossible, so plain estimates are too low and their intervals too narrow.",
        "Use a self-normalised estimator or a wide window (snipm, interpol), count by a coarser column, or log "
        "propensities.",
    )
