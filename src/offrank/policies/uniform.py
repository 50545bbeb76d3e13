"""The uniform policy: every slate has the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from .base import Policy, all_items
from .plackett_luce.laws import sample_rows
from .rank_law import RankLaw
from .registry import POLICIES
from .sorting import pairs_of_blocks


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Uniform(Spelled, Policy):
    """Items drawn uniformly without replacement: P(slate) = (m - k)! / m!.

    Examples:
        >>> offrank.Uniform()
        uniform
    """

    name: ClassVar[str] = "uniform"
    shuffles: ClassVar[bool] = True

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates"]), exchangeable=True)

    def fills_slots(self, contexts: Contexts) -> Booleans:
        return np.ones(len(contexts), np.bool_)

    shows_all = fills_slots

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return sample_rows(np.zeros(contexts.candidates.shape), contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if not slates.size or slates.min() < 0:
            return super().log_prob(contexts, slates)
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

    def pair_probs(self, contexts: Contexts) -> Floats:
        """1 / m at the same item and rank, 1 / (m (m - 1)) where both differ, else 0: all items in one block."""
        width = np.tile(contexts.size[:, None], contexts.candidates.shape[1])
        return pairs_of_blocks(np.minimum(all_items(contexts), 0), width, contexts)

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        return RankLaw.uniform(batch.contexts.size, batch.slates.shape[1])

    def order_given_set(self, contexts: Contexts, slates: Integers) -> Floats:
        """As `Policy.order_given_set`: every order is equally likely."""
        filled = slates >= 0
        return (filled[:, :, None] & filled[:, None, :]) / np.maximum(contexts.length, 1)[:, None, None]
