"""Search over the candidates of a learner: each is estimated on the validation third, and the best is chosen."""

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
from .examples import Checkpoint, Data, Examples, ItemRanks, Learner, LearntModel, Store, by_item

Criterion = Literal["ips", "snips", "lower"]
_FOLD = MomentsFold(3)


@dataclass(frozen=True)
class Trial:
    """A candidate and its estimates on the validation third.

    by_item: whether clicks have the weights of their items at their ranks (`ipm`), not those of whole slates.
    """

    candidate: Checkpoint
    ips: Interval
    snips: Interval
    mean_weight: float
    by_item: bool = False

    def worth(self, criterion: Criterion) -> float:
        """Return the number to maximise: `lower` is the lower end of the interval of IPS."""
        return {"ips": self.ips.value, "snips": self.snips.value, "lower": self.ips.low}[criterion]


@dataclass(frozen=True)
class Search:
    """The search over the candidates of a learner, by their estimates on the validation third.

    Raises:
        UsageError: the criterion is not one of `ips`, `snips`, `lower`.
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
        """Return the candidates' estimates, best first; only the best one keeps its model. tried: called with each.

        Raises:
            UsageError: the method cannot learn from this log.
            LogError: there is nothing to learn from.
        """
        self._check(data)
        found: list[Trial] = []
        leader: Trial | None = None
        middle, greedy = data.train.baseline(), self.learner.greedy
        alone = (
            isinstance(self.learner, ItemRanks) and data.slots > 1 and by_item(data.train) and by_item(data.validate)
        )
        for candidate in self.learner.candidates(data, self.seed):
            trial = judge(candidate, data.validate, greedy, self.confidence, 0.0 if alone else middle, alone)
            if tried is not None:
                tried(trial)
            if leader is None or trial.worth(self.criterion) > leader.worth(self.criterion):
                leader = trial
            found.append(replace(trial, candidate=replace(candidate, model=None)))  # models take much memory
        assert leader is not None
        others = [one for one in found if one.candidate.settings != leader.candidate.settings]
        return (leader, *sorted(others, key=lambda one: one.worth(self.criterion), reverse=True))

    def _check(self, data: Data) -> None:
        """Raise if the method cannot learn from this log."""
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
        """Return the click on each shown item [items shown]."""
        clicks = examples.clicks[examples.slates >= 0]
        if np.isnan(clicks).any():
            raise UsageError(
                f"{self.name} learns from the click on each item, and the log has only the reward of a whole slate",
                "give a log with `clicks`, or use poem, snpoem or plackett-luce, which learn from the reward",
            )
        return clicks


def judge(
    candidate: Checkpoint, store: Store, greedy: bool, confidence: float, baseline: float = 0.0, items: bool = False
) -> Trial:
    """Return estimates by IPS and SNIPS, corrected for sub-sampling; intervals by the delta method.

    baseline: IPS is baseline + mean(w (reward - baseline)), so that the order of candidates is invariant to adding a
    constant to all rewards, if the baseline shifts with them. items: whether to weight each click by its item's rank.
    """
    state, model = _FOLD.empty(), candidate.model
    assert model is not None
    for examples in store:
        if items:
            earned, weight = _of_items(model, examples, greedy)
        else:
            weight = np.exp(model.log_prob(examples.lines, examples.slates, greedy) - examples.log_q)
            earned = weight * (examples.reward - baseline)
        values = np.stack([np.ones(len(weight)), earned, weight], axis=1)
        state = _FOLD.add(state, Sample(values / examples.inclusion[:, None], np.zeros(len(weight), dtype=np.uint64)))
    spread = Inference(state, "normal", confidence)
    control = float(Ratio(2, 0).value(state.sums))
    snips = spread.ratio(Ratio(1, 2)) if control > 0 else Interval(-np.inf, -np.inf, -np.inf, np.inf)
    return Trial(candidate, _moved(spread.ratio(Ratio(1, 0)), baseline), _moved(snips, baseline), control, items)


def _of_items(model: LearntModel, examples: Examples, greedy: bool) -> tuple[Floats, Floats]:
    """Return each row's clicks times the weights of their items at their ranks [n], and the mean weight [n]."""
    shown = examples.slates >= 0
    chance = model.item_probs(examples.lines, examples.slates, greedy)
    weight = np.divide(chance, examples.rank_q, out=np.zeros(shown.shape), where=shown)
    return (weight * np.where(shown, examples.clicks, 0.0)).sum(axis=1), weight.sum(axis=1) / shown.sum(axis=1)


def _moved(found: Interval, by: float) -> Interval:
    return replace(found, value=found.value + by, low=found.low + by, high=found.high + by)
