"""The logging policy as the log itself describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from ..spelling import Spelled
from .base import Ability, unable

_COLUMNS: dict[Ability, str] = {"log_prob": "propensity", "rank_probs": "rank_propensity"}


@dataclass(frozen=True, repr=False)
class Logged(Spelled):
    """Only what was written down: `propensity` of the logged slate, `rank_propensity` of its items.

    It speaks of the logged slates alone, whatever slates it is asked about.
    """

    name: ClassVar[str] = "logged"

    def needs(self, ability: Ability) -> Needs:
        if ability not in _COLUMNS:
            self._unable(ability)
        return Needs(frozenset([_COLUMNS[ability]]))

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        self._unable("sample")

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if contexts.propensity is None:
            self._unable("log_prob")
        return np.asarray(np.log(contexts.propensity))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        self._unable("slot_probs")

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        if contexts.rank_propensity is None or items.shape[1] != contexts.rank_propensity.shape[1]:
            self._unable("rank_probs")
        return contexts.rank_propensity

    def _unable(self, ability: Ability) -> NoReturn:
        unable(
            self,
            ability,
            "it reads the columns `propensity` (of the logged slate) and `rank_propensity` (of its items) only: "
            "if the scores behind them were logged, use plackett_luce(scores), epsilon(top(scores), 0.1) or "
            "swaps(top(scores), 0.9)",
        )
