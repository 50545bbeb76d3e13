"""Sort by a score: what a deterministic ranker shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from ..spelling import Spelled
from . import _kernels, deterministic
from .base import Ability


@dataclass(frozen=True, repr=False)
class Top(Spelled):
    """The candidates of highest score, best first; ties go to the earlier candidate."""

    name: ClassVar[str] = "top"
    scores: str

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), scores=frozenset([self.scores]))

    def ranks(self, contexts: Contexts, items: Integers) -> Integers:
        """[n, q] rank of each item, -1 where it is not shown."""
        scores = contexts.scores[self.scores]
        return np.asarray(_kernels.ranks_by_score(scores, contexts.size, contexts.length, items))

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        keys = np.where(inside, -contexts.scores[self.scores], np.inf)
        order = np.argsort(keys, axis=1, kind="stable")[:, : contexts.slots]
        return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return deterministic.log_prob(self.ranks(contexts, slates), slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return deterministic.slot_probs(self.ranks(contexts, slates), slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return deterministic.rank_probs(self.ranks(contexts, items), contexts.slots)
