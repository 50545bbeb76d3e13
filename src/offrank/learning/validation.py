"""What a candidate would have earned on the validation third, and which candidate is best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..errors import UsageError
from ..folds.base import Sample
from ..folds.estimate import Interval
from ..folds.moments import MomentsFold
from ..inference.ratio import Ratio
from ..inference.spread import Spread
from ..policies.linear import slate_log_prob
from .base import Candidate
from .examples import Store

Criterion = Literal["ips", "snips", "lower"]
_FOLD = MomentsFold(3)


@dataclass(frozen=True)
class Judged:
    """A candidate and its estimates on the validation third."""

    candidate: Candidate
    ips: Interval
    snips: Interval
    mean_weight: float

    def worth(self, criterion: Criterion) -> float:
        """The number that is to be large: `lower` is the lower end of the interval of IPS."""
        return {"ips": self.ips.value, "snips": self.snips.value, "lower": self.ips.low}[criterion]

    def without_weights(self) -> Judged:
        """For a table of what was tried: weights are large."""
        return replace(self, candidate=replace(self.candidate, weights=np.zeros(0)))


def check(criterion: str) -> None:
    """Refuse an unknown criterion.

    Raises:
        UsageError: none of `ips`, `snips`, `lower`.
    """
    if criterion not in get_args(Criterion):
        raise UsageError(f"criterion is {criterion!r}", "say " + ", ".join(get_args(Criterion)))


def judge(candidate: Candidate, store: Store, greedy: bool, confidence: float, baseline: float = 0.0) -> Judged:
    """Estimates by IPS and SNIPS, corrected for sub-sampling; intervals by the delta method.

    baseline: IPS is baseline + mean(w (reward - baseline)), so that candidates come in the same order whatever is
    added to all rewards, if the baseline moves with them.
    """
    state = _FOLD.empty()
    for examples in store:
        scores = examples.lines.scores(candidate.weights)
        weight = np.exp(slate_log_prob(scores, examples.size, examples.slates, greedy) - examples.log_q)
        gain = examples.reward - baseline
        values = np.stack([np.ones(len(weight)), weight * gain, weight], axis=1)
        state = _FOLD.add(state, Sample(values / examples.inclusion[:, None], np.zeros(len(weight), dtype=np.uint64)))
    spread = Spread(state, "normal", confidence)
    control = float(Ratio(2, 0).value(state.sums))
    snips = spread.ratio(Ratio(1, 2)) if control > 0 else Interval(-np.inf, -np.inf, -np.inf, np.inf)
    return Judged(candidate, _moved(spread.ratio(Ratio(1, 0)), baseline), _moved(snips, baseline), control)


def _moved(found: Interval, by: float) -> Interval:
    return replace(found, value=found.value + by, low=found.low + by, high=found.high + by)
