"""Policies that draw a key for every candidate, independently, and show the candidates of the largest keys in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np

from .. import races
from ..errors import UsageError
from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.source import Ability, Needs
from . import _kernels
from .base import Policy, unable
from .plackett_luce import PlackettLuce

_MOST_NUMBERS = 1 << 26
"""Of one row, while the probabilities of its candidates at all ranks are computed: half a gigabyte."""
_MOST_KEPT = 1 << 20
"""Probabilities that a policy keeps."""
_PANELS = 32
"""Of most rows."""
_RULE = np.vstack([races.NODES - 0.5, races.WEIGHTS, races.UP_TO])


class Racing(Policy):
    """A policy that ranks candidates by independent keys, whose laws a quadrature gives; see `offrank.races`."""

    by_slots: bool = True

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, each a list of numbers beside the candidates."""

    @property
    @abstractmethod
    def positive(self) -> tuple[str, ...]:
        """Those of them whose numbers must be above 0."""

    @abstractmethod
    def keys(self, contexts: Contexts) -> races.Keys:
        """The law of each candidate's key; any law on pads."""

    @property
    def plackett_luce(self) -> PlackettLuce | None:
        """The Plackett-Luce policy that it equals, which needs no quadrature, if there is one."""
        return None

    @final
    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        roles, scores = frozenset(["candidates"]), frozenset(self.columns)
        return Needs(roles, scores=scores, positive=frozenset(self.positive), exchangeable=True)

    @final
    def fills_slots(self, contexts: Contexts) -> Booleans:
        """[n] always: every key is a number."""
        return np.ones(len(contexts), np.bool_)

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        if (same := self.plackett_luce) is not None:
            return same.sample(contexts, rng)
        keys = self.keys(contexts).sample(rng)
        slates, depth = np.full((len(keys), contexts.slots), -1), np.minimum(contexts.length, contexts.size)
        _kernels.top_k(keys, contexts.size, depth, np.empty(contexts.slots), slates, np.empty(len(keys), np.bool_))
        return slates

    @final
    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        same = self.plackett_luce
        return super().log_prob(contexts, slates) if same is None else same.log_prob(contexts, slates)

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        if (same := self.plackett_luce) is not None:
            return same.slot_probs(contexts, slates)
        found = self._beginnings(contexts, slates)
        above = np.hstack([np.ones((len(found), 1)), found[:, :-1]])
        given = np.divide(found, above, out=np.zeros_like(found), where=above > 0)
        return np.where(slates >= 0, given, 1.0)

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads.

        Raises:
            AbilityError: a row would take too long or too much memory, raised before any is computed.
        """
        if (same := self.plackett_luce) is not None:
            return same.rank_probs(contexts, items)
        self._refuse_many_ranks(contexts)
        one = contexts.slots == 1
        law = self._first(contexts)[:, :, None] if one else self._solved(contexts, races.rank_probs)
        found = np.take_along_axis(law, np.maximum(items, 0)[:, :, None], axis=1)
        return np.where((items >= 0)[:, :, None], found, 0.0)

    @final
    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`, exact; equal contexts are solved once.

        Raises:
            AbilityError: it would take too long or too much memory, raised before anything is computed.
        """
        if (same := self.plackett_luce) is not None:
            return same.pair_probs(contexts)
        for m, k in np.unique(np.column_stack([contexts.size, contexts.length]), axis=0).tolist():
            if (seconds := races.pair_seconds(m, k)) > races.MOST_SECONDS:
                cost = f"{seconds:.3g} seconds" if np.isfinite(seconds) else "more than 2 GiB of memory"
                unable(self, "pair_probs", f"{m} candidates in {k} slots would take {cost}: shorten the slate")
        return self._solved(contexts, races.pair_probs)

    def _refuse_many_ranks(self, contexts: Contexts) -> None:
        numbers = contexts.size * contexts.length**2
        if numbers.max(initial=0) > _MOST_NUMBERS:
            size, length = contexts.size[numbers.argmax()], contexts.length[numbers.argmax()]
            why = f"{size:,} candidates at {length:,} ranks would take too long and too much memory: shorten the slates"
            unable(self, "rank_probs", why)

    def _beginnings(self, contexts: Contexts, slates: Integers) -> Floats:
        if slates.shape[1] != 1 or contexts.slots != 1:
            return races.list_probs(self.keys(contexts), contexts.size, slates)
        first = np.take_along_axis(self._first(contexts), np.maximum(slates, 0), axis=1)
        return np.where(slates >= 0, first, 1.0)

    def _first(self, contexts: Contexts) -> Floats:
        """[n, m] P(the candidate comes first). One slot is asked for again and again, of the same keys: it is kept."""
        order = self._order(contexts)
        read = {column: np.take_along_axis(contexts.scores[column], order, axis=1) for column in self.columns}
        contexts = replace(contexts, scores=read)
        rows, kept = [one.tobytes() for one in self._content(contexts)], self._kept
        new = {one: row for row, one in enumerate(rows) if one not in kept}
        some = contexts.take(np.fromiter(new.values(), np.int64, len(new)))
        law = _first_probs(self.keys(some), some.size)
        fresh = dict(zip(new, law, strict=True))
        if (len(kept) + len(fresh)) * law.shape[1] <= _MOST_KEPT:
            kept.update(fresh)
        found, known = np.empty(order.shape), [fresh[one] if one in fresh else kept[one] for one in rows]
        np.put_along_axis(found, order, np.reshape(known, order.shape), axis=1)
        return np.where(contexts.length[:, None] > 0, found, 0.0)

    def _order(self, contexts: Contexts) -> Integers:
        """[n, m] candidates by their numbers, pads last: the law does not depend on the order in which they stand."""
        pads = np.arange(contexts.candidates.shape[1]) >= contexts.size[:, None]
        return np.lexsort((*(contexts.scores[column] for column in self.columns), pads), axis=1)

    @cached_property
    def _kept(self) -> dict[bytes, Floats]:
        """Rows of `_content`, and the law of `_first` in them."""
        return {}

    def _content(self, contexts: Contexts) -> Floats:
        """[n, 2 + columns * m] what decides the law of each row."""
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        read = [np.where(inside, contexts.scores[column], 0.0) for column in self.columns]
        return np.hstack([contexts.size[:, None], contexts.length[:, None], *read])

    def _solved(self, contexts: Contexts, law: Callable[[races.Keys, Integers, Integers, int], Floats]) -> Floats:
        """[n, ...] a law of every row; equal rows are solved once."""
        _, first, which = np.unique(self._content(contexts), axis=0, return_index=True, return_inverse=True)
        some = contexts.take(first)
        found = law(self.keys(some), some.size, some.length, contexts.slots)
        return np.asarray(found[which.reshape(-1)])


def _first_probs(keys: races.Keys, size: Integers) -> Floats:
    """[n, m] P(the candidate comes first), 0 on pads: compiled, where these keys are known to compiled loops."""
    known = keys.numbers()
    if known is None:
        return races.rank_probs(keys, size, np.ones_like(size), 1)[:, :, 0]
    odds, numbers = known[0] == "log-odds", known[1]
    n, m, _ = numbers.shape
    count, panels = np.zeros(n, np.int64), 0
    while count.max(initial=1) > panels:
        panels = max(_PANELS, int(count.max(initial=0)))
        edges = np.empty((n, panels + 1))
        _kernels.cut_into_panels(odds, numbers, size, edges, count)
    panels = int(count.max(initial=0))
    lanes, wholes, until = np.empty((2 * m + 3, races.ORDER)), np.empty((panels + 1, m)), np.empty(m, np.int64)
    density, below = np.empty((2, panels, m, races.ORDER))
    found = np.zeros((n, m))
    _kernels.first_of_keys(odds, numbers, size, edges, count, _RULE, lanes, until, wholes, density, below, found)
    return found


def numbers_of(policy: Racing, contexts: Contexts, column: str) -> Floats:
    """[n, m] the numbers of a column, 1 on pads.

    Raises:
        UsageError: one is not above 0, where the policy needs that.
    """
    found = contexts.scores[column]
    found = np.where(np.arange(found.shape[1]) < contexts.size[:, None], found, 1.0)
    if column in policy.positive and not found.min(initial=1.0) > 0:
        raise UsageError(f"{policy!r}: {column!r} contains a number that is not above 0", "give numbers above 0")
    return found
