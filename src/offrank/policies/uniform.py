"""The uniform policy: every slate has the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..language.spelling import Spelled
from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from .base import Ability, FillsSlots, OrderGivenSet, ShowsAll, Shuffles, StructuredRanks, log_product
from .plackett_luce.laws import sample_rows
from .rank_law import RankLaw
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Uniform(Spelled, Shuffles, FillsSlots, ShowsAll, OrderGivenSet, StructuredRanks):
    """Items drawn uniformly without replacement: P(slate) = (m - k)! / m!.

    Examples:
        >>> offrank.Uniform()
        uniform
    """

    name: ClassVar[str] = "uniform"

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), exchangeable=True)

    def fills_slots(self, contexts: Contexts) -> NDArray[np.bool_]:
        return np.ones(len(contexts), np.bool_)

    shows_all = fills_slots

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return sample_rows(np.zeros(contexts.candidates.shape), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if not slates.size or slates.min() < 0:
            return log_product(self.slot_probs(contexts, slates))
        # Every slot is filled, as in most logs: log (m - k)! - log m!, which needs no pass over the slots.
        log_factorial = np.append(0.0, np.cumsum(np.log(np.arange(1, contexts.size.max() + 1))))
        filled = slates.shape[1]
        return np.asarray((log_factorial[:-filled] - log_factorial[filled:])[contexts.size - filled])

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        left = contexts.size[:, None] - np.arange(slates.shape[1])
        return np.where(slates >= 0, 1.0 / np.maximum(left, 1), 1.0)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        filled = np.arange(contexts.slots) < contexts.length[:, None]
        law = filled / np.maximum(contexts.size, 1)[:, None]
        return np.where((items >= 0)[:, :, None], law[:, None, :], 0.0)

    def rank_law(self, contexts: Contexts, slates: Integers) -> RankLaw:
        """As `StructuredRanks.rank_law`."""
        return RankLaw.uniform(contexts.size, slates.shape[1])

    def order_given_set(self, contexts: Contexts, slates: Integers) -> Floats:
        """As `OrderGivenSet.order_given_set`: every order is equally likely."""
        filled = slates >= 0
        return (filled[:, :, None] & filled[:, None, :]) / np.maximum(contexts.length, 1)[:, None, None]
