"""Sorting by a score, as in a ranker without randomness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Integers
from ..log.source import Needs
from ..spelling import Spelled
from . import _kernels
from .base import Ability, refuse_no_column
from .sorting import Sorting


@dataclass(frozen=True, repr=False)
class Top(Spelled, Sorting):
    """The candidates of highest score, best first; those of equal score share their ranks equally.

    Examples:
        >>> offrank.Top("new_score")
        top(new_score)
    """

    name: ClassVar[str] = "top"
    scores: str

    def __post_init__(self) -> None:
        refuse_no_column(self, self.scores)

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), scores=frozenset([self.scores]), exchangeable=True)

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        scores = contexts.scores[self.scores]
        first, width = _kernels.blocks_by_score(scores, contexts.size, contexts.length, items)
        return first, width

    def tied(self, contexts: Contexts) -> NDArray[np.bool_]:
        return np.asarray(_kernels.tied_at_the_top(contexts.scores[self.scores], contexts.size, contexts.length))

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        scores = contexts.scores[self.scores]
        keys = np.where(np.arange(scores.shape[1]) < contexts.size[:, None], -scores, np.inf)
        order = np.argsort(keys, axis=1, kind="stable")
        in_order = np.take_along_axis(keys, order, axis=1)
        if ((in_order[:, 1:] == in_order[:, :-1]) & np.isfinite(in_order[:, 1:])).any():
            order = np.lexsort((rng.random(scores.shape), keys), axis=1)
        order = order[:, : contexts.slots]
        return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)
