"""The toy world of paper interpol, appendix B: one list of ten items, randomly swapped, four of them relevant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np

from offrank.estimators.base import Weighted
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.log.source import Needs, OnePart, refuse_unknown_clusters
from offrank.policies.propensities import propensities
from offrank.policies.ranking import Ranking
from offrank.policies.swaps import Swaps

BASE = (6, 0, 3, 1, 4, 8, 9, 7, 5, 2)
TARGET = (7, 0, 3, 1, 5, 6, 8, 9, 2, 4)
RELEVANT = (1, 2, 4, 7)
ITEMS = len(BASE)
EXAMINATION = np.arange(ITEMS, 0, -1) / ITEMS
"""[10] examination probability of each rank: 1, 0.9, ..., 0.1."""
TRUTH = 2.0
"""Expected reward of the target per impression."""


@dataclass(frozen=True)
class ToyWorld(OnePart):
    """A log of the toy world; each reading of it as a `Source` draws the same rows again.

    A relevant item is clicked if its rank is examined, each rank independently. Every item keeps its place in the
    base ranking with probability `stay` (`Swaps` is the law). For expectations, `placements` and
    `patterns` enumerate all outcomes.
    """

    impressions: int = 5_000
    stay: float = 0.95
    seed: int = 2

    @property
    def logging(self) -> Swaps:
        """The policy that draws the log."""
        return Swaps(Ranking("base"), self.stay)

    @property
    def target(self) -> Ranking:
        """The policy to evaluate."""
        return Ranking("target")

    def batches(self, part: int) -> Iterator[LogBatch]:
        rng, found = np.random.default_rng([self.seed, part]), contexts(self.impressions)
        slates = self.logging.sample(found, rng)
        clicks = rng.random(slates.shape) < np.isin(slates, RELEVANT) * EXAMINATION
        yield _log(found, slates, clicks.astype(np.float64))

    def select(self, needed: Needs) -> ToyWorld:
        refuse_unknown_clusters(needed, (), self)  # rows are independent draws from the world
        return self

    def describe(self) -> str:
        return f"{self.impressions:,} simulated impressions of the toy world"

    @cached_property
    def law(self) -> Floats:
        """Return the probability of each placement [5041]."""
        shuffled, count = (1 - self.stay) * ITEMS / (ITEMS - 1), len(placements())
        return np.array([1 - shuffled] + (count - 1) * [shuffled / (count - 1)])


def contexts(n: int) -> Contexts:
    """Return n copies of the only context."""
    base, target = (np.tile(np.array(ranking), (n, 1)) for ranking in (BASE, TARGET))
    items = np.tile(np.arange(ITEMS), (n, 1))
    return Contexts(items, np.full(n, ITEMS), np.full(n, ITEMS), rankings={"base": base, "target": target})


@lru_cache(maxsize=1)
def placements() -> LogBatch:
    """Return the base ranking and every placement of the four relevant items; clicks are their probabilities.

    The places of the other items do not matter, so these 5,041 rows are all outcomes of a slate.
    """
    others = [item for item in range(ITEMS) if item not in RELEVANT]
    slates: list[tuple[int, ...]] = [BASE]
    for ranks in permutations(range(ITEMS), len(RELEVANT)):
        slate, rest = dict(zip(ranks, RELEVANT, strict=True)), iter(others)
        slates.append(tuple(slate[rank] if rank in slate else next(rest) for rank in range(ITEMS)))
    shown = np.array(slates)
    return _log(contexts(len(shown)), shown, np.isin(shown, RELEVANT) * EXAMINATION)


def term_moments(world: ToyWorld, estimators: Sequence[Weighted]) -> tuple[Floats, Floats]:
    """Return expectation and variance [estimators] of one impression's term in an estimate, exactly.

    Given the placement, clicks are independent of each other. The estimators must weight clicks.
    """
    log = placements()
    logging, target = propensities(world.logging, log), propensities(world.target, log)
    weight = np.stack([estimator.weigh(log, logging, target).weight for estimator in estimators])
    assert log.clicks is not None
    given = np.einsum("enk,nk->en", weight, log.clicks)
    within = np.einsum("enk,nk->en", weight**2, log.clicks * (1 - log.clicks))
    mean = given @ world.law
    return mean, (within + given**2) @ world.law - mean**2


def _log(found: Contexts, slates: Integers, clicks: Floats) -> LogBatch:
    n = len(found)
    return LogBatch(found, Shown(slates), clicks, None, np.ones(n), np.arange(n, dtype=np.uint64))
