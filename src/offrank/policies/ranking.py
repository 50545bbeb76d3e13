"""A ranking written in the log: what another system would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from ..spelling import Spelled
from . import _kernels, deterministic
from .base import Ability, unable


@dataclass(frozen=True, repr=False)
class Ranking(Spelled):
    """The first items of a list column of ids, as many as the row has slots."""

    name: ClassVar[str] = "ranking"
    column: str

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), rankings=frozenset([self.column]))

    def ranks(self, contexts: Contexts, items: Integers) -> Integers:
        """[n, q] rank of each item, -1 where it is not shown."""
        ranking = contexts.rankings[self.column]
        return np.asarray(_kernels.ranks_in_list(ranking, contexts.length, items, contexts.candidates.shape[1]))

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        slates = contexts.rankings[self.column][:, : contexts.slots]
        slates = np.where(np.arange(slates.shape[1]) < contexts.length[:, None], slates, -1)
        if (slates == -2).any():
            unable(self, "sample", f"{self.column!r} ranks items that are not candidates: log `candidates` too")
        return slates

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return deterministic.log_prob(self.ranks(contexts, slates), slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return deterministic.slot_probs(self.ranks(contexts, slates), slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return deterministic.rank_probs(self.ranks(contexts, items), contexts.slots)
