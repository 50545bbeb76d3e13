"""`mean-weight`: weights whose mean is not 1."""

from __future__ import annotations

from ..options import verb
from .double_subsampling import counted_twice
from .evidence import OfEstimate
from .odd_mean import IMPOSSIBLE, IMPOSSIBLE_BY_MARKOV, NEAR, ODD, ODD_BY_MARKOV, deviation
from .registry import Said, finding

__all__ = ["IMPOSSIBLE", "IMPOSSIBLE_BY_MARKOV", "NEAR", "ODD", "ODD_BY_MARKOV", "mean_weight"]


@finding("mean-weight", "Mean weight")
def mean_weight(found: OfEstimate) -> Said | None:
    away, mean = deviation(found), found.mean_weight
    if away is None or mean is None or counted_twice(found):
        return None
    far = f"{away:.1f}" if away < 1000 else "over 1,000"
    low = mean.value < 1
    factor = 1 / mean.value if low else mean.value
    reason = (
        "Target slates without support in the log, a tail of weights that the log is too short to show, or "
        "propensities that are too large"
        if low
        else "Propensities that are too small (a sub-sampling factor in them?), or not those of the slate shown"
    )
    return Said(
        "serious" if away > IMPOSSIBLE or mean.value > IMPOSSIBLE_BY_MARKOV else "warning",
        f"The mean weight is {mean.value:.4g} ({far} standard errors from 1): on average the propensities are "
        f"{factor:.3g} times too {'large' if low else 'small'} for this policy.",
        f"{reason} would do this; {verb('check')} of the uniform policy tells them apart. A plain estimate is off by "
        "this factor, a self-normalised one hides it.",
    )
