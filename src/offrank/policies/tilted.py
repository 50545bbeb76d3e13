"""Plackett-Luce policies between or beyond two others: pseudo-targets, on which estimators can be tried out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from .base import Ability, all_items
from .linear import Linear
from .plackett_luce import PlackettLuce
from .propensities import AnyPolicy, Propensities, ShownAbility, ShownPolicy, law, propensities
from .rank_law import RankLaw

_SCORE = "tilted"


@dataclass(frozen=True, repr=False)
class Tilted(Spelled, ShownPolicy):
    """Plackett-Luce with log-weights of `base` plus `strength` times the height of an item under `towards`.

    The height is the expected number of ranks below an item (0 for one that is not shown), with mean 0 and standard
    deviation 1 in each context. A base without weights counts as uniform. All its laws are exact.
    """

    name: ClassVar[str] = "tilted"
    base: AnyPolicy
    towards: AnyPolicy
    strength: float

    @property
    def any_slate(self) -> bool:
        return True

    def shown_needs(self, ability: ShownAbility) -> Needs:
        return self.needs("rank_probs" if ability == "rank_law" else ability)

    def on(self, batch: LogBatch) -> Propensities:
        return _OfTilted(self, batch)

    def needs(self, ability: Ability) -> Needs:
        base = self.base.needs("sample") if isinstance(self.base, PlackettLuce | Linear) else Needs()
        return replace(law(self.towards, "rank_probs").needs("rank_probs") | base, exchangeable=True)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return _RANKER.sample(self.scored(contexts), rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return _RANKER.log_prob(self.scored(contexts), slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return _RANKER.slot_probs(self.scored(contexts), slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return _RANKER.rank_probs(self.scored(contexts), items)

    def scored(self, contexts: Contexts, heights: Floats | None = None) -> Contexts:
        """The contexts with the log-weights as a score. heights: where they are known."""
        base = self.base.log_weights(contexts) if isinstance(self.base, PlackettLuce | Linear) else 0.0
        heights = _heights(self.towards, contexts) if heights is None else heights
        return replace(contexts, scores={_SCORE: base + self.strength * heights})


_RANKER = PlackettLuce(_SCORE, log=True)


class _OfTilted(Propensities):
    """The propensities of a tilted policy on the shown slates: those of a ranker, on contexts scored once."""

    policy: Tilted

    @cached_property
    def _ranked(self) -> Propensities:
        policy, batch = self.policy, self.batch
        towards, heights = policy.towards, lambda: (policy.towards, _heights(policy.towards, batch.contexts))
        _, found = batch.once(("heights", id(towards)), heights)  # of all policies that lean there, which is kept too
        scored = replace(batch, contexts=policy.scored(batch.contexts, found))
        return propensities(_RANKER, scored)

    @cached_property
    def log_prob(self) -> Floats:
        return self._ranked.log_prob

    @cached_property
    def slot_probs(self) -> Floats:
        return self._ranked.slot_probs

    @cached_property
    def rank_law(self) -> RankLaw:
        return self._ranked.rank_law

    @cached_property
    def own_ranks(self) -> Floats:
        return self._ranked.own_ranks

    @cached_property
    def candidate_ranks(self) -> Floats:
        return self._ranked.candidate_ranks


def _heights(policy: AnyPolicy, contexts: Contexts) -> Floats:
    """[n, m] standardised heights of the candidates; 0 where all are equal, and on pads."""
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    below = contexts.length[:, None] - np.arange(contexts.slots)
    height = np.einsum("nmk,nk->nm", law(policy, "rank_probs").rank_probs(contexts, all_items(contexts)), below)
    size = np.maximum(contexts.size, 1)[:, None]
    centred = np.where(inside, height - np.where(inside, height, 0.0).sum(axis=1, keepdims=True) / size, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / size)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)
