"""Plackett-Luce: draw without replacement, with probability proportional to a weight."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from ..log.errors import UsageError
from ..log.source import Needs
from ..spelling import Spelled
from . import _kernels
from .base import Ability, unable

MOST_CANDIDATES = 14  # the exact sum over sets costs 2^m per row


@dataclass(frozen=True, repr=False)
class PlackettLuce(Spelled):
    """Weights score^(1 / temperature), or exp(score / temperature) with `log=True`.

    P(slate) = prod_j w_j / (sum of the weights not above slot j); paper criteo-test-bed, Eq. 1.
    An item of weight zero is never drawn before one of positive weight.
    """

    name: ClassVar[str] = "plackett_luce"
    scores: str
    temperature: float = field(default=1.0, kw_only=True)
    log: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}", "give a temperature above zero")

    def needs(self, ability: Ability) -> Needs:
        column = frozenset([self.scores])
        return Needs(frozenset(["candidates"]), scores=column, weights=frozenset() if self.log else column)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return sample(self.log_weights(contexts), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if self._plain:
            return np.asarray(_kernels.log_product(self.slot_probs(contexts, slates)))
        return np.asarray(self._log_slot_probs(contexts, slates).sum(axis=1))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        if self._plain:
            return np.asarray(_kernels.slot_probs(contexts.scores[self.scores], contexts.size, slates))
        return np.exp(self._log_slot_probs(contexts, slates))

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """As `Policy.rank_probs`, exact.

        Raises:
            AbilityError: more candidates than the exact sum over sets can take.
        """
        if contexts.size.max(initial=0) > MOST_CANDIDATES:
            unable(
                self,
                "rank_probs",
                f"exact rank probabilities stop at {MOST_CANDIDATES} candidates here (the log has "
                f"{contexts.size.max()}): log a `rank_propensity` column and use `logged`, or use "
                "ips, snips, rips or snrips, which do not need them",
            )
        logs = self.log_weights(contexts)
        return np.asarray(_kernels.rank_probs(logs, contexts.size, contexts.length, items, contexts.slots))

    def log_weights(self, contexts: Contexts) -> Floats:
        """[n, m] logarithms of the weights; anything beyond a row's candidates."""
        logs = contexts.scores[self.scores]
        if not self.log:
            logs = np.log(logs, out=np.full(logs.shape, -np.inf), where=logs > 0)
        return logs / self.temperature

    def _log_slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return np.asarray(_kernels.log_slot_probs(self.log_weights(contexts), contexts.size, slates))

    @property
    def _plain(self) -> bool:
        """Whether the scores are the weights, so that no logarithm is needed."""
        return not self.log and self.temperature == 1.0


def sample(log_weights: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] slates, drawn by the Gumbel race: the largest log-weights plus Gumbel noise, in order."""
    n, m = log_weights.shape
    inside = np.arange(m) < contexts.size[:, None]
    finite = np.isfinite(log_weights)
    # exp(-1e6) is zero, so a zero weight stays behind every positive one, yet keeps its noise.
    behind = np.where(finite, log_weights, 0.0).min(axis=1, keepdims=True, initial=0.0) - 1e6
    race = np.where(inside, np.where(finite, log_weights, behind) + rng.gumbel(size=(n, m)), -np.inf)
    order = np.argsort(-race, axis=1)[:, : contexts.slots]
    return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)
