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
        return sample(self.weights(contexts), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return np.asarray(_kernels.log_product(self.slot_probs(contexts, slates)))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return np.asarray(_kernels.slot_probs(self.weights(contexts), contexts.size, slates))

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
        weights = self.weights(contexts)
        return np.asarray(_kernels.rank_probs(weights, contexts.size, contexts.length, items, contexts.slots))

    def weights(self, contexts: Contexts) -> Floats:
        """[n, m] Plackett-Luce weights; zero beyond a row's candidates."""
        scores = contexts.scores[self.scores]
        if not self.log and self.temperature == 1.0:
            return scores
        inside = np.arange(scores.shape[1]) < contexts.size[:, None]
        # Only ratios matter: the row's largest weight is set to 1, so that nothing overflows.
        if self.log:
            largest = np.where(inside, scores, -np.inf).max(axis=1, keepdims=True)
            return np.where(inside, np.exp((scores - largest) / self.temperature), 0.0)
        largest = scores.max(axis=1, keepdims=True)
        return (scores / np.where(largest > 0, largest, 1.0)) ** (1.0 / self.temperature)


def sample(weights: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] slates, drawn by the Gumbel race: the largest log-weights plus Gumbel noise, in order."""
    n, m = weights.shape
    inside = np.arange(m) < contexts.size[:, None]
    # exp(-1e6) is zero, so a zero weight stays behind every positive one, yet keeps its noise.
    log_weights = np.log(weights, out=np.full((n, m), -1e6), where=weights > 0)
    race = np.where(inside, log_weights + rng.gumbel(size=(n, m)), -np.inf)
    order = np.argsort(-race, axis=1)[:, : contexts.slots]
    return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)
