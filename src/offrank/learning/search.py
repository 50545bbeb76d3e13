"""Every candidate of a learner, estimated on the validation third; which one is best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..errors import LogError, UsageError
from ..folds.base import Sample
from ..folds.estimate import Interval
from ..folds.moments import MomentsFold
from ..inference.ratio import Ratio
from ..inference.spread import Inference
from ..log.batch import Floats
from ..policies.linear import slate_log_prob
from .examples import Checkpoint, Data, Examples, Learner, Store

Criterion = Literal["ips", "snips", "lower"]
_FOLD = MomentsFold(3)


@dataclass(frozen=True)
class Trial:
    """A candidate and its estimates on the validation third."""

    candidate: Checkpoint
    ips: Interval
    snips: Interval
    mean_weight: float

    def worth(self, criterion: Criterion) -> float:
        """The number that is to be large: `lower` is the lower end of the interval of IPS."""
        return {"ips": self.ips.value, "snips": self.snips.value, "lower": self.ips.low}[criterion]


@dataclass(frozen=True)
class Search:
    """Every candidate of a learner, judged on the validation third.

    Raises:
        UsageError: a criterion that is none of `ips`, `snips`, `lower`.
    """

    learner: Learner
    name: str
    criterion: Criterion = "ips"
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.criterion not in get_args(Criterion):
            raise UsageError(f"criterion is {self.criterion!r}", "say " + ", ".join(get_args(Criterion)))

    def run(self, data: Data, tried: Callable[[Trial], object] | None = None) -> tuple[Trial, ...]:
        """The candidates' estimates, best first; of the others no weights are kept. tried: called with each.

        Raises:
            UsageError: a method that cannot learn from this log.
            LogError: nothing to learn from.
        """
        self._check(data)
        found: list[Trial] = []
        leader: Trial | None = None
        middle = data.train.baseline()
        for candidate in self.learner.candidates(data, self.seed):
            trial = judge(candidate, data.validate, self.learner.greedy, self.confidence, middle)
            if tried is not None:
                tried(trial)
            if leader is None or trial.worth(self.criterion) > leader.worth(self.criterion):
                leader = trial
            found.append(replace(trial, candidate=replace(candidate, weights=np.zeros(0))))  # weights are large
        assert leader is not None
        others = [one for one in found if one.candidate.settings != leader.candidate.settings]
        return (leader, *sorted(others, key=lambda one: one.worth(self.criterion), reverse=True))

    def _check(self, data: Data) -> None:
        """Refuse a log that the method cannot learn from."""
        if self.learner.one_slot and data.slots > 1:
            raise UsageError(
                f"{self.name} learns from slates of one slot, and the log has up to {data.slots}",
                "use regression, poem, snpoem or plackett-luce, or give the part of the log with one slot",
            )
        if not (data.train.rows and data.validate.rows):
            raise LogError("a third of the log is empty", "give a log of more impressions")
        by_item = self.learner.per_item and data.slots > 1
        outcomes = [self._clicks(examples) if by_item else examples.reward for examples in data.train]
        low, high = min(float(each.min()) for each in outcomes), max(float(each.max()) for each in outcomes)
        if low == high:
            what = "every item shown in" if by_item else "every impression of"
            unit = "clicks" if by_item else "the reward"
            raise LogError(f"nothing to learn from: {what} the training third has {unit} {low:g}", "give a longer log")

    def _clicks(self, examples: Examples) -> Floats:
        """[items shown] the click on each."""
        clicks = examples.clicks[examples.slates >= 0]
        if np.isnan(clicks).any():
            raise UsageError(
                f"{self.name} learns from the click on each item, and the log has only the reward of a whole slate",
                "give a log with `clicks`, or use poem, snpoem or plackett-luce, which learn from the reward",
            )
        return clicks


def judge(candidate: Checkpoint, store: Store, greedy: bool, confidence: float, baseline: float = 0.0) -> Trial:
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
    spread = Inference(state, "normal", confidence)
    control = float(Ratio(2, 0).value(state.sums))
    snips = spread.ratio(Ratio(1, 2)) if control > 0 else Interval(-np.inf, -np.inf, -np.inf, np.inf)
    return Trial(candidate, _moved(spread.ratio(Ratio(1, 0)), baseline), _moved(snips, baseline), control)


def _moved(found: Interval, by: float) -> Interval:
    return replace(found, value=found.value + by, low=found.low + by, high=found.high + by)
