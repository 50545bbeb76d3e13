"""A small world of search: queries, a production ranker, position bias, and a known truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..language.files import atomic_write
from ..language.outputs import DEMO
from ..log.batch import Contexts, Floats, Integers
from ..policies.base import Policy
from ..policies.plackett_luce import PlackettLuce
from .shared import expected_clicks, list_column

LOGGING = PlackettLuce("old_score")
"""The policy that draws the slates of this world."""
_PART_ROWS = 25_000


@dataclass(frozen=True)
class SearchWorld:
    """Queries with `candidates` items each, of which `slots` are shown by Plackett-Luce logging.

    - Users follow the position-based model: P(click) = examination of the rank x relevance of the item.
    - `old_score` drew the slates; `new_score` is more correlated with relevance, `naive_score` not at all.
    - Item ids are `query * 100 + place`, so that every item belongs to one query.
    """

    impressions: int = 200_000
    queries: int = 400
    candidates: int = 6
    slots: int = 4
    seed: int = 7

    @property
    def examination(self) -> Floats:
        """Return the examination probability of each rank: 1, 1/2, 1/3, ... [slots]."""
        return 1.0 / np.arange(1, self.slots + 1)

    @cached_property
    def relevance(self) -> Floats:
        """Return the probability of a click if examined [queries, candidates]."""
        return self._rng(0).beta(1.5, 4.0, size=(self.queries, self.candidates))

    def contexts(self, query: Integers) -> Contexts:
        """Return the contexts of these queries."""
        items = query[:, None] * 100 + np.arange(self.candidates)
        scores = {name: np.ascontiguousarray(score[query]) for name, score in self._scores.items()}
        length = np.full(len(query), self.slots)
        return Contexts(items, np.full(len(query), self.candidates), length, scores)

    def truth(self, policy: Policy) -> float:
        """Return a policy's expected reward per impression, exactly: sum of P(item at rank) p_rank relevance."""
        contexts = self.contexts(np.arange(self.queries))
        return float(expected_clicks(policy, contexts, self.examination, self.relevance) @ self._share)

    def table(self, rows: int, part: int) -> pa.Table:
        """Return a piece of the log in the wide layout, the same for the same seed and part."""
        rng = self._rng(1, part)
        query = rng.choice(self.queries, size=rows, p=self._share)
        contexts = self.contexts(query)
        slates = LOGGING.sample(contexts, rng)
        chance = self.examination * np.take_along_axis(self.relevance[query], slates, axis=1)
        clicks = rng.random(chance.shape) < chance
        columns: dict[str, Any] = {
            "query": query,
            "device": np.where(rng.random(rows) < 0.6, "phone", "desktop"),
            "slate": list_column(np.take_along_axis(contexts.candidates, slates, axis=1)),
            "clicks": list_column(clicks.astype(np.int8)),
            "propensity": np.exp(LOGGING.log_prob(contexts, slates)),
            "candidates": list_column(contexts.candidates),
            **{name: list_column(score.astype(np.float32)) for name, score in contexts.scores.items()},
        }
        return pa.table(columns)

    @cached_property
    def _share(self) -> Floats:
        """Return the popularity of each query, a few being frequent [queries]."""
        weight = 1.0 / np.arange(10, self.queries + 10)
        return weight / weight.sum()

    @cached_property
    def _scores(self) -> dict[str, Floats]:
        """Return scores in single precision, as they are logged."""
        rng, appeal = self._rng(2), np.log(self.relevance)
        noise = rng.normal(size=(3, *appeal.shape))
        scores = {
            "old_score": np.exp(0.4 * appeal + 0.35 * noise[0]),
            "new_score": np.exp(appeal + 0.3 * noise[1]),
            "naive_score": np.exp(noise[2]),
        }
        return {name: score.astype(np.float32).astype(np.float64) for name, score in scores.items()}

    def _rng(self, *words: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *words])


def write_log(world: SearchWorld, path: Path) -> None:
    """Write a world's log as Parquet, atomically."""
    sizes = [min(_PART_ROWS, world.impressions - start) for start in range(0, world.impressions, _PART_ROWS)]
    first = world.table(sizes[0], 0)
    schema = first.schema.with_metadata({**(first.schema.metadata or {}), **DEMO})
    with atomic_write(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        writer.write_table(first)
        for part, rows in enumerate(sizes[1:], start=1):
            writer.write_table(world.table(rows, part))
