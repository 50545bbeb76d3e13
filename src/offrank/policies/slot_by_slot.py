"""Policies that fill slot after slot, where few hidden numbers and the items shown decide what comes next.

Ranks and pairs are summed by a programme over states: the items left and the hidden number. States that agree are one,
so that two orders of the same items, or the same picks by other coins, are followed once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, final

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.source import Ability
from .base import Policy, put_rows, unable

MOST_STEPS = 2**21
"""Steps from one slot to the next that are followed at a time; a single row with more is refused."""
_MOST_CELLS = 2**26  # candidates of the states from which these steps go: their probabilities fill 512 MiB
_ROWS = 256  # that are followed at a time: their states stay in the processor's caches
_MOST_NUMBERS = 2**25  # of a pair law's tables, 256 MiB
_REMEDY = "shorten the slate or list fewer candidates; ips, snips, rips and snrips do not need this"

T = TypeVar("T")


@dataclass(frozen=True)
class States:
    """What may have happened above a slot. row: [s] of the contexts. left: [s, m] candidates not yet shown.

    hidden: [s] what else decides the next items, such as whose turn it is. chance: [s] the probability of each state.
    """

    row: Integers
    left: Booleans
    hidden: Integers
    chance: Floats

    def __len__(self) -> int:
        return len(self.row)

    def take(self, which: Integers | Booleans) -> States:
        """Some of the states."""
        return States(self.row[which], self.left[which], self.hidden[which], self.chance[which])


@dataclass(frozen=True)
class _Steps:
    """Steps from the states above a slot to those below: source and below [t] number them, item [t] fills the slot."""

    source: Integers
    item: Integers
    chance: Floats
    below: Integers


Branch = tuple[Floats, Integers]
"""P(next item, and the next hidden number | state) [s, m], and that number [s]."""


class SlotBySlot(Policy):
    """A policy that fills slot after slot, as the states say."""

    @abstractmethod
    def starts(self) -> Sequence[tuple[int, float]]:
        """The hidden numbers at the top, and their probabilities."""

    @abstractmethod
    def tables(self, contexts: Contexts) -> Integers:
        """[n, t, m] whatever decides the law of a context besides its numbers of candidates and slots."""

    @abstractmethod
    def branches(self, tables: Integers, states: States) -> Iterable[Branch]:
        """What may come next, of tables [n, t, m]; a state without items left has no next one."""

    def ranked(self, contexts: Contexts, law: Floats) -> bool:
        """Whether there is a shorter way to the law [n, m, k] of the ranks, which is filled in then."""
        return False

    @final
    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        tables, states, probs = self.tables(contexts), self._top(contexts), np.ones(slates.shape)
        for slot in range(slates.shape[1]):
            filled = np.flatnonzero(slates[:, slot] >= 0)
            idle, states = _divided(states, slates[:, slot] < 0)
            item = slates[states.row, slot]
            own, found = np.arange(len(states)), []
            for chances, hidden in self.branches(tables, states):
                chance = states.chance * chances[own, item]
                found.append(replace(states, hidden=hidden, chance=chance).take(chance > 0))
            states = _joined(found) if found else states.take(own[:0])
            total = np.bincount(states.row, states.chance, len(slates))
            probs[filled, slot] = total[filled]
            states.left[np.arange(len(states)), slates[states.row, slot]] = False
            states, _ = _merged(replace(states, chance=states.chance / total[states.row]))
            states = _joined([states, idle])
        return probs

    @final
    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        numbers, shares = zip(*self.starts(), strict=True)
        n, m = contexts.candidates.shape
        states = States(np.arange(n), _inside(contexts), rng.choice(numbers, n, p=shares), np.ones(n))
        tables, slates = self.tables(contexts), np.full((n, contexts.slots), -1)
        for slot in range(contexts.slots):
            chances, hidden = zip(*self.branches(tables, states), strict=True)
            up_to = np.cumsum(np.concatenate(chances, axis=1), axis=1)
            drawn = (rng.random((n, 1)) * up_to[:, -1:] >= up_to).sum(axis=1)
            row = np.flatnonzero((up_to[:, -1] > 0) & (slot < contexts.length))
            slates[row, slot] = drawn[row] % m
            states.left[row, slates[row, slot]] = False
            states.hidden[row] = np.stack(hidden, axis=1)[row, drawn[row] // m]
        return slates

    @final
    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads.

        Raises:
            AbilityError: there are too many sets of items that may be above.
        """
        law = np.zeros((*contexts.candidates.shape, contexts.slots))
        if not self.ranked(contexts, law):
            for rows, found in self._solved(contexts, "rank_probs", MOST_STEPS, _ranks):
                put_rows(law, rows, found)
        some = np.take_along_axis(law, np.maximum(items, 0)[:, :, None], axis=1)
        return np.where((items >= 0)[:, :, None], some, 0.0)

    @final
    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`.

        Raises:
            AbilityError: there are too many sets of items that may be above.
        """
        size = contexts.candidates.shape[1], contexts.slots
        law = np.zeros((len(contexts), *size, *size))
        most = _MOST_NUMBERS // max(size[0] * size[1], 1)
        for rows, found in self._solved(contexts, "pair_probs", most, _pairs):
            put_rows(law, rows, found)
        return law

    def _solved(
        self,
        contexts: Contexts,
        ability: Ability,
        most: int,
        what: Callable[[Contexts, list[tuple[States, _Steps]]], T],
    ) -> Iterator[tuple[Integers, Floats]]:
        """Rows of the contexts and their laws; equal rows are solved once.

        most: the number of steps to follow at a time.
        """
        tables, most = self.tables(contexts), min(most, _MOST_CELLS // max(contexts.candidates.shape[1], 1))
        decides = np.column_stack([contexts.size, contexts.length, tables.reshape(len(tables), tables[:1].size)])
        _, first, which = np.unique(decides, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.append(0, np.cumsum(np.bincount(which.reshape(-1), minlength=len(first))))
        todo = [(start, min(start + _ROWS, len(first))) for start in range(0, len(first), _ROWS)][::-1]
        while todo:
            start, end = todo.pop()
            some = contexts.take(first[start:end])
            slots = self._followed(some, tables[first[start:end]], most)
            if slots is None:
                if end - start == 1:
                    unable(self, ability, f"there are more than {most:,} ways from one slot to the next: " + _REMEDY)
                todo += [((start + end) // 2, end), (start, (start + end) // 2)]
                continue
            rows = order[ends[start] : ends[end]]
            yield rows, np.asarray(what(some, slots))[which.reshape(-1)[rows] - start]

    def _followed(self, contexts: Contexts, tables: Integers, most: int) -> list[tuple[States, _Steps]] | None:
        """The states above each slot and the steps from there; None if there are too many."""
        states, found = self._top(contexts), []
        for slot in range(contexts.slots):
            steps, hidden, unfilled = [], [], np.flatnonzero(contexts.length[states.row] > slot)
            for chances, number in self.branches(tables, states.take(unfilled)):
                place, item = np.nonzero(chances)
                steps.append((unfilled[place], item, chances[place, item]))
                hidden.append(number[place])
            source, item, chance = (np.concatenate(each) for each in zip(*steps, strict=True))
            if len(source) > most:
                return None
            above, below = states, np.zeros(len(source), np.int64)
            if slot + 1 < contexts.slots:  # nothing is asked of the states below the last slot
                left = states.left[source]
                left[np.arange(len(source)), item] = False
                each = States(states.row[source], left, np.concatenate(hidden), states.chance[source] * chance)
                states, below = _merged(each)
            found.append((above, _Steps(source, item, chance, below)))
        return found

    def _top(self, contexts: Contexts) -> States:
        """The states before anything is shown."""
        n, starts = len(contexts), self.starts()
        row, inside = np.arange(n), _inside(contexts)
        return _joined([States(row, inside, np.full(n, number), np.full(n, share)) for number, share in starts])


def _inside(contexts: Contexts) -> Booleans:
    return np.asarray(np.arange(contexts.candidates.shape[1]) < contexts.size[:, None])


def _divided(states: States, row_is: Booleans) -> tuple[States, States]:
    """The states of some rows, and those of the others."""
    mine = row_is[states.row]
    return states.take(mine), states.take(~mine)


def _joined(parts: Sequence[States]) -> States:
    each = zip(*((one.row, one.left, one.hidden, one.chance) for one in parts), strict=True)
    row, left, hidden, chance = map(np.concatenate, each)
    return States(row, left, hidden, chance)


def _merged(states: States) -> tuple[States, Integers]:
    """Each state once with its total probability, and the number [s] of every given one among them."""
    packed = np.packbits(states.left, axis=1)
    packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)
    keys = [*packed.T, states.hidden, states.row]
    order = np.lexsort(keys)
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    first = order[new]
    total = np.bincount(number, states.chance, len(first)).astype(np.float64, copy=False)
    return replace(states.take(first), chance=total), number


def _ranks(contexts: Contexts, slots: list[tuple[States, _Steps]]) -> Floats:
    """[n, m, k] P(candidate at rank)."""
    n, m = contexts.candidates.shape
    law = np.zeros((n, m, len(slots)))
    for rank, (states, steps) in enumerate(slots):
        shown = states.row[steps.source] * m + steps.item
        law[:, :, rank] = np.bincount(shown, states.chance[steps.source] * steps.chance, n * m).reshape(n, m)
    return law


def _pairs(contexts: Contexts, slots: list[tuple[States, _Steps]]) -> Floats:
    """[n, m, k, m, k] P(candidate and another at two ranks), from the last slot upwards."""
    from scipy.sparse import csr_array

    (n, m), k = contexts.candidates.shape, len(slots)
    law = np.zeros((n, m, k, m, k))
    each, single = np.arange(m), _ranks(contexts, slots)
    later = np.zeros((0, m * k))  # P(candidate at a rank from here on | state)
    for rank in range(k - 1, -1, -1):
        states, steps = slots[rank]
        later = later if len(later) else np.zeros((int(steps.below.max(initial=-1)) + 1, m * k))
        shown = states.row[steps.source] * m + steps.item
        together = csr_array((states.chance[steps.source] * steps.chance, (shown, steps.below)), (n * m, len(later)))
        law[:, :, rank] = (together @ later).reshape(n, m, m, k)
        step = (steps.source * m + steps.item) * k + rank
        here = np.bincount(step, steps.chance, len(states) * m * k)
        on = csr_array((steps.chance, (steps.source, steps.below)), (len(states), len(later)))
        later = here.reshape(len(states), m * k) + on @ later
    law += law.transpose(0, 3, 4, 1, 2)
    for rank in range(k):
        law[:, each, rank, each, rank] = single[:, :, rank]
    return law
