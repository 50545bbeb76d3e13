"""Small worlds in which every slate of every context is enumerated, so that expectations are sums.

An estimator is correct if, given each slate once and weighted by its probability, it equals the
truth: no randomness, no tolerance except rounding. Estimators are linear in the clicks given the
slate, so expected clicks stand for clicks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offrank.log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown
from offrank.log.source import Needs, refuse_unknown_clusters

from .laws import Behaviour, Law, Situation, Slate, enumerated_rank_probs, enumerated_slot_probs, law

Clicks = Callable[[int, Slate], Sequence[float]]
"""(context, slate) -> expected click in each slot."""
Reward = Callable[[int, Slate], float]
"""(context, slate) -> expected reward of the slate."""


@dataclass(frozen=True)
class MemorySource:
    """A log of batches in memory; each batch is a part."""

    pieces: tuple[LogBatch, ...]

    def parts(self) -> int:
        return len(self.pieces)

    def batches(self, part: int) -> Iterator[LogBatch]:
        yield self.pieces[part]

    def select(self, needed: Needs) -> MemorySource:
        each = [{*piece.contexts.keys, *piece.clusters} for piece in self.pieces]
        refuse_unknown_clusters(needed, set.intersection(*each) if each else (), self)
        return self

    def describe(self) -> str:
        return "memory"


@dataclass(frozen=True)
class World:
    """A world of equally likely situations, with the clicks of users in them.

    reward: by default the sum of the clicks.
    """

    situations: tuple[Situation, ...]
    clicks: Clicks
    reward: Reward | None = None

    def value(self, target: Behaviour) -> float:
        """Return the true value: expected reward of a policy per impression."""
        earned = [self._expectation(index, law(target, s)) for index, s in enumerate(self.situations)]
        return math.fsum(earned) / len(earned)

    def batch(self, logging: Behaviour) -> LogBatch:
        """Return every slate that the logging policy can show, once, with 1 / inclusion = its probability.

        `propensity`, `slot_propensity` and `rank_propensity` come from the enumeration; the key `query` and the
        label `situation` identify the situations.
        """
        laws = [law(logging, situation) for situation in self.situations]
        which = np.array([index for index, found in enumerate(laws) for _ in found])
        slates = [slate for found in laws for slate in found]
        propensity = np.array([chance for found in laws for chance in found.values()])
        slots = max(map(len, slates))
        contexts = self.contexts(which)
        pairs = list(zip(which.tolist(), slates, strict=True))
        return LogBatch(
            contexts=contexts,
            shown=Shown(
                padded(slates, slots, -1).astype(np.int64),
                {
                    "propensity": propensity,
                    "slot_propensity": padded(
                        [enumerated_slot_probs(laws[index], slate) for index, slate in pairs], slots, 1.0
                    ),
                    "rank_propensity": np.array([_displayed(laws[index], slate, slots) for index, slate in pairs]),
                },
            ),
            clicks=padded([self.clicks(index, slate) for index, slate in pairs], slots),
            outcome=None if self.reward is None else np.array([self.reward(i, slate) for i, slate in pairs]),
            inclusion=1 / propensity,
            row=np.arange(len(slates), dtype=np.uint64),
            labels={"situation": Labels(which, tuple(map(str, range(len(self.situations)))))},
        )

    def source(self, logging: Behaviour) -> MemorySource:
        """Return the same as a log of one part."""
        return MemorySource((self.batch(logging),))

    def contexts(self, which: Integers) -> Contexts:
        """Return the contexts of situations which[n], padded to the widest situation of the world."""
        situations, widest = self.situations, self._widest
        size = np.array([situation.size for situation in situations])[which]
        names = sorted({name for situation in situations for name in situation.scores})
        lists = sorted({name for situation in situations for name in situation.rankings})
        keys = sorted({name for situation in situations for name in situation.keys})
        items = np.arange(widest)
        return Contexts(
            candidates=np.where(items < size[:, None], 100 * which[:, None] + items, 0),
            size=size,
            length=np.array([situation.slots for situation in situations])[which],
            scores={name: padded([s.scores[name] for s in situations], widest)[which] for name in names},
            rankings={name: self._rankings(name)[which] for name in lists},
            keys={
                "query": which.astype(np.int64),
                **{name: np.array([s.keys[name] for s in situations], np.int64)[which] for name in keys},
            },
        )

    @cached_property
    def _widest(self) -> int:
        return max(situation.size for situation in self.situations)

    def _rankings(self, name: str) -> Integers:
        found = [situation.rankings[name] for situation in self.situations]
        return padded(found, max(map(len, found)), -1).astype(np.int64)

    def _expectation(self, index: int, found: Law) -> float:
        return math.fsum(chance * self._earned(index, slate) for slate, chance in found.items())

    def _earned(self, index: int, slate: Slate) -> float:
        if self.reward is not None:
            return self.reward(index, slate)
        return math.fsum(self.clicks(index, slate))


def padded(rows: Sequence[Sequence[float]], width: int, pad: float = 0.0) -> Floats:
    """Return rows side by side, padded [n, width]."""
    return np.array([[*row, *[pad] * (width - len(row))] for row in rows], dtype=np.float64)


def _displayed(found: Law, slate: Slate, slots: int) -> Floats:
    """Return the probability of displayed item i at rank j [k, k]."""
    matrix = np.zeros((slots, slots))
    for slot, item in enumerate(slate):
        matrix[slot, : len(slate)] = enumerated_rank_probs(found, item, len(slate))
    return matrix
