"""Inverses for the distinct contexts of a batch, cached together with the results for each target.

Inverses are expensive and large, the results for a single target are small: both are cached while the log is
read, so that contexts that recur in later batches cost nothing even when there are too many inverses
to keep.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import AbilityError
from ...log.batch import Booleans, Contexts, Floats, Integers, LogBatch, RunCache
from ...log.contexts import content, distinct
from ...policies.base import Policy
from ...running.memory import available
from .cache import SizedCache
from .gamma import Inverse, Inverses, pseudoinverses
from .grouping import Grouped, grouped, relevant, unpadded

INVERSE_BYTES, SOLUTION_BYTES = 512 << 20, 256 << 20
"""The most that is kept of each, and of what may still be taken at most a sixteenth."""
TOGETHER_BYTES = 32 << 20  # of inverses that are made or used at a time
FEW_TARGETS = 16  # of one context in one batch; with more, the inverse itself is used
_SOLVED = 64  # targets that are solved for at first
MOST_SECONDS = 3600.0  # for one batch


@dataclass
class CostLimit:
    """Stops at a batch whose inverses would take too long, judged by the time of the first ones.

    left: the number of its contexts that have not been begun.
    """

    policy: Policy
    contexts: int
    left: int
    made: int = 0
    each: float = np.inf

    def spend(self, started: float, made: int) -> None:
        """Record the time of so many inverses, begun at `started`.

        Raises:
            AbilityError: the others will take too long.
        """
        self.made += made
        self.each = min(self.each, (time.perf_counter() - started) / made)  # the first may have waited for a compiler
        if self.made > 2 and self.each * self.left > MOST_SECONDS:
            raise AbilityError(
                f"{self.policy!r}: pair probabilities take {self.each:.2g} seconds per context, and a batch of the "
                f"log has {self.contexts:,} different contexts: {self.each * self.contexts / 3600:.1f} hours",
                "round the scores to fewer levels, so that fewer contexts differ; shorten the slates; or use snips",
            )


@dataclass(frozen=True)
class Case:
    """The distinct contexts of one number of candidates and slots.

    rows: [r] of the batch. same: how the candidates of the rows are ordered in them. contexts: [g] without pads.
    which: [r] the index of each row's context.
    """

    rows: Integers
    same: Grouped
    policy: Policy
    contexts: Contexts
    which: Integers
    cost: CostLimit
    cache: RunCache

    def each(self, some: Integers) -> Iterator[tuple[Integers, Inverse]]:
        """The inverse of each context of `some` of the rows, with the places of its rows among those."""
        for here in self._portions(some):
            groups, first = np.unique(self.which[some[here]], return_inverse=True)
            order = np.split(np.argsort(first, kind="stable"), np.cumsum(np.bincount(first))[:-1])
            yield from zip((here[places] for places in order), self._inverses(groups), strict=True)

    def weights(self, some: Integers, wanted: Floats | Integers, shown: Integers) -> Floats:
        """[s] q' Gamma^+ 1_s of `some` of the rows, arguments as of `Inverse.weights`."""
        if (all_of_them := self._all_known()) is not None:
            return all_of_them.weights(self.which[some], wanted, shown)
        out = np.empty(len(some))
        for here in self._portions(some):
            out[here] = self._weights(self.which[some[here]], wanted[here], shown[here])
        return out

    def _all_known(self) -> Inverses | None:
        """All inverses, once they are known, if they fit in memory together: kept for further targets of the batch."""
        if "all_of_them" not in vars(self) and not (
            len(self.contexts) <= self._together and all(self._made.known(self.keys))
        ):
            return None
        return self.all_of_them

    @cached_property
    def all_of_them(self) -> Inverses:
        """The inverse of every context."""
        return Inverses(self._inverses(np.arange(len(self.contexts))))

    def _portions(self, some: Integers) -> Iterator[Integers]:
        """Places among `some` of the rows, those of a few contexts at a time, so that their inverses fit in memory."""
        step, which = self._together, self.which[some]
        for first in range(0, len(self.contexts), step):
            here = (which >= first) & (which < first + step)
            if here.any():
                yield np.flatnonzero(here)

    def _weights(self, which: Integers, wanted: Floats | Integers, shown: Integers) -> Floats:
        """Weights of rows of the contexts `which`: by the inverse where it is known, or where targets are many."""
        few, out = self._few_targets(which, wanted), np.empty(len(which))
        if few.any():
            out[few] = self._remembered(which[few], wanted[few], shown[few])
        if not few.all():
            groups, place = np.unique(which[~few], return_inverse=True)
            out[~few] = Inverses(self._inverses(groups)).weights(place, wanted[~few], shown[~few])
        return out

    def _few_targets(self, which: Integers, wanted: Floats | Integers) -> Booleans:
        """[n] whether a row's inverse is not known and its context has few targets here."""
        groups, place = np.unique(which, return_inverse=True)
        few = ~np.array(self._made.known([self.keys[group] for group in groups.tolist()]), np.bool_)[place]
        if few.any():
            rows = np.flatnonzero(few)
            first, target = distinct(_pairs(which[rows], wanted[rows]))
            owner = which[rows[first]]
            few[rows] = (np.bincount(owner)[owner] <= FEW_TARGETS)[target]
        return few

    def _remembered(self, which: Integers, wanted: Floats | Integers, shown: Integers) -> Floats:
        """Weights by what is remembered of each target: the weight of each shown item and slot."""
        solutions: SizedCache[Floats] = self.cache.get(
            "solutions", lambda: SizedCache(int(min(SOLUTION_BYTES, available() / 16)))
        )
        first, target = distinct(_pairs(which, wanted))
        groups, targets = which[first], wanted[first]
        keys = [
            (self.keys[group], wanted.dtype.char, one.tobytes())
            for group, one in zip(groups.tolist(), targets, strict=True)
        ]

        def solved(places: list[int]) -> list[Floats]:
            some, place = np.unique(groups[places], return_inverse=True)
            return Inverses(self._inverses(some)).tables(place, targets[places])

        found = np.stack(solutions.every(keys, solved, _SOLVED, self._together))
        return np.asarray(found[target[:, None], shown].sum(axis=1))

    def _inverses(self, groups: Integers) -> list[Inverse]:
        """Gamma^+ of some of the contexts, computed on first use."""

        def make(places: list[int]) -> list[Inverse]:
            started = time.perf_counter()
            found = pseudoinverses(self.policy.pair_probs(self.contexts.take(groups[places])))
            self.cost.left -= len(places)
            self.cost.spend(started, len(places))
            return found

        keys = [self.keys[group] for group in groups.tolist()]
        return self._made.every(keys, make, max(self.cost.made, 1), self._together)

    @cached_property
    def keys(self) -> list[tuple[int, bytes]]:
        """The key of each inverse."""
        numbers: dict[Policy, int] = self.cache.get("policies", dict)
        number = numbers.setdefault(self.policy, id(self.policy))  # kept there, so that no other has this id
        rows = content(self.contexts)
        whole, width = rows.tobytes(), rows.shape[1] * rows.itemsize
        return [(number, whole[first : first + width]) for first in range(0, len(whole), width)]

    @cached_property
    def _made(self) -> SizedCache[Inverse]:
        found: SizedCache[Inverse] = self.cache.get(
            "inverses", lambda: SizedCache(int(min(INVERSE_BYTES, available() / 16)))
        )
        return found

    @cached_property
    def _together(self) -> int:
        """The number of inverses that may be in memory at once."""
        coordinates = int(self.contexts.size[0] * self.contexts.length[0])
        return max(TOGETHER_BYTES // (8 * max(coordinates, 1) ** 2), 1)


def _pairs(which: Integers, wanted: Floats | Integers) -> Integers:
    """[n, c] the content of a target of a context, as integers."""
    return np.column_stack([which, np.ascontiguousarray(wanted).view(np.int64)])


def cases(policy: Policy, contexts: Contexts, cache: RunCache) -> Iterator[Case]:
    """The distinct contexts of a logging policy. cache: results from earlier batches."""
    if not len(contexts.size):
        return  # a batch of which no row is left
    same = grouped(relevant(contexts, policy.reads("pair_probs")))
    cost = CostLimit(policy, len(same.contexts), len(same.contexts))
    for groups, rows in same.kinds():
        which = np.searchsorted(groups, same.group[rows])
        yield Case(rows, same, policy, unpadded(same.contexts.take(groups)), which, cost, cache)


def cases_of(policy: Policy, batch: LogBatch) -> list[Case]:
    """The distinct contexts of a batch, found once for all targets."""
    return batch.once(("cases", id(policy)), lambda: list(cases(policy, batch.contexts, batch.run)))
