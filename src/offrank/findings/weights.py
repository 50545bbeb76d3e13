"""The weights of the rows: one that is large, what bounds them, and propensities that are odd or were counted."""

from ..language.formatting import percent
from ..wording import Option, Wording, joined
from .advice import clip, items_help
from .evidence import CountingEvidence, EstimateEvidence, LogEvidence
from .logging_policy import unfit
from .registry import Statement, finding

LARGE = 0.05
"""Share of the total weight on one impression."""
VERY_LARGE = 0.2


@finding(
    "large-weight", "Largest weight", lambda found: found.max_weight_share > LARGE, cause=("overlap", "weights", "tail")
)
def large_weight(found: EstimateEvidence) -> Statement:
    ways = [] if found.clipped or found.kind == "logged" else [clip(found)]
    ways += ["compare with an item-level estimator"] if items_help(found.slots, found.kind) else []
    return Statement(
        "serious" if found.max_weight_share > VERY_LARGE else "warning",
        f"One impression carries {percent(found.max_weight_share, 0)} of the total weight.",
        Wording("Do not trust the interval; {}.", joined(" or ", ways) or "log more"),
    )


LITTLE = 0.98
"""Share of the weight that remains."""
MUCH = 0.8


@finding(
    "clipped",
    "Clipped weights",
    lambda found: found.clipped and found.normalised and found.control < LITTLE,
    cause="assumption",
)
def clipped(found: EstimateEvidence) -> Statement:
    # Divided or corrected by the remaining weight, the estimate may move either way.
    bound = ", or read it as a lower bound (if no reward or weight is negative)."
    free = ". It is divided by the remaining weight or added to a model's prediction, so it can be too high or too low."
    leans = "relies on the model's prediction there" if found.corrects else "is biased towards the logging policy"
    return Statement(
        "warning" if found.control < MUCH else "note",
        f"{found.clipped} removed {percent(1 - found.control, 0)} of the weight, so the estimate {leans}.",
        f"Raise the {found.parameter} until the value stops changing" + (bound if found.plain else free),
        missing=1 - found.control if found.plain and not found.corrects else 0.0,
    )


HARDLY_EVER = 100.0
"""Times the impressions. A weight of uniform has an expectation of at most 1, so that of n correct ones the largest
exceeds t n in at most one log of t (Markov's inequality)."""


@finding(
    "huge-inverse-propensity",
    "Inverse propensities",
    lambda log: log.largest_weight / log.impressions > HARDLY_EVER,
    cause="weights",
)
def huge_inverse_propensity(log: LogEvidence) -> Statement:
    times = log.largest_weight / log.impressions
    return Statement(
        "warning",
        f"The propensity of one shown slate is {log.largest_weight:.3g} times smaller than under a uniform policy. "
        f"At most one in {times:,.0f} correct logs of {log.impressions:,.0f} impressions contains such a slate, and "
        "it could outweigh all others.",
        "Check that the smallest propensity belongs to the slate that was shown.",
    )


MANY_APART = 0.01
"""Share of the impressions above which a few odd rows cannot be the cause."""


@finding(
    "propensity-mismatch",
    "Logged propensities against the policy",
    lambda log: log.apart and not unfit(log),
    cause="propensities",
)
def propensity_mismatch(log: LogEvidence) -> Statement:
    """Logged propensities differ from the policy's, unless the shown items already prove the policy wrong."""
    remedy: str = Wording(
        "One of them is wrong: check the score column and the temperature, or use {}.", Option("logging", "logged")
    )
    if log.fit is not None:
        remedy = (
            "The shown slates fit the policy, so check the propensity column first: it may belong to another "
            "slate, be inverted or rounded, or contain the sub-sampling rate."
        )
    return Statement(
        "serious" if log.apart > MANY_APART * log.compared else "warning",
        f"In {log.apart:,} of {log.compared:,} impressions, the logged propensity differs from that of "
        f"{log.logging}; it is typically {log.typical_ratio:.3g} times as large.",
        remedy,
    )


@finding("counted-propensities", "Counted propensities", lambda found: found.counted, cause=("weights", "counting"))
def counted_propensities(_: EstimateEvidence) -> Statement:
    return Statement(
        "note",
        "The propensities were estimated by counting in the log itself, and the intervals do not include their error.",
        "Log propensities with every impression.",
    )


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
