"""Policies that sort candidates in a fixed order; tied candidates share their ranks equally.

Where candidates tie, a log cannot show in which order the ranker would have put them, and the order in which a log
lists its candidates (often the shown ones first) must not decide: all their orders are equally likely.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from . import _kernels
from .base import Ability, BySlots, all_items, log_product
from .rank_law import RankLaw


class MaySort(ABC):
    """A policy that may sort candidates, so that equal scores leave their order open."""

    @property
    @abstractmethod
    def sorts(self) -> bool:
        """Whether the scores fix the slate, but for ties."""

    @abstractmethod
    def tied(self, contexts: Contexts) -> NDArray[np.bool_]:
        """[n] whether any item that it may show ties with another candidate; never where it draws."""


class Sorting(MaySort, BySlots):
    """A policy that assigns each item to a block of ranks, shared by tied items."""

    sorts: ClassVar[bool] = True

    @abstractmethod
    def needs(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""

    @abstractmethod
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""

    @abstractmethod
    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        """First rank [n, q] of each item's block, -1 where it is not shown, and the number of its ranks [n, q]."""

    @final
    def in_order(self, contexts: Contexts) -> Integers:
        """[n, k] its slate where no items tie; -1 on pads and where it has no candidate."""
        slates = np.full((len(contexts), contexts.slots), -1)
        first, _ = self.blocks(contexts, all_items(contexts))
        row, item = np.nonzero(first >= 0)
        slates[row, first[row, item]] = item
        return slates

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        return log_product(self.slot_probs(contexts, slates))

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        probs = np.empty(slates.shape)
        _kernels.block_slot_probs(*self.blocks(contexts, slates), slates, probs)
        return probs

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        return RankLaw.blocks(*self.blocks(contexts, items)).at_ranks(contexts.length, contexts.slots)


def always_sorts(policy: object) -> bool:
    """Whether the policy always shows its candidates in a fixed order, but for ties."""
    return isinstance(policy, Sorting)
