"""Policies that rank some of the candidates only, in the slots that others leave to them.

What is left of a row is a context of its own. There the base policy has its exact laws, whatever it is.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch, Shown, SparseFeatures
from ..log.source import Ability, Needs
from .base import Policy, all_items, refuse_no_column, refuse_no_policy

FREE, OUT = -1, -2
"""In place of a fixed rank: the base policy ranks this candidate, or it is never shown."""


@dataclass(frozen=True)
class Rest:
    """What is left to the base policy.

    contexts: of the candidates and slots left. items: [n, m'] their places among all candidates, -1 pads. place: [n, m]
    the place of each candidate among those left, -1 if it is not. slots: [n, k'] the slots of the row that are left, -1
    pads. pinned: [n, k] the candidate that a slot is kept for, else -1.
    """

    contexts: Contexts
    items: Integers
    place: Integers
    slots: Integers
    pinned: Integers

    def slates(self, slates: Integers) -> Integers:
        """[n, k'] slates [n, k] as the base policy sees them; -1 where a candidate is not left to it."""
        row = np.arange(len(slates))[:, None]
        shown = np.where(self.slots >= 0, slates[row, self.slots], -1)
        return np.where(shown >= 0, self.place[row, shown], -1)

    def around(self, drawn: Integers) -> Integers:
        """[n, k] the slates whose free slots show what the base policy has drawn [n, k']."""
        row, slots = np.arange(len(drawn))[:, None], self.slots[:, : drawn.shape[1]]
        slates = np.column_stack([self.pinned, np.full(len(drawn), -1)])  # the last column takes what is padded
        slates[row, slots] = np.where(drawn >= 0, self.items[row, drawn], -1)
        return slates[:, :-1]


class Restricted(Policy):
    """A policy whose base ranks some of the candidates in some of the slots, while a column fixes the others."""

    base: Policy
    column: str

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        refuse_no_column(self, self.column)

    @abstractmethod
    def fixed(self, contexts: Contexts) -> Integers:
        """[n, m] the rank of each candidate, or `FREE`, or `OUT`."""

    @final
    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        own = Needs(frozenset(["candidates"]), scores=frozenset([self.column]), exchangeable=True)
        return self.base.law(ability).reads(ability) | own

    @final
    def for_rows(self, batch: LogBatch) -> Policy:
        """The policy itself, if its base is known for all rows."""
        self.base.for_rows(batch)
        return self

    @final
    def rest(self, contexts: Contexts) -> Rest:
        """What is left to the base policy."""
        (n, m), k = contexts.candidates.shape, contexts.slots
        inside, fixed = np.arange(m) < contexts.size[:, None], self.fixed(contexts)
        row, item = np.nonzero(inside & (fixed >= 0) & (fixed < contexts.length[:, None]))
        pinned = np.full((n, k), -1)
        pinned[row, fixed[row, item]] = item
        unfilled = (pinned < 0) & (np.arange(k) < contexts.length[:, None])
        kept = inside & (fixed == FREE)
        length = np.minimum(kept.sum(axis=1), unfilled.sum(axis=1))
        items, place = _numbered(kept)
        some = _some_candidates(contexts, items, place, length)
        slots = np.argsort(~unfilled, axis=1, kind="stable")[:, : some.slots]
        return Rest(some, items, place, np.where(np.arange(some.slots) < length[:, None], slots, -1), pinned)

    @property
    @final
    def sorts(self) -> bool:
        """Whether the base policy does."""
        return self.base.sorts

    @final
    def tied(self, batch: LogBatch) -> Booleans:
        """[n] whether items tie among those that are left to the base policy."""
        rest = self.rest(batch.contexts)
        return self.base.tied(replace(batch, contexts=rest.contexts, shown=Shown(rest.slates(batch.slates))))

    @final
    def sure_slates(self, contexts: Contexts) -> tuple[Booleans, Integers]:
        """As `Policy.sure_slates`, by the base policy."""
        rest = self.rest(contexts)
        sure, inner = self.base.sure_slates(rest.contexts)
        return sure, rest.around(inner)

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        rest = self.rest(contexts)
        return rest.around(self.base.law("sample").sample(rest.contexts, rng))

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        rest = self.rest(contexts)
        found = self.base.law("log_prob").log_prob(rest.contexts, rest.slates(slates))
        return np.where(_impossible(rest, slates).any(axis=1), -np.inf, found)

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        rest = self.rest(contexts)
        found = self.base.law("slot_probs").slot_probs(rest.contexts, rest.slates(slates))
        probs = np.ones((len(slates), slates.shape[1] + 1))
        probs[np.arange(len(slates))[:, None], rest.slots] = found
        return np.where(_impossible(rest, slates), 0.0, probs[:, :-1])

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        rest, row = self.rest(contexts), np.arange(len(contexts))[:, None]
        asked = np.where(items >= 0, rest.place[row, items], -1)
        found = self.base.law("rank_probs").rank_probs(rest.contexts, asked)
        law_of = np.zeros((*items.shape, contexts.slots + 1))
        law_of[row[:, :, None], np.arange(items.shape[1])[:, None], rest.slots[:, None]] = found
        at = (items[:, :, None] >= 0) & (items[:, :, None] == rest.pinned[:, None])
        return np.where(at, 1.0, law_of[:, :, :-1])

    @final
    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`."""
        rest = self.rest(contexts)
        found = self.base.law("pair_probs").pair_probs(rest.contexts)
        (n, m), k = contexts.candidates.shape, contexts.slots
        both = np.zeros((n, m + 1, k + 1, m + 1, k + 1))  # the last places take what is padded
        items, slots = rest.items[:, :, None], rest.slots[:, None]
        row = np.arange(n)[:, None, None]
        one = row[..., None, None], items[..., None, None], slots[..., None, None]
        both[(*one, items[:, None, None], slots[:, None, None])] = found
        both = both[:, :m, :k, :m, :k]
        row, rank = np.nonzero(rest.pinned >= 0)
        item, single = rest.pinned[row, rank], self.rank_probs(contexts, all_items(contexts))[row]
        both[row, item, rank] = single
        both[row, :, :, item, rank] = single
        return both

    @final
    def fills_slots(self, contexts: Contexts) -> Booleans:
        rest = self.rest(contexts)
        known = self.base.fills_slots(rest.contexts)
        filled = rest.contexts.length + (rest.pinned >= 0).sum(axis=1) == contexts.length
        return filled & (np.zeros(len(contexts), np.bool_) if known is None else known)


def _impossible(rest: Rest, slates: Integers) -> Booleans:
    """[n, k] where a candidate is shown that cannot be in this slot."""
    place = rest.place[np.arange(len(slates))[:, None], slates]
    wide = slates.shape[1] - rest.pinned.shape[1]
    pinned = np.pad(rest.pinned, ((0, 0), (0, wide)), constant_values=-1)
    return (slates >= 0) & np.where(pinned >= 0, slates != pinned, place < 0)


def _numbered(kept: Booleans) -> tuple[Integers, Integers]:
    """[n, m'] the places of what is kept [n, m], in order, -1 pads; and [n, m] the number of each place, else -1."""
    size = kept.sum(axis=1)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : max(int(size.max(initial=0)), 1)]
    order = np.where(np.arange(order.shape[1]) < size[:, None], order, -1)
    return order, np.where(kept, np.cumsum(kept, axis=1) - 1, -1)


def _some_candidates(contexts: Contexts, items: Integers, place: Integers, length: Integers) -> Contexts:
    """Contexts of these candidates [n, m'] only. place: [n, m] the number of each candidate among them."""
    row, there = np.arange(len(items))[:, None], items >= 0
    rankings = {}
    for name, ranking in contexts.rankings.items():
        among = np.where(ranking >= 0, place[row, np.maximum(ranking, 0)], ranking)
        gone = (ranking >= 0) & (among < 0)
        rankings[name] = np.take_along_axis(among, np.argsort(gone, axis=1, kind="stable"), axis=1)
    return Contexts(
        candidates=np.where(there, contexts.candidates[row, items], 0),
        size=there.sum(axis=1),
        length=length,
        scores={name: np.where(there, score[row, items], 0.0) for name, score in contexts.scores.items()},
        rankings=rankings,
        keys=contexts.keys,
        features=None if contexts.features is None else _lines(contexts.features, items),
    )


def _lines(features: SparseFeatures, items: Integers) -> SparseFeatures:
    """The features of some candidates [n, m'] of each row; -1 pads have none."""
    line = (features.first[:, None] + items).reshape(-1)
    start, end = features.offsets[line], features.offsets[line + 1]
    count = np.where(items.reshape(-1) >= 0, end - start, 0)
    offsets = np.append(0, np.cumsum(count))
    taken = np.arange(offsets[-1]) + np.repeat(start - offsets[:-1], count)
    first = np.arange(len(items), dtype=np.int64) * items.shape[1]
    return SparseFeatures(first, offsets, features.indices[taken], features.values[taken])
