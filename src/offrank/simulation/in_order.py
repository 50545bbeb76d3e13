"""Sorting as published code does it: equal scores keep the order in which the documents are listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Integers
from ..log.source import Needs
from ..policies.base import Ability
from ..policies.sorting import Sorting, shown_slates
from ..spelling import Spelled


@dataclass(frozen=True, repr=False)
class InOrder(Spelled, Sorting):
    """The documents of highest score, best first; the first listed of those that tie, as in no fair test."""

    name: ClassVar[str] = "in_order"
    scores: str

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), scores=frozenset([self.scores]))

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        order = np.argsort(np.where(inside, -contexts.scores[self.scores], np.inf), axis=1, kind="stable")
        rank = np.take_along_axis(np.argsort(order, axis=1), np.maximum(items, 0), axis=1)
        return np.where((items >= 0) & (rank < contexts.length[:, None]), rank, -1), np.ones_like(rank)

    def tied(self, contexts: Contexts) -> NDArray[np.bool_]:
        return np.zeros(len(contexts), np.bool_)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return shown_slates(self, contexts)
