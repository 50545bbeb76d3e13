"""A logged ranking: the slate that another system would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Integers
from ..log.source import Ability, Needs
from . import _kernels
from .base import refuse_no_column, unable
from .registry import POLICIES
from .sorting import Sorting


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Ranking(Spelled, Sorting):
    """The first items of a list column of ids, as many as the row has slots.

    Parameters:
        column: a list of ids, the first at the top.

    Raises:
        UsageError: the name of the column is no text.

    Examples:
        >>> offrank.Ranking("new_ranking")
        ranking(new_ranking)
    """

    name: ClassVar[str] = "ranking"
    column: str

    def __post_init__(self) -> None:
        refuse_no_column(self, self.column)

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), rankings=frozenset([self.column]), exchangeable=True)

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        ranking = contexts.rankings[self.column]
        ranks = _kernels.ranks_in_list(ranking, contexts.length, items, contexts.candidates.shape[1])
        return ranks, np.ones_like(ranks)

    def ties(self, contexts: Contexts) -> Booleans:
        return np.zeros(len(contexts), np.bool_)

    def fills_slots(self, contexts: Contexts) -> Booleans:
        """[n] whether the ranking has a candidate for every slot: it may be short, or name items that are none."""
        wanted = np.arange(contexts.slots) < contexts.length[:, None]
        ranking = contexts.rankings[self.column][:, : contexts.slots]
        ranking = np.pad(ranking, ((0, 0), (0, contexts.slots - ranking.shape[1])), constant_values=-1)
        return np.asarray(((ranking >= 0) | ~wanted).all(axis=1))

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        if self.names_others(contexts):
            unable(self, "sample", f"{self.column!r} ranks items that are not candidates: log `candidates` too")
        return self._slates(contexts)

    def names_others(self, contexts: Contexts) -> bool:
        """Whether it would show an item that is no candidate."""
        return bool((self._slates(contexts) == -2).any())

    def _slates(self, contexts: Contexts) -> Integers:
        slates = contexts.rankings[self.column][:, : contexts.slots]
        return np.where(np.arange(slates.shape[1]) < contexts.length[:, None], slates, -1)
