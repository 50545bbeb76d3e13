"""A small world of banners: Plackett-Luce logging, position bias by banner size, at most one click, many models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offrank.log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown
from offrank.log.source import Needs, refuse_unknown_clusters
from offrank.policies.plackett_luce import PlackettLuce

from .single_clicks import one_click

_ROWS = 5_000
_LARGEST_RELEVANCE = 0.2


@dataclass(frozen=True)
class BannerWorld:
    """A log of simulated banners; each reading of it as a `Source` draws the same rows again.

    - slots: kinds of banners, equally frequent, by number of products; larger ones have more position
      bias: P(rank j is examined) = j^-bias with a bias of slots / 8, at most 1.25.
    - P(click on item i at rank j) = P(rank j is examined) relevance_i, and at most one click per banner.
    - shuffled: whether the products drawn by Plackett-Luce are put in a uniformly random order.
    - randomness: temperature of `old_score`, the Plackett-Luce weights of the logging policy.
    - models: `model_0`, `model_1`, ...: mixtures of the truth, of the logging score and of noise.
    """

    impressions: int = 200_000
    slots: tuple[int, ...] = (3, 6, 10)
    candidates: int = 14
    models: int = 40
    queries: int = 1_500
    shuffled: bool = False
    randomness: float = 0.2
    seed: int = 4

    @property
    def logging(self) -> PlackettLuce:
        """The policy that draws the items, and also their order unless they are shuffled."""
        return PlackettLuce("old_score")

    @property
    def model_names(self) -> list[str]:
        """The score columns of the models."""
        return [f"model_{index}" for index in range(self.models)]

    def parts(self) -> int:
        return len(self.slots) * -(-self._each // _ROWS)

    def batches(self, part: int) -> Iterator[LogBatch]:
        kind, chunk = divmod(part, self.parts() // len(self.slots))
        rows = min(_ROWS, self._each - chunk * _ROWS)
        rng = np.random.default_rng([self.seed, int(self.shuffled), part])
        contexts = self.contexts(rng.integers(self.queries, size=rows), self.slots[kind])
        slates = self.logging.sample(contexts, rng)
        if self.shuffled:
            slates = rng.permuted(slates, axis=1)
        relevance = np.take_along_axis(self.relevance[contexts.keys["query"]], slates, axis=1)
        clicks = one_click(relevance * self.examination(slates.shape[1]), rng)
        yield LogBatch(
            contexts,
            Shown(slates),
            clicks.astype(np.float64),
            None,
            np.ones(rows),
            (np.arange(rows) + part * _ROWS).astype(np.uint64),
            {"slots": Labels(np.full(rows, kind), tuple(map(str, self.slots)))},
        )

    def select(self, needed: Needs) -> BannerWorld:
        refuse_unknown_clusters(needed, (), self)  # rows are independent draws from the world
        return self

    def describe(self) -> str:
        return f"{self.impressions:,} simulated {'shuffled ' if self.shuffled else ''}banners"

    def contexts(self, query: Integers, slots: int) -> Contexts:
        """Return the contexts of these queries, for banners of one kind."""
        size, length = np.full(len(query), self.candidates), np.full(len(query), slots)
        items = query[:, None] * self.candidates + np.arange(self.candidates)
        scores = {name: np.ascontiguousarray(score[query]) for name, score in self.scores.items()}
        return Contexts(items, size, length, scores, keys={"query": query})

    def examination(self, slots: int) -> Floats:
        """Return the examination probability of each rank [slots]."""
        return np.asarray(np.arange(1, slots + 1) ** -min(slots / 8, 1.25))

    @cached_property
    def relevance(self) -> Floats:
        """Return the probability of a click if examined [queries, candidates]."""
        return np.minimum(0.06 * np.exp(0.7 * self._appeal), _LARGEST_RELEVANCE)

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """Return name -> [queries, candidates]: the logging weights and the models' scores."""
        rng, shape = np.random.default_rng([self.seed, 2]), self._appeal.shape
        habit = rng.normal(size=shape)  # preferences of the logging policy unrelated to relevance
        found = {"old_score": np.exp((0.5 * self._appeal + 0.85 * habit) / self.randomness)}
        for name in self.model_names:
            truth, imitation, noise = rng.uniform(0.2, 0.6), rng.uniform(-0.3, 1.2), rng.uniform(0.3, 0.7)
            found[name] = truth * self._appeal + imitation * habit + noise * rng.normal(size=shape)
        return found

    def likeness(self, model: str) -> float:
        """Return the correlation of a model's scores with the logarithm of the logging weights."""
        return float(np.corrcoef(self.scores[model].ravel(), np.log(self.scores["old_score"]).ravel())[0, 1])

    @property
    def _each(self) -> int:
        return max(self.impressions // len(self.slots), 1)

    @cached_property
    def _appeal(self) -> Floats:
        return np.random.default_rng([self.seed, 1]).normal(size=(self.queries, self.candidates))
