"""Inputs and outputs of learners: a log, encoded once for repeated reading, and learnt models.

Learning is invariant to adding a constant to the log's rewards and to multiplying them.
Importance weights have an expectation of 1, but not a mean of 1: a policy that is learnt from reward + b by plain IPS
also learns to make the mean weight large (b > 0) or small (b < 0), which is propensity overfitting (Swaminathan and
Joachims 2015, The self-normalized estimator for counterfactual learning). So a baseline is subtracted first, and it
shifts with the rewards.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers
from ..policies.linear import Encoding, Lines, Model
from ..sums.fingerprint import Fingerprint
from .contexts import ContextSums


@dataclass(frozen=True)
class Examples:
    """Impressions with encoded candidates: n rows, k slots.

    - starts, offsets, indices, values: as in `Lines`.
    - slates: [n, k] candidate per slot, -1 pads. clicks: [n, k], NaN where only the reward was logged.
    - log_q: [n] logarithm of the logged slate's probability. reward, inclusion: [n].
    - keys: [lines] of each candidate in its row, whatever the order of candidates.
    - rank_q: [n, k] the logging policy's probability of the item at its rank; NaN on pads and where it is not known.
    """

    starts: Integers
    offsets: Integers
    indices: NDArray[np.int32]
    values: Floats
    slates: Integers
    clicks: Floats
    log_q: Floats
    reward: Floats
    inclusion: Floats
    keys: NDArray[np.uint64]
    rank_q: Floats

    def __len__(self) -> int:
        return len(self.reward)

    @property
    def size(self) -> Integers:
        """Return the number of candidates of each row [n]."""
        return np.diff(self.starts)

    @property
    def lines(self) -> Lines:
        """Return the candidates' features."""
        return Lines(self.starts, self.offsets, self.indices, self.values)

    @property
    def shown(self) -> Integers:
        """Return the line of the candidate in the first slot [n]."""
        return np.asarray(self.starts[:-1] + self.slates[:, 0])


@dataclass(frozen=True)
class Store:
    """Examples in pieces that fit into memory; for large logs only one piece is in memory at a time.

    impressions: estimated number before sub-sampling, the sum of 1 / inclusion; rows: number of logged rows.
    shift, scale: rewards are returned as (logged - shift) / scale.
    """

    pieces: tuple[Examples | Path, ...]
    rows: int
    impressions: float
    slots: int
    shift: float = 0.0
    scale: float = 1.0

    def __iter__(self) -> Iterator[Examples]:
        for index in range(len(self.pieces)):
            yield self.piece(index)

    def piece(self, index: int) -> Examples:
        """Return one piece, from memory or from its file."""
        found = self.pieces[index]
        if not isinstance(found, Examples):
            with np.load(found, allow_pickle=False) as arrays:
                found = Examples(**arrays)
        if self.shift == 0.0 and self.scale == 1.0:
            return found
        return replace(found, reward=(found.reward - self.shift) / self.scale)

    def centred(self) -> Store:
        """Return rewards minus their median, over their mean absolute deviation from it; row weights are 1 / inclusion.

        If fewer than half of the impressions are clicked, these are the clicks over the click rate, as POEM was
        published; rewards 0 and 1, -1 and 0, 5 and 9 are all equivalent.
        """
        return self._moved(self.baseline(), self.deviation())

    def from_zero_to_one(self) -> Store:
        """Return rewards scaled to 0 for the smallest and 1 for the largest, as logistic regression requires.

        A fraction counts as that share of a one (Papke and Wooldridge 1996): the model predicts the mean reward.
        """
        reward, _ = self._rewards()
        return self._moved(float(reward.min()), float(reward.max() - reward.min()))

    def baseline(self) -> float:
        """Return the median of the rewards."""
        return median(*self._rewards())

    def deviation(self) -> float:
        """Return the mean absolute deviation of the rewards from their median."""
        reward, weight = self._rewards()
        return float(weight @ np.abs(reward - median(reward, weight))) / float(weight.sum())

    def _rewards(self) -> tuple[Floats, Floats]:
        """Return (reward, 1 / inclusion) of every row."""
        pairs = [(examples.reward, 1 / examples.inclusion) for examples in self]
        reward, weight = (np.concatenate(part) for part in zip(*pairs, strict=True))
        return reward, weight

    def _moved(self, shift: float, scale: float) -> Store:
        """Return the store with (reward - shift) / scale, after its present transformation. A scale of 0 is ignored."""
        return replace(self, shift=self.shift + self.scale * shift, scale=self.scale * (scale or 1.0))


def median(values: Floats, weights: Floats) -> float:
    """Return the smallest value that at least half of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])


@dataclass(frozen=True)
class Data:
    """The input of a learner. training: rows of the log in these data; None if not requested.

    contexts, validate_contexts: the distinct contexts of both thirds, for learners and criteria that need them.
    longest: slots of the widest slate of the whole log, if known.
    """

    train: Store
    validate: Store
    encoding: Encoding
    training: Fingerprint | None = None
    contexts: ContextSums | None = None
    validate_contexts: ContextSums | None = None
    longest: int = 0

    @property
    def slots(self) -> int:
        """Return the number of slots of the widest slate of both thirds."""
        return max(self.train.slots, self.validate.slots)


class LearntModel(Protocol):
    """A model that a policy's file holds, such as `policies.linear.Model`: it scores candidates by their features."""

    def log_prob(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """Return the log-probability of each slate [n], if the model's policy sorts (`greedy`) or draws."""

    def rank_probs(self, contexts: Contexts, greedy: bool) -> Floats:
        """Return the probability of each candidate at each rank [n, m, k]."""

    def item_probs(self, lines: Lines, slates: Integers, greedy: bool) -> Floats:
        """Return the probability of each slate's item at its own rank [n, k]."""

    def recorded(self, facts: Mapping[str, Any], training: Fingerprint | None) -> LearntModel:
        """Return the model with how it was learnt, and the fingerprint of the rows."""

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the policy's file. overwrite: replace a file of others that is there."""


@dataclass(frozen=True)
class Checkpoint:
    """A model learnt with these settings, hyper-parameters by name; None where the search did not keep it."""

    settings: Mapping[str, float]
    model: LearntModel | None

    @classmethod
    def linear(cls, settings: Mapping[str, float], weights: Floats, data: Data) -> Checkpoint:
        """Build from the weights [2^bits] of a linear scorer."""
        return cls(settings, Model(data.encoding, weights))


class Learner(Protocol):
    """A learning method, a frozen dataclass: its fields are the grid of hyper-parameters.

    greedy: whether its policy is meant to be sorted by (the reductions to supervised learning) or drawn from.
    one_slot: whether it supports only slates of one slot.
    per_item: whether, for slates of several slots, it learns from the click on each item, not from the slate's reward.
    """

    greedy: ClassVar[bool] = False
    one_slot: ClassVar[bool] = False
    per_item: ClassVar[bool] = False

    def candidates(self, data: Data, seed: int) -> Iterator[Checkpoint]:
        """Yield a model for every setting, intermediate ones too; only the training third is used."""


class ItemRanks:
    """A learner that uses the logging policy's probability of each item at its rank, where it is known."""


def grid(name: str, value: Any) -> tuple[Any, ...]:
    """Return the values of a setting that are tried; a single one is a grid of one.

    Raises:
        UsageError: there is none.
    """
    found = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not found:
        raise UsageError(f"the grid is empty: {name}", "give at least one value")
    return found


def is_checkpoint(passed: int, passes: int) -> bool:
    """Whether a model is a candidate after this many passes: after 1, 2, 4 ... and after the last."""
    return passed == passes or passed & (passed - 1) == 0


def by_item(store: Store) -> bool:
    """Whether the log says what each item earned, and with which probability it was at its rank."""
    return all(
        np.array_equal(np.where(one.slates >= 0, one.clicks, 0.0).sum(axis=1), one.reward)
        and bool((one.rank_q[one.slates >= 0] > 0).all())
        for one in store
    )
