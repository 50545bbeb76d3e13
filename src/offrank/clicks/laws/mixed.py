"""A mixture: each session follows one of several laws, and nobody says which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats
from .base import ClickLaw, chance_of


@dataclass(frozen=True)
class Mixed:
    """Session i follows laws[c] with probability weight[i, c] (or weight[c] for all sessions)."""

    laws: Sequence[ClickLaw]
    weight: Floats

    def marginal(self) -> Floats:
        each = np.stack([law.marginal() for law in self.laws])
        return np.asarray(np.einsum("cnk,nc->nk", each, self._weights(each.shape[1])))

    def conditional(self, clicks: Floats) -> Floats:
        """Each law counts by its posterior given the clicks above: the click that is predicted stays out of it."""
        each = np.stack([law.conditional(clicks) for law in self.laws])
        with np.errstate(divide="ignore"):
            evidence = np.cumsum(np.log(chance_of(each, clicks)), axis=2)
            before = np.concatenate([np.zeros_like(evidence[:, :, :1]), evidence[:, :, :-1]], axis=2)
            posterior = before + np.log(self._weights(each.shape[1])).T[:, :, None]
        largest = posterior.max(axis=0)
        share = np.exp(posterior - np.where(np.isfinite(largest), largest, 0.0))
        total = share.sum(axis=0)
        # A session that no law allows has no posterior; its further clicks are as unlikely as can be.
        return np.divide((share * each).sum(axis=0), total, out=np.zeros_like(total), where=total > 0)

    def sample(self, rng: np.random.Generator) -> Floats:
        each = np.stack([law.sample(rng) for law in self.laws])
        weights = self._weights(each.shape[1])
        drawn = rng.random((len(weights), 1)) * weights.sum(axis=1, keepdims=True)
        chosen = np.minimum((drawn >= weights.cumsum(axis=1)).sum(axis=1), len(each) - 1)
        return np.asarray(each[chosen, np.arange(len(weights))])

    def _weights(self, rows: int) -> Floats:
        return np.broadcast_to(self.weight, (rows, len(self.laws)))
