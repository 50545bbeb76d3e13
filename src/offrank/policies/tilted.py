"""Plackett-Luce policies between or beyond two others: pseudo-targets, on which estimators can be tried out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from .base import Policy, all_items
from .linear import Linear
from .plackett_luce import PlackettLuce
from .propensities import Propensities, ShownPolicy, propensities
from .rank_law import RankLaw

_SCORE = "tilted"


@dataclass(frozen=True, repr=False)
class Tilted(Spelled, ShownPolicy):
    """Plackett-Luce with log-weights of `base` plus `strength` times the height of an item under `towards`.

    The height is the expected number of ranks below an item (0 for one that is not shown), with mean 0 and standard
    deviation 1 in each context. A base without weights counts as uniform. All its laws are exact.
    """

    name: ClassVar[str] = "tilted"
    any_slate: ClassVar[bool] = True
    base: Policy
    towards: Policy
    strength: float

    def reads(self, ability: Ability) -> Needs:
        base = self.base.reads("sample") if isinstance(self.base, PlackettLuce | Linear) else Needs()
        return replace(self.towards.reads("rank_probs") | base, exchangeable=True)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return _RANKER.sample(self._scored(contexts, _heights(self.towards, contexts)), rng)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return _RANKER.rank_probs(self._scored(contexts, _heights(self.towards, contexts)), items)

    def shown_slate(self, batch: LogBatch) -> Floats:
        return self._ranked(batch).log_prob

    def shown_slots(self, batch: LogBatch) -> Floats:
        return self._ranked(batch).slot_probs

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        return self._ranked(batch).rank_law

    def own_ranks(self, batch: LogBatch) -> Floats:
        return self._ranked(batch).own_ranks

    def candidate_ranks(self, batch: LogBatch) -> Floats:
        return self._ranked(batch).candidate_ranks

    def _scored(self, contexts: Contexts, heights: Floats) -> Contexts:
        """The contexts with the log-weights as a score."""
        match self.base:
            case PlackettLuce():
                base: Floats | float = self.base.log_weights(contexts)
            case Linear():
                base = self.base.log_scores(contexts)
            case _:
                base = 0.0
        return replace(contexts, scores={_SCORE: base + self.strength * heights})

    def _ranked(self, batch: LogBatch) -> Propensities:
        """What a ranker says of the shown slates, on contexts that are scored once."""
        contexts, towards = batch.contexts, self.towards
        # Of all policies that lean there. Whoever has a key's id is kept beside the value.
        heights = batch.once(("heights", id(towards)), lambda: (towards, _heights(towards, contexts)))[1]
        scored = batch.once(
            ("scored", id(self)), lambda: (self, replace(batch, contexts=self._scored(contexts, heights)))
        )
        return propensities(_RANKER, scored[1])


_RANKER = PlackettLuce(_SCORE, log=True)


def _heights(policy: Policy, contexts: Contexts) -> Floats:
    """[n, m] standardised heights of the candidates; 0 where all are equal, and on pads."""
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    below = contexts.length[:, None] - np.arange(contexts.slots)
    height = np.einsum("nmk,nk->nm", policy.law("rank_probs").rank_probs(contexts, all_items(contexts)), below)
    size = np.maximum(contexts.size, 1)[:, None]
    centred = np.where(inside, height - np.where(inside, height, 0.0).sum(axis=1, keepdims=True) / size, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / size)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)
