"""Which category comes when, where items are drawn in order and only the first of each category counts.

Items lie in levels, which never mix: tied scores of a sorted ranking, or weights above zero and weights of zero. Within
a level they race with their weights. So the categories race too, each with the sum of the weights of its items, and
which item comes for a category does not depend on when it comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers
from .plackett_luce.laws import rank_law
from .plackett_luce.pairs import pair_laws

NEVER = np.iinfo(np.int64).max
"""The level of an item that is never drawn."""


@dataclass(frozen=True)
class CategoryRaces:
    """The races of contexts. length: [n] slots. level, log_weight, category: [n, m]; categories count from 0."""

    length: Integers
    level: Integers
    log_weight: Floats
    category: Integers

    @property
    def slots(self) -> int:
        """The widest row's number of slots."""
        return int(self.length.max(initial=0))

    def next_logs(self, left: Booleans) -> Floats:
        """[n, m] log of the probability that each item is the next, of those that are left [n, m]."""
        first = self._first(left)
        logs = np.where(first, self.log_weight, -np.inf)
        largest = logs.max(axis=1, keepdims=True, initial=-np.inf)
        largest = np.where(np.isfinite(largest), largest, 0.0)
        with np.errstate(divide="ignore"):
            total = largest + np.log(np.exp(logs - largest).sum(axis=1, keepdims=True))
        return np.where(first, logs - np.where(np.isfinite(total), total, 0.0), -np.inf)

    def in_order(self, rng: np.random.Generator) -> Integers:
        """[n, k] the items of one race, without repeats of a category; -1 where none is left."""
        keys = self.log_weight + rng.gumbel(size=self.level.shape)
        left, slates, row = self.level < NEVER, np.full((len(keys), self.slots), -1), np.arange(len(keys))
        for slot in range(self.slots):
            item = np.where(self._first(left), keys, -np.inf).argmax(axis=1)
            slates[:, slot] = np.where(left.any(axis=1) & (slot < self.length), item, -1)
            left &= self.category != self.category[row, item][:, None]
        return slates

    @cached_property
    def shares(self) -> Floats:
        """[n, m] the probability that an item is the one that comes for its category; 0 for those that never do."""
        row, (best, total) = np.arange(len(self.level))[:, None], self._categories
        at_best = (self.level < NEVER) & (self.level == best[row, self.category])
        share = np.exp(np.where(at_best, self.log_weight - total[row, self.category], -np.inf))
        return np.asarray(share)

    @cached_property
    def rank_law(self) -> Floats:
        """[n, c, k] the probability of each category at each rank."""
        found = np.zeros((*self.level.shape, self.slots + 1))  # the last rank takes what lies below the slots
        for group in self._groups():
            width = group.category.shape[1]
            count = np.minimum(width, self.length[group.row] - group.start)
            each = np.tile(np.arange(width), (len(count), 1))
            law = rank_law(group.log_weight, np.full(len(count), width), count, each, int(count.max()))
            found[group.row[:, None, None], group.category[:, :, None], self._ranks(group, law.shape[2])[:, None]] = law
        return found[:, :, :-1]

    def pair_law(self) -> Floats:
        """[n, c, k, c, k] the probability of two categories at two ranks.

        Raises:
            UsageError: it would take too long or too much memory.
        """
        single = np.pad(self.rank_law, ((0, 0), (0, 0), (0, 1)))
        both = single[:, :, :, None, None] * single[:, None, None]
        for group in self._groups():
            if (width := group.category.shape[1]) == 1:
                continue
            count = min(width, int((self.length[group.row] - group.start).max()))
            weights = np.exp(group.log_weight - group.log_weight.max(axis=1, keepdims=True))
            item, rank = group.category[:, :, None], self._ranks(group, count)[:, None]
            one = group.row[:, None, None, None, None], item[..., None, None], rank[..., None, None]
            both[(*one, item[:, None, None], rank[:, None, None])] = pair_laws(weights, count)
        return both[:, :, :-1, :, :-1]

    def tied(self) -> Booleans:
        """[n] whether the order of some items of one level is open, which may be shown."""
        found = np.zeros(len(self.level), np.bool_)
        for group in self._groups():
            found[group.row] |= group.category.shape[1] > 1
        row = np.arange(len(self.level))[:, None]
        reached = np.asarray(self.rank_law.any(axis=2))[row, self.category]
        return found | ((self.shares > 0) & (self.shares < 1) & reached).any(axis=1)

    def categories(self) -> Integers:
        """[n] how many categories can be shown."""
        return np.asarray((self._categories[0] < NEVER).sum(axis=1))

    def _first(self, left: Booleans) -> Booleans:
        """[n, m] the items of the first level that are left."""
        level = np.where(left, self.level, NEVER)
        return left & (level == level.min(axis=1, keepdims=True)) & (level < NEVER)

    @cached_property
    def _categories(self) -> tuple[Integers, Floats]:
        """[n, c] the first level in which each category has an item, and the log of its weight there."""
        (n, m), row = self.level.shape, np.arange(len(self.level))[:, None]
        best, largest, total = np.full((n, m), NEVER), np.full((n, m), -np.inf), np.zeros((n, m))
        np.minimum.at(best, (row, self.category), self.level)
        logs = np.where((self.level < NEVER) & (self.level == best[row, self.category]), self.log_weight, -np.inf)
        np.maximum.at(largest, (row, self.category), logs)
        largest = np.where(np.isfinite(largest), largest, 0.0)
        np.add.at(total, (row, self.category), np.exp(logs - largest[row, self.category]))
        return best, largest + np.log(total, out=np.full((n, m), -np.inf), where=total > 0)

    def _groups(self) -> Iterator[_Group]:
        """The categories of each row that race in one level, those of equal number together, while slots are left."""
        best, weight = self._categories
        row, category = np.nonzero(best < NEVER)
        order = np.lexsort((best[row, category], row))
        row, category = row[order], category[order]
        level = best[row, category]
        place = np.arange(len(row))
        new_row = np.append(True, row[1:] != row[:-1])[: len(row)]
        new = new_row | np.append(True, level[1:] != level[:-1])[: len(row)]
        start = place - np.maximum.accumulate(np.where(new_row, place, 0))
        first = np.flatnonzero(new)
        widths = np.diff(np.append(first, len(row)))
        open_to = start[first] < self.length[row[first]]
        for width in np.unique(widths[open_to]).tolist():
            at = first[open_to & (widths == width)]
            some = category[at[:, None] + np.arange(width)]
            yield _Group(row[at], start[at], some, weight[row[at][:, None], some])

    def _ranks(self, group: _Group, count: int) -> Integers:
        """[g, count] the ranks of the places in a group, the number of slots for all that lie below a row's slots."""
        ranks = group.start[:, None] + np.arange(count)
        return np.where(ranks < self.length[group.row][:, None], ranks, self.slots)


@dataclass(frozen=True)
class _Group:
    """Categories [g, w] of equal level. row: [g] of each group. start: [g] its first rank. log_weight: [g, w]."""

    row: Integers
    start: Integers
    category: Integers
    log_weight: Floats


def numbered_categories(values: Floats, contexts: Contexts) -> Integers:
    """[n, m] the numbers of the categories of each row, from 0, where values [n, m] are equal within a category."""
    inside = np.arange(values.shape[1]) < contexts.size[:, None]
    order = np.argsort(np.where(inside, values, np.inf), axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    number = np.zeros(values.shape, np.int64)
    number[:, 1:] = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
    found = np.zeros(values.shape, np.int64)
    np.put_along_axis(found, order, number, axis=1)
    return np.where(inside, found, 0)
