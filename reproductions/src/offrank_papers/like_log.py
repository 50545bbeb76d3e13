"""Worlds like a log: its own contexts and policies, and users whose click rates by rank are those of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from offrank.errors import ColumnError
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.log.source import Needs, OnePart, refuse_unknown_clusters
from offrank.policies.base import Policy, all_items

Behaviour = Callable[[Floats], Floats]
"""From the attraction of the items on slates [n, k] (0: nothing there) a factor of each click rate [n, k]."""
_DRAWS = 64
_STEP = 4096
_TIRED, _CONTRAST = 0.9, 0.8


def _cascade(attraction: Floats) -> Floats:
    """Users read from the top, and most of those whom an item attracts read no further."""
    passed = np.cumprod(1 - _TIRED * attraction, axis=1)
    return np.concatenate([np.ones((len(attraction), 1)), passed[:, :-1]], axis=1)


def _neighbours(attraction: Floats) -> Floats:
    """An item is clicked less beside more attractive ones, above it and below it."""
    beside = np.pad(attraction, ((0, 0), (1, 1)))
    near = np.stack([beside[:, :-2], beside[:, 2:]])
    return 1 - _CONTRAST * near.max(axis=0, initial=0.0)


BEHAVIOURS: dict[str, Behaviour] = {"position-based": np.ones_like, "cascade": _cascade, "neighbours": _neighbours}


@dataclass(frozen=True)
class LikeLog:
    """A world of contexts, each equally likely, whose users behave in one way.

    - attraction: [q, m] of each candidate, from 0 to 1. rates: [k] click rates by rank under the logging policy.
    - rewards: whether logs hold the number of clicks as a reward, without the clicks.
    """

    contexts: Contexts
    attraction: Floats
    logging: Policy
    behaviour: Behaviour
    rates: Floats
    rewards: bool = False
    examination: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "examination", np.ones(len(self.rates)))
        mean = self._mean_rates()
        fitted = np.divide(self.rates, mean, out=np.zeros(len(mean)), where=mean > 0)
        object.__setattr__(self, "examination", fitted)

    @property
    def off(self) -> float:
        """The largest difference of its click rates by rank from `rates`: no click has a chance above 1."""
        return float(np.abs(self._mean_rates() - self.rates).max(initial=0.0))

    def _mean_rates(self) -> Floats:
        """[k] mean click probabilities by rank, of slates drawn by the logging policy."""
        chances = self._chances(self.logging, np.random.default_rng(0), _DRAWS)
        shown = np.arange(len(self.rates)) < self.contexts.length[:, None]
        return np.asarray(chances.mean(axis=1).sum(axis=0) / np.maximum(shown.sum(axis=0), 1))

    def truth(self, target: Policy, seed: int = 0) -> float:
        """Expected clicks per impression of a policy, from drawn slates of every context."""
        return float(self._chances(target, np.random.default_rng([seed, 1]), _DRAWS).sum(axis=2).mean())

    def source(self, rows: int, seed: int) -> SimulatedLog:
        """A log of this world."""
        return SimulatedLog(self, rows, seed)

    def chance(self, rows: Integers, slates: Integers) -> Floats:
        """[n, k] click probabilities on slates of the contexts of these numbers."""
        attraction = np.where(slates >= 0, self.attraction[rows[:, None], np.maximum(slates, 0)], 0.0)
        return np.minimum(self.examination[: slates.shape[1]] * attraction * self.behaviour(attraction), 1.0)

    def _chances(self, policy: Policy, rng: np.random.Generator, draws: int) -> Floats:
        """[q, draws, k] click probabilities on drawn slates."""
        rows = np.repeat(np.arange(len(self.contexts)), draws)
        found = np.zeros((len(rows), len(self.rates)))
        for first in range(0, len(rows), _STEP):
            part = rows[first : first + _STEP]
            slates = policy.sample(self.contexts.take(part), rng)
            found[first : first + len(part), : slates.shape[1]] = self.chance(part, slates)
        return found.reshape(len(self.contexts), draws, -1)


@dataclass(frozen=True)
class SimulatedLog(OnePart):
    """A log of a world, drawn while it is read; the same seed gives the same log."""

    world: LikeLog
    rows: int
    seed: int

    def batches(self, part: int) -> Iterator[LogBatch]:
        world, rng = self.world, np.random.default_rng([self.seed, 2])
        for first in range(0, self.rows, _STEP):
            rows = rng.integers(len(world.contexts), size=min(_STEP, self.rows - first))
            contexts = world.contexts.take(rows)
            slates = world.logging.sample(contexts, rng)
            clicks = (rng.random(slates.shape) < world.chance(rows, slates)).astype(np.float64)
            outcome = clicks.sum(axis=1) if world.rewards else None
            number = np.arange(first, first + len(rows), dtype=np.uint64)
            beside = None if world.rewards else clicks
            yield LogBatch(contexts, Shown(slates), beside, outcome, np.ones(len(rows)), number, file="simulated")

    def select(self, needed: Needs) -> SimulatedLog:
        if self.world.rewards and "clicks" in needed.roles:
            raise ColumnError("the log has no clicks", "use an estimator of the reward of the whole slate")
        refuse_unknown_clusters(needed, self.world.contexts.keys, self)
        return self

    def describe(self) -> str:
        return f"{self.rows:,} simulated impressions"


def attractions_by_orders(contexts: Contexts, policies: tuple[Policy, ...], seed: int) -> Floats:
    """[q, m] attractions that the policies' orders predict in part: from .05 to .95, half of the variance is noise."""
    rng, total = np.random.default_rng([seed, 3]), np.zeros(contexts.candidates.shape)
    for policy in policies:
        total += policy.rank_probs(contexts, all_items(contexts)) @ np.linspace(1.0, 0.0, contexts.slots + 1)[:-1]
    deviation = max(float(total.std()), 1e-9)
    merit = (total - total.mean()) / deviation + rng.normal(size=total.shape)
    return np.asarray(0.05 + 0.9 / (1 + np.exp(1.0 - merit)))
