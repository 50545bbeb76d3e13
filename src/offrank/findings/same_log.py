"""`same-log`: a model, policy or score is evaluated on rows that it was learnt or counted from."""

import math

from ..language.formatting import percent, quote
from ..wording import Option, Wording
from .evidence import TrainingEvidence
from .evidence_rows import OwnClicksEvidence
from .registry import Statement, finding

LEAST = 0.05
"""Smallest share of the evaluated rows to report: below it, the optimism is at most that share."""


@finding("same-log", "Training rows", lambda found: found.share >= LEAST, cause="provenance")
def same_log(found: TrainingEvidence) -> Statement:
    held_out = Wording(
        "{} reads only the rows that `learn` held out; or use another day's log.", Option("held_out", "policy.npz")
    )
    model = "fit the click model to another day's log, or judge another model."
    return Statement(
        "serious",
        f"About {percent(found.share, 0)} of these impressions were used in training: the model fits them "
        "better than new "
        "ones, so the estimate is too optimistic.",
        "Evaluate on other impressions: " + (held_out if found.policy else model),
    )


_FEWEST_CELLS, _FEWEST_COUNTS = 20, 6
"""Cells with clicks, and different numbers of clicks, whose noise three fitted numbers cannot reproduce."""
REPRODUCED = 0.9
"""Share of the counts that must be reproduced; by chance some 1 % are."""
CLOSE = 0.35
"""A bound of the share of close neighbours in a score from elsewhere: .2 for normal noise, more for small counts and
where users differ (benchmarks/own_clicks.py prints the largest found)."""
UNLIKELY = 1e-8
"""Largest probability of such closeness by chance, of some ten comparisons in a run."""
LEFT, NOISE = 0.4, 0.7
"""The largest mean square of residual clicks of a score that was fitted to them, and a bound below that of a score from
elsewhere: 1 for noise, less where the fit takes some (benchmarks/own_clicks.py prints the smallest found)."""


def counted_here(found: OwnClicksEvidence) -> bool:
    """Whether a score gives the noise of this log's own click counts, which no score from elsewhere knows."""
    enough = found.cells >= _FEWEST_CELLS and found.counts >= _FEWEST_COUNTS
    if enough and found.reproduced >= REPRODUCED:
        return True
    return min(_chance(found.pairs, found.close), chance_of_residuals(found.freedom, found.residual)) < UNLIKELY


def chance_of_residuals(freedom: int, square: float) -> float:
    """A bound of the probability of so small a mean square (Chernoff, of a chi-square)."""
    if square > LEFT:
        return 1.0
    share = max(square / NOISE, 1e-300)
    return math.exp(-freedom / 2 * (share - 1 - math.log(share)))


def _chance(pairs: int, close: int) -> float:
    """A bound of the probability of so many close pairs (Chernoff)."""
    share = close / pairs if pairs else 0.0
    if share <= CLOSE:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - CLOSE)) if share < 1 else 0.0
    return math.exp(-pairs * (share * math.log(share / CLOSE) + rest))


@finding("same-log", "Clicks of this log in a column", counted_here, cause="provenance")
def same_log_of_own_clicks(found: OwnClicksEvidence) -> Statement:
    return Statement(
        "serious",
        f"The column {quote(found.column)} was computed from the clicks of this log, by {found.of}: it contains "
        "their noise, so the estimate is too optimistic.",
        "Compute it from another day's log; or from some of the rows, and evaluate on the others.",
    )
