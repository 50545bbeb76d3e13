"""Inverses for the distinct contexts of a batch, cached together with the results for each target.

Inverses are expensive and large, the results for a single target are small: both are cached while the log is
read, so that contexts that recur in later batches cost nothing even when there are too many inverses
to keep.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from ...errors import AbilityError
from ...log.batch import Contexts, Floats, Integers, RunCache
from ...policies.base import Policy
from ...policies.pair_law import pair_probs
from .gamma import Inverse, pseudoinverse
from .grouping import Grouped, distinct, grouped, key, relevant, single

INVERSE_BYTES = 512 << 20
SOLUTION_BYTES = 128 << 20
FEW_TARGETS = 16  # of one context in one batch; with more, the inverse itself is used
MOST_SECONDS = 3600.0  # for one batch


V = TypeVar("V", Inverse, Floats)


@dataclass
class SizedCache(Generic[V]):
    """A cache of values by key, shared by threads; beyond `limit` bytes the least recently used values are dropped.

    A value that another thread is computing is waited for, not computed twice.
    """

    limit: int
    made: OrderedDict[Hashable, Future[V]] = field(default_factory=OrderedDict)
    held: int = 0
    lock: Lock = field(default_factory=Lock)

    def __contains__(self, key: Hashable) -> bool:
        with self.lock:
            return key in self.made and self.made[key].done()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, computed on first use."""
        with self.lock:
            known = self.made.get(key)
            future = known or Future()
            self.made[key] = future
            self.made.move_to_end(key)
        if known is not None:
            return known.result()
        try:
            future.set_result(make())
        except BaseException as error:
            with self.lock:
                self.made.pop(key, None)
            future.set_exception(error)
            raise
        with self.lock:
            if self.made.get(key) is future:
                self.held += future.result().nbytes
                self._shrink(key)
        return future.result()

    def _shrink(self, newest: Hashable) -> None:
        """Drop the least recently used values, but not the newest one or those being computed."""
        for _ in range(len(self.made)):
            if self.held <= self.limit:
                break
            key, future = self.made.popitem(last=False)
            if future.done() and key != newest:
                self.held -= future.result().nbytes
            else:
                self.made[key] = future


@dataclass
class CostLimit:
    """Stops at a batch whose inverses would take too long, judged by the time of the first ones."""

    policy: Policy
    contexts: int
    seconds: list[float] = field(default_factory=list)

    def spend(self, started: float, index: int) -> None:
        """Record the time of an inverse begun at `started`, for context number `index`.

        Raises:
            AbilityError: the others will take too long.
        """
        self.seconds.append(time.perf_counter() - started)
        each = min(self.seconds)  # the first one may have waited for a compiler
        if len(self.seconds) > 2 and each * (self.contexts - index) > MOST_SECONDS:
            raise AbilityError(
                f"{self.policy!r}: pair probabilities take {each:.2g} seconds for a context, and a batch of the log "
                f"has {self.contexts:,} different ones: {each * self.contexts / 3600:.1f} hours",
                "round the scores to fewer levels, so that contexts are alike; shorten the slates; or use snips",
            )


@dataclass(frozen=True)
class Case:
    """A context and the rows that share it. same: how the candidates of the rows are ordered in it."""

    rows: Integers
    same: Grouped
    policy: Policy
    context: Contexts
    index: int
    cost: CostLimit
    cache: RunCache

    @cached_property
    def key(self) -> Any:
        """The key of the inverse."""
        return self.policy, key(self.context)

    @property
    def inverse(self) -> Inverse:
        """Gamma^+, computed on first use."""
        return self._inverses.get(self.key, self._invert)

    def weights(self, wanted: Floats | Integers, shown: Integers) -> Floats:
        """[r] q' Gamma^+ 1_s, arguments as of `Inverse.weights`."""
        first, which = distinct(np.ascontiguousarray(wanted).view(np.int64))
        if self.key in self._inverses or len(first) > FEW_TARGETS:
            return self.inverse.weights(wanted, shown)
        tables = np.stack([self._table(wanted[row : row + 1]) for row in first])
        return np.asarray(tables[which[:, None], shown].sum(axis=1))

    def _table(self, wanted: Floats | Integers) -> Floats:
        known = (self.key, wanted.dtype.char, wanted.tobytes())
        solutions: SizedCache[Floats] = self.cache.get("solutions", lambda: SizedCache(SOLUTION_BYTES))
        return solutions.get(known, lambda: self.inverse.tables(wanted)[0])

    @property
    def _inverses(self) -> SizedCache[Inverse]:
        return self.cache.get("inverses", lambda: SizedCache[Inverse](INVERSE_BYTES))

    def _invert(self) -> Inverse:
        started = time.perf_counter()
        found = pseudoinverse(pair_probs(self.policy, self.context)[0])
        self.cost.spend(started, self.index)
        return found


def cases(policy: Policy, contexts: Contexts, cache: RunCache) -> Iterator[Case]:
    """The distinct contexts of a logging policy. cache: results from earlier batches."""
    same = grouped(relevant(contexts, policy.needs("pair_probs")))
    cost = CostLimit(policy, len(same.contexts))
    for index, (group, rows) in enumerate(same.groups()):
        yield Case(rows, same, policy, single(same.contexts, group), index, cost, cache)
