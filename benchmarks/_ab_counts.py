"""What `offrank.compare` says of an A/B test of two rankers that sort, from counts of sessions that are alike.

The sums over a log are those over its different sessions (query, arm, clicks), each times its count; from the sums on,
everything is by the package. So a log of 200,000 sessions takes no longer than its different ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from _ab_worlds import ITEMS, Drawn, Test, World
from numpy.typing import NDArray

from offrank.estimators import estimator
from offrank.estimators.history import ArmRows, ArmRowsState, _numbered, history_of
from offrank.estimators.layout import CLICKS, REWARD, ROWS, by_history, of_arm
from offrank.evaluation.ab_test import ArmsCompared, ArmsPair
from offrank.findings import cautions_for
from offrank.findings.assumptions import DisagreementEvidence
from offrank.inference.mean_intervals import Inference
from offrank.inference.rare_rewards import Tail, heavy_tail
from offrank.policies import policy
from offrank.sums import Mean, Moments, MomentsFold, NamedColumns, Sample, Sums, mean_by_block, ratio
from offrank.sums._kernels import bucket_of
from offrank.sums.clusters import BUCKETS, Clusters
from offrank.sums.estimate import FEW_EFFECTIVE

Floats = NDArray[np.float64]
LARGEST = 1024
ARMS: Any = policy("by(arm, {A: top(a_score), B: top(b_score)})")
LISTS, TOP = "snips", "snrips"
SLOT = "slots"
TARGETS = (0, 1)
NAMES = (
    *(ROWS, REWARD, CLICKS, *(of_arm(arm, name) for arm in TARGETS for name in (ROWS, REWARD, CLICKS))),
    *(by_history(arm) for arm in TARGETS),
    *((kind, LISTS, arm) for arm in TARGETS for kind in ("value", "weight")),
)
"""Columns of sessions."""
WEIGHTS = tuple(NAMES.index(("weight", LISTS, arm)) for arm in TARGETS)
BY_SLOT = (SLOT, *((kind, TOP, arm) for arm in TARGETS for kind in ("value", "weight")))
"""Columns of slots."""


@dataclass(frozen=True)
class Log:
    """The reduced log, as the combination reads it. confidence: of intervals."""

    sums: Sums
    inference: Inference
    layout: Any
    group: int = 0
    clicks_alone: bool = True
    spec: Any = field(default_factory=lambda: SimpleNamespace(confidence=0.95, level=0.95))

    def at(self, confidence: float) -> Log:
        """The same: there is one comparison."""
        assert confidence == self.spec.confidence
        return self

    def arm_mean(self, arm: int) -> Mean:
        """The mean reward of an arm."""
        return ratio(of_arm(arm, REWARD), of_arm(arm, ROWS))

    def mean(self, target: int, name: str) -> Mean:
        """What an estimator says of a ranker."""
        if name == LISTS:
            return ratio(("value", LISTS, target), ("weight", LISTS, target))
        return mean_by_block(("value", TOP, target), ("weight", TOP, target), SLOT, ROWS)

    def least_effective(self, name: str, variances: list[float]) -> float:
        """About how many sessions of a ranker tell as much as this estimate does, of the one with fewer."""
        errors = [self.inference.interval(self.mean(arm, name)).standard_error for arm in TARGETS]
        return min(each / error**2 for each, error in zip(variances, errors, strict=True))


@dataclass
class Comparer:
    """Compares one log of a world after another."""

    world: World
    test: Test

    def __post_init__(self) -> None:
        """Number the items over all queries."""
        first = np.arange(len(self.world.relevance))[:, None] * ITEMS
        self.documents = self.world.lists + first

    def compared(self, drawn: Drawn) -> ArmsCompared:
        """What `compare` says of a log."""
        query, arm, clicks, count, of = drawn.alike
        rewards = clicks.sum(axis=1).astype(float)
        history, earned = None, rewards
        if drawn.reward is None:
            history = self._history(query, arm, clicks, count)
        else:
            query, arm, clicks, earned = drawn.query, drawn.arm, drawn.clicks.astype(np.int64), drawn.reward
            count = np.ones(len(query))
        values = self._values(query, arm, clicks, earned, float((count * (arm == 0)).sum() / count.sum()), history)
        names = NamedColumns(NAMES, BY_SLOT)
        blocks = (tuple(range(11)), (0, 1, 2, 11, 12, 13, 14))
        moments = weighted_moments(values, count, blocks) if drawn.reward is None else _moments(values, blocks)
        clusters = () if self.test.sessions == 1 else (clusters_of(values, of, drawn.user),)
        sums = Sums(names, moments)
        tails = () if drawn.reward is None else _tails(values, sums)
        inference = Inference(sums, "studentised", 0.95, clusters, tails=tails, nonnegative=True)
        layout = SimpleNamespace(
            history=history, control=None, arm_mean=lambda arm, name: ratio(of_arm(arm, name), of_arm(arm, ROWS))
        )
        layout.history_mean = lambda arm: ratio(by_history(arm), ROWS)
        log: Any = Log(sums, inference, layout, clicks_alone=drawn.reward is None)
        asked = [LISTS] if drawn.reward is not None or self._contradicted(log) else [LISTS, TOP]
        variances = [_variance(values[:, 1], values[:, column] * count) for column in WEIGHTS]
        asked = [name for name in asked if log.least_effective(name, variances) >= FEW_EFFECTIVE]
        rows: Any = {name: _row(name) for name in asked}
        return ArmsPair(log, (1, 0), (1, 0), (rows, rows)).compared(("B", "A"), 0.95)  # type: ignore[arg-type]

    def _history(self, query: Any, arm: Any, clicks: Any, count: Floats) -> Floats | None:
        """[t, 2] the terms of sessions for each arm, as of `ArmsHistory`; None where nothing is learnt."""
        shown = np.stack([self.documents[arm, query], *self.documents[:, query]], axis=1)
        sure, key = np.ones(len(arm), np.bool_), np.arange(len(arm), dtype=np.uint64)
        rewards = clicks.sum(axis=1).astype(float)
        rows = ArmRows(key, count.astype(int), arm, count, rewards, sure, shown, clicks.astype(float))
        found = history_of(ARMS, ArmRowsState((rows,), different=(rows,))).found
        if found is None:
            return None
        lists, judged = _numbered(rows, found.keys)
        served = arm[:, None] == np.arange(2)
        terms = found.rare.mean + np.where(served, (rewards[:, None] - found.rare.mean) / found.rare.share, 0.0)
        terms[judged] = np.stack([found.model.expected(lists[judged, 1 + one])[0] for one in TARGETS], axis=1)
        terms[judged] += found.moves + found.model.scores(lists[judged, 0], clicks[judged], found.directions)
        return terms

    def _contradicted(self, log: Log) -> bool:
        """Whether the estimates of either ranker disagree, so that the one that assumes more is taken for false."""
        for arm in TARGETS:
            own, other = (log.mean(arm, name) for name in (TOP, LISTS))
            width, away = log.inference.interval(own), log.inference.difference(own, other)
            found = DisagreementEvidence(other=LISTS, difference=away, width=width.high - width.low, pairs=2)
            if cautions_for(found):
                return True
        return False

    def _values(
        self, query: Any, arm: Any, clicks: Any, rewards: Floats, first: float, history: Floats | None
    ) -> Floats:
        """[t, d] the columns of sessions. first: the share of the first arm."""
        clicked, served = clicks.sum(axis=1), arm[:, None] == np.arange(2)
        above = np.logical_and.accumulate(self.world.lists[0] == self.world.lists[1], axis=1)[query]
        by_arm = [served[:, one] * each for one in TARGETS for each in (np.ones(len(arm)), rewards, clicked)]
        terms = np.zeros((len(arm), 2)) if history is None else history
        weights = [
            np.where(above, 1.0, (served[:, one] / share)[:, None]) for one, share in ((0, first), (1, 1 - first))
        ]
        lists = [each for one in weights for each in (one[:, -1] * rewards, one[:, -1])]
        slots = [each for one in weights for each in (one * clicks, one)]
        every = [np.ones(len(arm)), rewards, clicked, *by_arm, *terms.T, *lists]
        inside = np.stack([np.ones(clicks.shape), *slots], axis=2).reshape(len(arm), -1)
        return np.concatenate([np.stack(every, axis=1), inside], axis=1)


def _variance(values: Floats, weight: Floats) -> float:
    """Of weighted values."""
    return float(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))


def _row(name: str) -> Any:
    """An estimator among those that were asked for."""
    kind = estimator(name).kind
    return SimpleNamespace(name=name, estimator=name, kind=kind, outcome="reward", sound=True)


def weighted_moments(values: Floats, count: Floats, blocks: tuple[tuple[int, ...], ...]) -> Moments:
    """Of rows [t, d] that stand for `count` [t] each."""
    n = count.sum()
    mean = (count[:, None] * values).sum(axis=0) / n
    away = values - mean
    third = {}
    for block in blocks:
        some = away[:, block]
        pairs = (some[:, :, None] * some[:, None, :]).reshape(len(some), -1) * count[:, None]
        third[block] = (some.T @ pairs).reshape((len(block),) * 3)
    return Moments(int(n), mean, away.T @ (away * count[:, None]), values.min(axis=0), values.max(axis=0), third)


def _moments(values: Floats, blocks: tuple[tuple[int, ...], ...]) -> Moments:
    """Of rows [n, d]."""
    fold = MomentsFold(blocks)
    return fold.of(Sample.of(values, np.zeros(len(values), np.uint64)))


def clusters_of(values: Floats, of: NDArray[np.int64], user: NDArray[np.int64]) -> Clusters:
    """The sums over users, who come one after another. of: [n] the number of a session's kind."""
    first = np.flatnonzero(np.diff(user, prepend=-1))
    sums = np.add.reduceat(values[of], first, axis=0)
    rows = np.diff(np.append(first, len(user))).astype(float)
    if len(sums) <= BUCKETS:
        return Clusters("user", sums, rows, np.inf)
    found, number = np.zeros((BUCKETS, 1 + sums.shape[1])), bucket_of(user[first].astype(np.uint64), BUCKETS)
    np.add.at(found, number, np.concatenate([rows[:, None], sums], axis=1))
    held = found[found[:, 0] > 0]
    return Clusters("user", held[:, 1:], held[:, 0], BUCKETS)


def _tails(values: Floats, sums: Sums) -> tuple[tuple[tuple[Any, ...], Tail], ...]:
    """Of the columns of rewards, as `reward_tails` finds them."""
    found = []
    for name in (REWARD, ("value", LISTS, 1), ("value", LISTS, 0)):
        column = np.sort(np.abs(values[:, sums.columns.places[name]]))[::-1]
        tail = heavy_tail(column[:LARGEST], float((column > 0).sum()), name, sums)
        if name == REWARD and tail is None:
            return ()
        if tail is not None:
            found.append(((name,), tail))
    return tuple(found)
