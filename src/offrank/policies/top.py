"""Sorting by a score, as in a ranker without randomness."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.source import Ability, Needs
from . import _kernels
from .base import refuse_no_column
from .registry import POLICIES
from .sorting import Sorting


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Top(Spelled, Sorting):
    """The candidates of highest score, best first; those of equal score share their ranks equally.

    Parameters:
        scores: a column of numbers beside the candidates.
        ascending: the lowest comes first, as for a price.

    Raises:
        UsageError: the name of the column is no text.

    Examples:
        >>> offrank.Top("new_score")
        top(new_score)
        >>> offrank.Top("price", ascending=True)
        top(price, ascending=True)
    """

    name: ClassVar[str] = "top"
    scores: str
    ascending: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        refuse_no_column(self, self.scores)

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), scores=frozenset([self.scores]), exchangeable=True)

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        scores = -contexts.scores[self.scores] if self.ascending else contexts.scores[self.scores]
        first, width = np.full(items.shape, -1), np.ones(items.shape, np.int64)
        _kernels.blocks_by_score(scores, contexts.size, contexts.length, items, first, width)
        return first, width

    def turned(self) -> Top:
        return replace(self, ascending=not self.ascending)

    def ties(self, contexts: Contexts) -> Booleans:
        depth = np.minimum(contexts.length + 1, contexts.size)  # also with the first that is not shown
        scores, k = self._keys(contexts), contexts.slots + 1
        items, found = np.empty((len(scores), k), np.int64), np.empty(len(scores), np.bool_)
        _kernels.top_k(scores, contexts.size, depth, np.empty(k), items, found)
        return found

    def fills_slots(self, contexts: Contexts) -> Booleans:
        return np.ones(len(contexts), np.bool_)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        scores = self._keys(contexts)
        keys = np.where(np.arange(scores.shape[1]) < contexts.size[:, None], -scores, np.inf)
        order = np.argsort(keys, axis=1, kind="stable")
        in_order = np.take_along_axis(keys, order, axis=1)
        if ((in_order[:, 1:] == in_order[:, :-1]) & np.isfinite(in_order[:, 1:])).any():
            order = np.lexsort((rng.random(scores.shape), keys), axis=1)
        order = order[:, : contexts.slots]
        return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)

    def _keys(self, contexts: Contexts) -> Floats:
        """[n, size] the numbers of which the highest comes first."""
        scores = contexts.scores[self.scores]
        return -scores if self.ascending else scores
