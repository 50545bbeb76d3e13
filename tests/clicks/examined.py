"""Logs for the models of examination and attraction: good documents are shown high, as rankers do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from offrank.clicks import ClickModel
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.fitted import Fitted
from offrank.clicks.sessions import Sessions, Tally

RANKS = 6


@dataclass(frozen=True)
class World:
    """Queries with RANKS documents each, whose attractions are drawn from Beta(1, 4)."""

    model: ClickModel
    chances: dict[str, np.ndarray]
    queries: int = 300

    @cached_property
    def attraction(self) -> np.ndarray:
        return np.random.default_rng(3).beta(1.0, 4.0, self.queries * RANKS)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        return {"attraction": np.append(self.attraction, 0.2), **self.chances}

    def slates(self, n: int, seed: int, order: float = 4.0) -> SlateDocuments:
        """Plackett-Luce by attraction; order 0 is uniform."""
        rng = np.random.default_rng(seed)
        first = rng.integers(0, self.queries, n)[:, None] * RANKS
        document = first + np.arange(RANKS)
        score = order * self.attraction[document] + rng.gumbel(size=document.shape)
        document = np.take_along_axis(document, np.argsort(-score, axis=1), axis=1)
        return SlateDocuments(document, document >= 0)

    def sessions(self, n: int, seed: int, order: float = 4.0) -> Sessions:
        slots = self.slates(n, seed, order)
        click = self.model.law(self.parameters, slots).sample(np.random.default_rng(seed + 1000))
        return Sessions(slots.document.astype(np.int32), click.astype(np.uint8), np.ones(n), len(self.attraction))

    def learnt(self, n: int, seed: int = 0) -> FitResult:
        return self.model.learn(self.model.from_sessions(self.sessions(n, seed)))

    def fitted(self, learnt: FitResult) -> Fitted:
        return Fitted(self.model, Documents(np.arange(len(self.attraction))), learnt, Tally())

    def error(self, learnt: FitResult, order: float) -> float:
        """Root mean square error of the chances of a click on slates of another order."""
        slots = self.slates(20_000, 77, order)
        found, true = (self.model.law(tables, slots).marginal() for tables in (learnt.parameters, self.parameters))
        return float(np.sqrt(((found - true) ** 2).mean()))


def covered(world: World, learnt: FitResult, table: str, truth: np.ndarray) -> float:
    """Share of the 90 % intervals that hold the truth."""
    low, high = world.fitted(learnt).interval(table, 0.9)
    return float(((low[: len(truth)] <= truth) & (truth <= high[: len(truth)])).mean())
