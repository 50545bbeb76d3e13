"""`same-log`: a model, policy or score is evaluated on rows that it was learnt or counted from."""

import math

from ..formatting import quote
from ..wording import Option, Wording
from .evidence import TrainingEvidence
from .evidence_rows import OwnClicksEvidence
from .registry import Statement, finding

LEAST = 0.05
"""Smallest share of the evaluated rows to report: below it, the optimism is at most that share."""


@finding("same-log", "Rows of the training", lambda found: found.share >= LEAST, cause="provenance")
def same_log(found: TrainingEvidence) -> Statement:
    held_out = Wording(
        "{} reads those that `learn` kept apart; or take another day's log.", Option("held_out", "policy.npz")
    )
    model = "learn the click model from another day's log, or judge another one."
    return Statement(
        "serious",
        f"About {found.share:.0%} of these impressions are what it was learnt from: what was learnt explains them "
        "better than new ones, and the estimate is too kind.",
        "Judge it by other impressions: " + (held_out if found.policy else model),
    )


_FEWEST_CELLS, _FEWEST_COUNTS = 20, 6
"""Cells with clicks, and different numbers of clicks, whose noise three fitted numbers cannot reproduce."""
REPRODUCED = 0.9
"""Share of the counts that must be reproduced; by chance some 1 % are."""
CLOSE = 0.35
"""A bound of the share of close neighbours in a score from elsewhere: .2 for normal noise, more for small counts and
where users differ (benchmarks/own_clicks.py prints the largest found)."""
UNLIKELY = 1e-8
"""Largest probability that so many neighbours are close and in order, of some ten comparisons in a run."""


def counted_here(found: OwnClicksEvidence) -> bool:
    """Whether a score gives the noise of this log's own click counts, which no score from elsewhere knows."""
    enough = found.cells >= _FEWEST_CELLS and found.counts >= _FEWEST_COUNTS
    return (enough and found.reproduced >= REPRODUCED) or _chance(found.pairs, found.close) < UNLIKELY


def _chance(pairs: int, close: int) -> float:
    """A bound of the probability of so many close pairs (Chernoff)."""
    share = close / pairs if pairs else 0.0
    if share <= CLOSE:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - CLOSE)) if share < 1 else 0.0
    return math.exp(-pairs * (share * math.log(share / CLOSE) + rest))


@finding("same-log", "Clicks of this log", counted_here, cause="provenance")
def own_clicks(found: OwnClicksEvidence) -> Statement:
    return Statement(
        "serious",
        f"The column {quote(found.column)} counts the clicks of this very log, by {found.of}: it knows their noise, "
        "and the estimate is too kind.",
        "Count on another day's log; or on some of the rows, and judge by the others.",
    )
