"""Policies that sort: candidates come in a fixed order, and those that tie share their ranks equally.

Where candidates tie, no log can say in which order the ranker would have put them, and the order in which a log
lists its candidates (often the shown ones first) must not decide: every order of them counts the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats, Integers
from . import _kernels
from .base import all_items


class Sorting(ABC):
    """A policy that says for each item in which block of ranks it stands; a block is shared by those that tie."""

    @abstractmethod
    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        """First rank [n, q] of each item's block, -1 where it is not shown, and how many ranks [n, q] that has."""

    @abstractmethod
    def tied(self, contexts: Contexts) -> NDArray[np.bool_]:
        """[n] whether anything that it may show ties with another candidate."""

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        return log_prob(*self.blocks(contexts, slates), slates)

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        return slot_probs(*self.blocks(contexts, slates), slates)

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] stands at each rank; 0 on pads."""
        return rank_probs(*self.blocks(contexts, items), contexts)


def slot_probs(first: Integers, width: Integers, slates: Integers) -> Floats:
    """[n, k] one over those left of a block where the slot holds one of them, else 0; 1 on pads."""
    return np.asarray(_kernels.block_slot_probs(first, width, slates))


def log_prob(first: Integers, width: Integers, slates: Integers) -> Floats:
    """[n] log-probability of each slate."""
    return np.asarray(_kernels.log_product(slot_probs(first, width, slates)))


def rank_probs(first: Integers, width: Integers, contexts: Contexts) -> Floats:
    """[n, q, k] equal shares over the ranks of each item's block."""
    return np.asarray(_kernels.block_law(first, width, contexts.length, contexts.slots))


def certain(policy: object, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether the policy always shows the same slate there: it sorts, and nothing that it may show ties."""
    return ~policy.tied(contexts) if isinstance(policy, Sorting) else np.zeros(len(contexts), np.bool_)


def tied(scores: Floats, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether any of the candidates of highest score [n, m], as many as there are slots, ties with another."""
    return np.asarray(_kernels.tied_at_the_top(scores, contexts.size, contexts.length))


def shown_slates(policy: Sorting, contexts: Contexts) -> Integers:
    """[n, k] what a policy shows where that is certain; -1 where it has no candidate for a slot."""
    first, _ = policy.blocks(contexts, all_items(contexts))
    slates = np.full((len(contexts), contexts.slots), -1)
    row, item = np.nonzero(first >= 0)
    slates[row, first[row, item]] = item
    return slates


def drawn(scores: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] the candidates of highest score [n, m], best first; a draw decides where they tie."""
    inside = np.arange(scores.shape[1]) < contexts.size[:, None]
    keys = np.where(inside, -scores, np.inf)
    order = np.argsort(keys, axis=1, kind="stable")
    in_order = np.take_along_axis(keys, order, axis=1)
    if ((in_order[:, 1:] == in_order[:, :-1]) & np.isfinite(in_order[:, 1:])).any():
        order = np.lexsort((rng.random(scores.shape), keys), axis=1)
    order = order[:, : contexts.slots]
    return np.where(np.arange(order.shape[1]) < contexts.length[:, None], order, -1)
