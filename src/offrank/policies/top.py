"""Sort by a score: what a ranker without randomness shows."""

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
from .sorting import Sorting, drawn, tied


@dataclass(frozen=True, repr=False)
class Top(Spelled, Sorting):
    """The candidates of highest score, best first; those of equal score share their ranks equally."""

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
        return tied(contexts.scores[self.scores], contexts)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return drawn(contexts.scores[self.scores], contexts, rng)
