"""PL-Rank: a Plackett-Luce policy learnt from what each item earned at its rank."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from ..errors import LogError, UsageError, optional
from ..log.batch import Floats
from ..log.hashing import hashed
from ..policies.boosted import BoostedModel, TreeEnsemble
from . import _kernels_rankings
from .examples import Checkpoint, Data, Examples, ItemRanks, Learner, Store, by_item, grid, is_checkpoint
from .plackett_luce import SlateGradient
from .reductions import Scorer, passes
from .regression import of_clicks, of_rewards
from .trees import TreeSettings, climbing_rounds

Scores = Literal["linear", "boosted"]

_CANCELS = 1e-12
"""Share of the largest slope below which one is what rounding leaves of slopes that cancel: Adam would enlarge it."""


@dataclass(frozen=True)
class ItemRewards:
    """What items earn at ranks, according to the log: R(item, k) = curve_k worth + 1{shown there} excess.

    The correction excess = (click - curve_k worth) min(1 / q, clip), with q the logging policy's probability of the
    item at its rank, makes R unbiased whatever the worth is, if a click depends on its item and rank only.

    - model: predicts the worth of an item from its features; None for the same worth of all, a baseline.
    - curve: [k] what an item of worth 1 earns at each rank, the clicks there over the worth shown there.
    """

    slots: int
    curve: Floats
    clip: float
    model: Scorer | None = None

    @classmethod
    def of(cls, store: Store, slots: int, clip: float, model: Scorer | None) -> ItemRewards:
        """Fit the curve."""
        made = cls(slots, np.ones(slots), clip, model)
        earned, expected = np.zeros(slots), np.zeros(slots)
        for examples in store:
            width = examples.slates.shape[1]
            share, outcome = 1 / examples.inclusion, made.outcome(examples)
            earned[:width] += share @ outcome
            expected[:width] += share @ made._shown(examples, made.worth(examples))
        return replace(made, curve=np.divide(earned, expected, out=np.zeros(slots), where=expected > 0))

    def outcome(self, examples: Examples) -> Floats:
        """Return the click on the item at each rank [n, k], 0 on pads; with one slot, the reward."""
        return examples.reward[:, None] if self.slots == 1 else np.where(examples.slates >= 0, examples.clicks, 0.0)

    def worth(self, examples: Examples) -> Floats:
        """Return the worth of each candidate [lines]."""
        return np.ones(examples.starts[-1]) if self.model is None else self.model.chances(examples)

    def excess(self, examples: Examples, worth: Floats) -> Floats:
        """Return the weighted residual of the item at each rank [n, k]; 0 on pads."""
        width = examples.slates.shape[1]
        residual = self.outcome(examples) - self.curve[:width] * self._shown(examples, worth)
        return residual * np.minimum(inverse_propensities(examples, self.slots), self.clip)

    def _shown(self, examples: Examples, worth: Floats) -> Floats:
        """Return the worth of the item at each rank [n, k], 0 on pads."""
        lines = examples.starts[:-1, None] + np.maximum(examples.slates, 0)
        return np.where(examples.slates >= 0, worth[lines], 0.0)


def inverse_propensities(examples: Examples, slots: int) -> Floats:
    """Return one over the logging policy's probability of the item at each rank [n, k], 0 on pads."""
    if slots == 1:
        return np.exp(-examples.log_q)[:, None]
    return np.divide(1.0, examples.rank_q, out=np.zeros_like(examples.rank_q), where=examples.slates >= 0)


@dataclass(frozen=True)
class Metric:
    """The mean reward of a Plackett-Luce policy per impression, by the log, over the mean reward of the log.

    draws: rankings per impression for a gradient.
    """

    store: Store
    rewards: ItemRewards
    draws: int
    unit: float

    @classmethod
    def of(cls, store: Store, rewards: ItemRewards, draws: int) -> Metric:
        """Build in units of the mean reward."""
        earned = sum(float((rewards.outcome(one).sum(axis=1) / one.inclusion).sum()) for one in store)
        return cls(store, rewards, draws, 1 / max(earned, 1e-300))

    def slopes(self, examples: Examples, scores: Floats, stream: np.uint64) -> Floats:
        """Return the gradient by the score of each candidate [lines], from rankings drawn anew for each stream."""
        worth, out = self.rewards.worth(examples), np.empty(len(scores))
        given = (examples.slates, self.rewards.excess(examples, worth), self.unit / examples.inclusion, out)
        noise = (examples.keys, stream, self.draws)
        _kernels_rankings.row_slopes(examples.starts, scores, *noise, self.rewards.curve, worth, *given)
        return out

    def gradient(self, weights: Floats, stream: np.uint64) -> Floats:
        """Return the gradient by the weights of a linear scorer."""
        out = np.zeros_like(weights)
        for examples in self.store:
            lines = (examples.offsets, examples.indices, examples.values)
            scores = _kernels_rankings.line_scores(*lines, weights)
            _kernels_rankings.scatter(*lines, self.slopes(examples, scores, stream), out)
        return out


@dataclass(frozen=True)
class PLRank(ItemRanks, Learner):
    """Policy gradient of Plackett-Luce rankings by PL-Rank (Oosterhuis 2022), on rewards of items at ranks.

    Where only whole slates can be weighted, it is `SlateGradient`: a log without clicks, with another reward, or of a
    logging policy that does not tell the probability of an item at a rank.

    - scorer: `linear`, or `boosted` trees by LightGBM.
    - l2: penalties of the weights, in units of the mean reward. rate: the largest step of a weight (Adam).
    - leaves: of a boosted tree. shrinkage: the largest step of a score at a boosted tree.
    - robust: whether a regression of the clicks predicts the worth of items, else all have the same.
    - clips: importance weights of items are clipped at this quantile of the inverse propensities.
    - epochs: of `steps` passes each, in which `draws` rankings per impression are drawn; a tree for each pass.

    Raises:
        UsageError: there is no such scorer. MissingExtraError: LightGBM is not installed.
    """

    scorer: Scores = "linear"
    l2: tuple[float, ...] = (1e-3, 1e-2)
    leaves: tuple[int, ...] = (8,)
    shrinkage: float = 0.1
    robust: tuple[bool, ...] = (False, True)
    clips: tuple[float, ...] = (1.0,)
    rate: float = 0.2
    draws: int = 2
    steps: int = 8
    epochs: int = 8

    def __post_init__(self) -> None:
        if self.scorer not in get_args(Scores):
            raise UsageError(f"scorer is {self.scorer!r}", "use " + " or ".join(get_args(Scores)))
        if self.scorer == "boosted":
            optional("lightgbm", "boosted trees need LightGBM", "models")
        for name in ("l2", "leaves", "robust", "clips"):
            object.__setattr__(self, name, grid(name, getattr(self, name)))
        self._check()
        for leaves in self.leaves:
            TreeSettings(self.epochs * self.steps, leaves, self.shrinkage)  # raises for settings that cannot work

    def _check(self) -> None:
        """Raise if a setting that is not searched cannot work."""
        for name in ("draws", "steps", "epochs"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise UsageError(f"{name} is {value!r}", "give a whole number of at least 1")
        for name in ("rate", "shrinkage"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 < value < np.inf:
                raise UsageError(f"{name} is {value!r}", "give a number above 0")
        clips: tuple[Any, ...] = self.clips
        for clip in clips:
            if not isinstance(clip, int | float) or not 0 <= clip <= 1:
                raise UsageError(f"clips has {clip!r}", "give a share of the impressions, from 0 to 1")

    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield candidates of every setting, after 1, 2, 4 ... epochs and after the last."""
        if data.slots > 1 and not by_item(data.train):
            yield from SlateGradient(clips=self.clips, epochs=self.epochs).candidates(data, seed)
            return
        store = data.train.from_zero_to_one() if data.slots == 1 else data.train
        for robust, clip in itertools.product(self.robust, self.clips):
            rewards = ItemRewards.of(store, data.slots, _quantile(store, data.slots, clip), _model(data, seed, robust))
            climbed = (self._linear if self.scorer == "linear" else self._boosted)(
                Metric.of(store, rewards, self.draws), data, seed
            )
            for one in climbed:
                yield replace(one, settings={"robust": float(robust), "clip": clip, **one.settings})

    def _linear(self, metric: Metric, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield linear scorers for every penalty."""
        for l2 in self.l2:
            for number, weights in enumerate(self._climb(metric, l2, data.encoding.size, seed), 1):
                if is_checkpoint(number, self.epochs):
                    yield Checkpoint.linear({"l2": l2, "epochs": number}, weights, data)

    def _boosted(self, metric: Metric, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield boosted trees for every number of leaves; all examples are in memory at once."""
        from scipy import sparse

        pieces = list(metric.store)
        columns = np.unique(np.concatenate([one.indices for one in pieces])).astype(np.int64)
        if not len(columns):
            raise LogError("no candidate has any feature", "use a log with features of the candidates")
        model = BoostedModel(data.encoding, columns, TreeEnsemble("", len(columns)))
        features = sparse.vstack([model.matrix(one.lines) for one in pieces], format="csr")
        cuts = np.cumsum([one.starts[-1] for one in pieces])[:-1]

        def slope(scores: Floats, number: int) -> Floats:
            some, stream = zip(pieces, np.split(scores, cuts), strict=True), _stream(seed, number)
            return np.concatenate([metric.slopes(one, at, stream) for one, at in some])

        after = tuple(n * self.steps for n in range(1, self.epochs + 1) if is_checkpoint(n, self.epochs))
        for leaves in self.leaves:
            settings = TreeSettings(self.epochs * self.steps, leaves, self.shrinkage)
            for number, forest in climbing_rounds(features, slope, settings, seed, after):
                yield Checkpoint({"leaves": leaves, "trees": number}, BoostedModel(data.encoding, columns, forest))

    def _climb(self, metric: Metric, l2: float, size: int, seed: int) -> Iterator[Floats]:
        """Yield the weights after each epoch of Adam (Kingma and Ba 2015)."""
        weights, mean, square = np.zeros(size), np.zeros(size), np.zeros(size)
        for step in range(1, self.epochs * self.steps + 1):
            gradient = metric.gradient(weights, _stream(seed, step)) - l2 * weights
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            size_of = np.sqrt(square / (1 - 0.99**step))
            least = _CANCELS * size_of.max(initial=0.0)
            along = np.divide(mean / (1 - 0.9**step), size_of, out=mean * 0, where=size_of > least)
            weights = weights + self.rate * along
            if step % self.steps == 0:
                yield weights


def _stream(seed: int, step: int) -> np.uint64:
    """Return the stream of random numbers of a step."""
    return np.uint64(hashed(hashed(np.array([seed % 2**64], dtype=np.uint64)) + np.uint64(step))[0])


def _quantile(store: Store, slots: int, level: float) -> float:
    """Return a quantile of the inverse propensities of the items shown; level 1 clips nothing."""
    if level >= 1:
        return np.inf
    every = [inverse_propensities(one, slots)[one.slates >= 0] for one in store]
    return float(np.quantile(np.concatenate(every), level))


def _model(data: Data, seed: int, robust: bool) -> Scorer | None:
    """Return the regression of the clicks on the items shown; with one slot, of the reward."""
    if not robust:
        return None
    targets, store = (of_rewards, data.train.from_zero_to_one()) if data.slots == 1 else (of_clicks, data.train)
    *_, last = passes(store, targets, 0.1, 4, data.encoding.size, seed)
    return last
