"""Policies that sort candidates in a fixed order; tied candidates share their ranks equally.

Where candidates tie, a log cannot show in which order the ranker would have put them, and the order in which a log
lists its candidates (often the shown ones first) must not decide: all their orders are equally likely.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, final

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from . import _kernels
from .base import Policy, all_items
from .propensities import propensities
from .rank_law import RankLaw


class Sorting(Policy):
    """A policy that assigns each item to a block of ranks, shared by tied items."""

    sorts: ClassVar[bool] = True
    always_sorts: ClassVar[bool] = True
    by_slots: bool = True

    @abstractmethod
    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        """First rank [n, q] of each item's block, -1 where it is not shown, and the number of its ranks [n, q]."""

    @abstractmethod
    def ties(self, contexts: Contexts) -> Booleans:
        """[n] whether any item that it may show ties with another candidate."""

    @final
    def in_order(self, contexts: Contexts) -> Integers:
        """[n, k] its slate where no items tie; -1 on pads and where it has no candidate."""
        return self.sure_slates(contexts)[1]

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        return _kernels.block_slot_probs(*self.blocks(contexts, slates), slates)

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        return RankLaw.blocks(*self.blocks(contexts, items)).at_ranks(contexts.length, contexts.slots)

    @final
    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`."""
        return pairs_of_blocks(*self.blocks(contexts, all_items(contexts)), contexts)

    @final
    def shown_slots(self, batch: LogBatch) -> Floats:
        """[n, k] probability of each shown slot given the slots above; 1 on pads."""
        return _kernels.block_slot_probs(*self._shown_blocks(batch), batch.slates)

    @final
    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        """The probability of each shown item at each rank."""
        return RankLaw.blocks(*self._shown_blocks(batch))

    @final
    def tied(self, batch: LogBatch) -> Booleans:
        """[n] whether any item that it may show ties with another candidate."""
        if not batch.complete:
            return self.ties(batch.contexts)
        width = propensities(self, batch).rank_law.width  # estimators have most often asked for the same law
        return np.asarray((width > 1).any(axis=1)) if width.max(initial=1) > 1 else np.zeros(len(batch), np.bool_)

    @final
    def sure_slates(self, contexts: Contexts) -> tuple[Booleans, Integers]:
        """[n] whether no items tie, and [n, k] the slate there; -1 on pads and where it has no candidate."""
        first, width = self.blocks(contexts, all_items(contexts))
        slates = np.full((len(first), contexts.length.max(initial=0)), -1)
        row, item = np.nonzero(first >= 0)
        slates[row, first[row, item]] = item
        return np.asarray(~((first >= 0) & (width > 1)).any(axis=1)), slates

    def _shown_blocks(self, batch: LogBatch) -> tuple[Integers, Integers]:
        """The blocks of the shown items, from which all of their probabilities follow; the key's id is kept beside."""
        return batch.once(("blocks", id(self)), lambda: (self, self.blocks(batch.contexts, batch.slates)))[1]


def pairs_of_blocks(first: Integers, width: Integers, contexts: Contexts) -> Floats:
    """[n, m, k, m, k]: blocks do not depend on each other, and within one the order is uniform.

    first, width: [n, m] the block of ranks of each candidate.
    """
    m, slots = first.shape[1], contexts.slots
    marginal = RankLaw.blocks(first, width).at_ranks(contexts.length, slots)
    apart = marginal[:, :, :, None, None] * marginal[:, None, None, :, :]
    same_item = np.eye(m, dtype=bool)[:, None, :, None]
    same_rank = np.eye(slots, dtype=bool)[None, :, None, :]
    shared = (first[:, :, None] == first[:, None, :])[:, :, None, :, None]
    # Two items of a block of w are at two given ranks with probability 1 / (w (w - 1)), one at one rank with 1 / w.
    others = np.maximum(width - 1, 1)[:, :, None, None, None]
    both = np.where(marginal[:, None, None, :, :] > 0, marginal[:, :, :, None, None], 0.0)
    within = np.where(same_item & same_rank, both, np.where(same_item | same_rank, 0.0, both / others))
    return np.where(shared, within, apart)
