"""Search over the candidates of a learner: each is estimated on the validation third, and the best is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ..errors import LogError, UsageError
from ..estimators.pseudoinverse.estimator import portions
from ..inference.mean_intervals import Inference
from ..language.formatting import nine_digits
from ..log.batch import Floats
from ..policies.splits import Part
from ..sums.base import Sample
from ..sums.estimate import Interval
from ..sums.mean import ratio
from ..sums.moments import MomentsFold
from ..sums.named_sums import NamedColumns, Sums
from .boosting import Boosting
from .contexts import ContextSums
from .examples import Checkpoint, Data, Examples, ItemRanks, Learner, Store, by_item

Criterion = Literal["ips", "snips", "lower", "pi", "ipm"]
_COLUMNS = NamedColumns(("rows", "value", "weight"))
_IPS = ratio("value", "rows")
_FOLD = MomentsFold()
_NOTHING = _FOLD.of(Sample.of(np.empty((0, _COLUMNS.width())), np.empty(0, np.uint64)))


@dataclass(frozen=True)
class Trial:
    """A candidate and its estimates on the validation third.

    pi, ipm: by the pseudoinverse, or by items at their ranks, if that is the criterion.
    """

    candidate: Checkpoint
    ips: Interval
    snips: Interval
    mean_weight: float
    pi: Interval | None = None
    ipm: Interval | None = None

    def worth(self, criterion: Criterion) -> float:
        """Return the number to maximise: `lower` is the lower end of the interval of IPS."""
        by_slates = {"ips": self.ips.value, "snips": self.snips.value, "lower": self.ips.low}
        found = {"pi": self.pi, "ipm": self.ipm}.get(criterion)
        return by_slates.get(criterion, self.ips.value) if found is None else found.value


@dataclass(frozen=True)
class Search:
    """The search over the candidates of a learner, by their estimates on the validation third.

    Raises:
        UsageError: the criterion is not one of `ips`, `snips`, `lower`, `pi`, `ipm`.
    """

    learner: Learner
    name: str
    criterion: Criterion = "ips"
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.criterion not in get_args(Criterion):
            raise UsageError(f"criterion is {self.criterion!r}", "use " + ", ".join(get_args(Criterion)))

    @property
    def contexts(self) -> frozenset[Part]:
        """Return the thirds of the log whose distinct contexts are needed: to learn from, to choose by."""
        parts: dict[Part, bool] = {"train": isinstance(self.learner, Boosting), "validate": self.criterion == "pi"}
        return frozenset(part for part, needed in parts.items() if needed)

    @property
    def ranks(self) -> bool:
        """Return whether the probability of each item at its rank is needed."""
        return self.criterion == "ipm" or isinstance(self.learner, ItemRanks)

    def run(self, data: Data, tried: Callable[[Trial], object] | None = None) -> tuple[Trial, ...]:
        """Return the candidates' estimates, best first; only the best one keeps its model. tried: called with each.

        Raises:
            UsageError: the method cannot learn from this log.
            LogError: there is nothing to learn from.
        """
        self._check(data)
        found: list[Trial] = []
        leader: Trial | None = None
        middle = data.train.baseline()
        by_action = ActionEstimates.of(data, middle) if self.criterion == "pi" else None
        items = self._by_item(data)
        for candidate in self.learner.candidates(data, self.seed % 2**64):
            trial = judge_slates(candidate, data.validate, self.learner.greedy, self.confidence, middle)
            if by_action is not None:
                trial = replace(trial, pi=by_action.estimate(candidate, self.learner.greedy, self.confidence))
            if items:
                trial = replace(trial, ipm=judge_items(candidate, data.validate, self.learner.greedy, self.confidence))
            if tried is not None:
                tried(trial)
            if leader is None or self._worth(trial) > self._worth(leader):
                leader = trial
            found.append(replace(trial, candidate=replace(candidate, model=None)))  # models take much memory
        assert leader is not None
        others = [one for one in found if one.candidate.settings != leader.candidate.settings]
        return (leader, *sorted(others, key=self._worth, reverse=True))

    def _worth(self, trial: Trial) -> float:
        return nine_digits(trial.worth(self.criterion))

    def _by_item(self, data: Data) -> bool:
        """Return whether to estimate by items at their ranks; with one slot that is IPS."""
        if self.criterion != "ipm" or data.slots == 1:
            return False
        known = by_item(data.train) and by_item(data.validate)
        if not (known or isinstance(self.learner, ItemRanks)):
            raise UsageError(
                "the criterion ipm needs clicks, and the logging policy's probability of each item at each rank",
                "name the logging policy, or use the criterion ips",
            )
        return known

    def _check(self, data: Data) -> None:
        """Raise if the method cannot learn from this log."""
        if self.learner.one_slot and data.slots > 1:
            raise UsageError(
                f"{self.name} learns from slates of one slot, but the log has up to {data.slots}",
                "use regression, poem, snpoem or plackett-luce, or use the part of the log with one slot",
            )
        if not (data.train.rows and data.validate.rows):
            raise LogError("a third of the log is empty", "give a log with more impressions")
        if isinstance(self.learner, Boosting) and self.learner.graded:
            return
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
                f"{self.name} learns from the click on each item, but the log only has the reward of the whole slate",
                "use a log with `clicks`, or use poem, snpoem or plackett-luce, which learn from the reward",
            )
        return clicks


@dataclass(frozen=True)
class ActionEstimates:
    """The contexts of the validation third, with the pseudoinverse's rewards of actions, to estimate policies by.

    phi: [rows, k] of the rewards less `baseline`; ones: [rows, k] of a reward of 1.
    """

    contexts: ContextSums
    phi: Floats
    ones: Floats
    baseline: float

    @classmethod
    def of(cls, data: Data, baseline: float) -> ActionEstimates:
        """Build from the validation third.

        Raises:
            AbilityError: the logging policy has no pair probabilities.
        """
        found = data.validate_contexts
        assert found is not None
        return cls(found, found.phi(baseline), found.phi_of_one(), baseline)

    def estimate(self, candidate: Checkpoint, greedy: bool, confidence: float) -> Interval:
        """Return the estimate by PI (paper slate-pseudoinverse, Eq. 6), with contexts as the rows of the interval."""
        model, contexts, state = candidate.model, self.contexts.contexts, _NOTHING
        assert model is not None
        for rows in portions(contexts):
            some, n = contexts.take(rows), self.contexts.sums.n[rows]
            law = model.rank_probs(some, greedy)
            law = law[np.arange(law.shape[1]) < some.size[:, None]]
            first, last = self.contexts.sums.first[rows[0]], self.contexts.sums.first[rows[-1] + 1]
            starts = self.contexts.sums.first[rows] - first
            earned, weight = (
                np.add.reduceat((law * phi[first:last, : law.shape[1]]).sum(axis=1), starts)
                for phi in (self.phi, self.ones)
            )
            values = np.stack([n, n * earned, n * weight], axis=1)
            state = _FOLD.add(state, Sample.of(values, np.zeros(len(n), dtype=np.uint64)))
        return _moved(Inference(Sums(_COLUMNS, state), "normal", confidence).interval(_IPS), self.baseline)


def judge_slates(candidate: Checkpoint, store: Store, greedy: bool, confidence: float, baseline: float = 0.0) -> Trial:
    """Return estimates by IPS and SNIPS, corrected for sub-sampling; intervals by the delta method.

    baseline: IPS is baseline + mean(w (reward - baseline)), so that the order of candidates is invariant to adding a
    constant to all rewards, if the baseline shifts with them.
    """
    state, model = _NOTHING, candidate.model
    assert model is not None
    for examples in store:
        weight = np.exp(model.log_prob(examples.lines, examples.slates, greedy) - examples.log_q)
        gain = examples.reward - baseline
        values = np.stack([np.ones(len(weight)), weight * gain, weight], axis=1)
        state = _FOLD.add(state, Sample.of(values / examples.inclusion[:, None], np.zeros(len(weight), np.uint64)))
    spread = Inference(Sums(_COLUMNS, state), "normal", confidence)
    control = spread.sums.value(ratio("weight", "rows"))
    snips = spread.interval(ratio("value", "weight")) if control > 0 else Interval(-np.inf, -np.inf, -np.inf, np.inf)
    return Trial(candidate, _moved(spread.interval(_IPS), baseline), _moved(snips, baseline), control)


def judge_items(candidate: Checkpoint, store: Store, greedy: bool, confidence: float) -> Interval:
    """Return the estimate by IPM: each click has the weight of its item at its rank."""
    state, model = _NOTHING, candidate.model
    assert model is not None
    for examples in store:
        shown = examples.slates >= 0
        chance = model.item_probs(examples.lines, examples.slates, greedy)
        weight = np.divide(chance, examples.rank_q, out=np.zeros(shown.shape), where=shown)
        earned = (weight * np.where(shown, examples.clicks, 0.0)).sum(axis=1)
        values = np.stack([np.ones(len(earned)), earned, weight.sum(axis=1)], axis=1)
        state = _FOLD.add(state, Sample.of(values / examples.inclusion[:, None], np.zeros(len(earned), np.uint64)))
    return Inference(Sums(_COLUMNS, state), "normal", confidence).interval(_IPS)


def _moved(found: Interval, by: float) -> Interval:
    return replace(found, value=found.value + by, low=found.low + by, high=found.high + by)
