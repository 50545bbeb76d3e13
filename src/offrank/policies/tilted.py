"""Plackett-Luce policies between or beyond two others: pseudo-targets, on which estimators can be tried out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from ..spelling import Spelled
from .base import Ability, all_items
from .linear import Linear
from .plackett_luce import PlackettLuce
from .propensities import AnyPolicy, law

_SCORE = "tilted"


@dataclass(frozen=True, repr=False)
class Tilted(Spelled):
    """Plackett-Luce with log-weights of `base` plus `strength` times the height of an item under `towards`.

    The height is the expected number of ranks below an item (0 for one that is not shown), with mean 0 and standard
    deviation 1 in each context. A base without weights counts as uniform. All its laws are exact.
    """

    name: ClassVar[str] = "tilted"
    base: AnyPolicy
    towards: AnyPolicy
    strength: float

    def needs(self, ability: Ability) -> Needs:
        base = self.base.needs("sample") if isinstance(self.base, PlackettLuce | Linear) else Needs()
        return replace(law(self.towards, "rank_probs").needs("rank_probs") | base, exchangeable=True)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return _RANKER.sample(self._scored(contexts), rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return _RANKER.log_prob(self._scored(contexts), slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return _RANKER.slot_probs(self._scored(contexts), slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return _RANKER.rank_probs(self._scored(contexts), items)

    def _scored(self, contexts: Contexts) -> Contexts:
        base = self.base.log_weights(contexts) if isinstance(self.base, PlackettLuce | Linear) else 0.0
        return replace(contexts, scores={_SCORE: base + self.strength * _heights(self.towards, contexts)})


_RANKER = PlackettLuce(_SCORE, log=True)


def _heights(policy: AnyPolicy, contexts: Contexts) -> Floats:
    """[n, m] standardised heights of the candidates; 0 where all are equal, and on pads."""
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    below = contexts.length[:, None] - np.arange(contexts.slots)
    height = np.einsum("nmk,nk->nm", law(policy, "rank_probs").rank_probs(contexts, all_items(contexts)), below)
    size = np.maximum(contexts.size, 1)[:, None]
    centred = np.where(inside, height - np.where(inside, height, 0.0).sum(axis=1, keepdims=True) / size, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / size)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 1e-12)
