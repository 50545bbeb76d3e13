"""Rank probabilities of the shown items, without writing out [n, k, k] numbers where a policy has structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from .base import Deterministic, Policy
from .uniform import Uniform


@runtime_checkable
class MixesUniform(Protocol):
    """A policy that shows a uniform slate with some probability, else what its base shows."""

    @property
    def base(self) -> Policy: ...

    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""


@dataclass(frozen=True)
class RankLaw:
    """P(displayed item i at rank j), for the ranks that a row has.

    Either `dense` [n, k, k]; or, where that is empty, `spread` [n] at every rank, and on top of it
    `point` [n] at the item's own rank `ranks` [n, k] (-1 where it has none).
    """

    dense: Floats
    ranks: Integers
    spread: Floats
    point: Floats

    @property
    def arrays(self) -> tuple[Floats, Integers, Floats, Floats]:
        """As the compiled loops take it."""
        return self.dense, self.ranks, self.spread, self.point


def rank_law(policy: Policy, contexts: Contexts, slates: Integers) -> RankLaw:
    """The rank probabilities of the displayed items under a policy."""
    return _structured(policy, contexts, slates) or RankLaw(
        policy.rank_probs(contexts, slates), np.empty((0, 0), np.int64), np.empty(0), np.empty(0)
    )


def _structured(policy: Policy, contexts: Contexts, slates: Integers) -> RankLaw | None:
    """Uniform spreads, deterministic points, and their mixtures do both; None for all others."""
    n, dense = len(contexts), np.empty((0, 0, 0))
    if isinstance(policy, Deterministic):
        return RankLaw(dense, policy.ranks(contexts, slates), np.zeros(n), np.ones(n))
    if isinstance(policy, Uniform):
        return RankLaw(dense, np.full(slates.shape, -1), 1 / np.maximum(contexts.size, 1), np.zeros(n))
    base = _structured(policy.base, contexts, slates) if isinstance(policy, MixesUniform) else None
    if base is None or not isinstance(policy, MixesUniform):
        return None
    share = policy.uniform_share(contexts)
    spread = (1 - share) * base.spread + share / np.maximum(contexts.size, 1)
    return RankLaw(dense, base.ranks, spread, (1 - share) * base.point)
