"""The distinct contexts of a batch, each with what was once computed for it.

Inverses are dear and large, what follows from one for a single target is small: both are kept while the log is
read, so that contexts which come back in later batches cost nothing even when there are too many inverses
to keep.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import AbilityError
from ...log.batch import Contexts, Floats, Integers
from ...log.cache import RunCache
from ...policies.base import Policy
from ...policies.pair_law import pair_probs
from .contexts import Alike, alike, distinct, key, relevant, single
from .gamma import Inverse, pseudoinverse
from .memo import Memo

INVERSE_BYTES = 512 << 20
SOLUTION_BYTES = 128 << 20
FEW_TARGETS = 16  # of one context in one batch: beyond, the inverse itself is used
MOST_SECONDS = 3600.0  # for one batch


@dataclass
class Patience:
    """Gives up a batch whose inverses would take too long, by the time that the first ones took."""

    policy: Policy
    contexts: int
    seconds: list[float] = field(default_factory=list)

    def spend(self, started: float, index: int) -> None:
        """Take note of an inverse made since `started`, for context number `index`.

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
    """A context and the rows that share it. same: how the rows' candidates are ordered in it."""

    rows: Integers
    same: Alike
    policy: Policy
    context: Contexts
    index: int
    patience: Patience
    cache: RunCache

    @cached_property
    def key(self) -> Any:
        """What the inverse follows from."""
        return self.policy, key(self.context)

    @property
    def inverse(self) -> Inverse:
        """Gamma^+, made on first use."""
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
        solutions: Memo[Floats] = self.cache.get("solutions", lambda: Memo(SOLUTION_BYTES))
        return solutions.get(known, lambda: self.inverse.tables(wanted)[0])

    @property
    def _inverses(self) -> Memo[Inverse]:
        return self.cache.get("inverses", lambda: Memo[Inverse](INVERSE_BYTES))

    def _invert(self) -> Inverse:
        started = time.perf_counter()
        found = pseudoinverse(pair_probs(self.policy, self.context)[0])
        self.patience.spend(started, self.index)
        return found


def cases(policy: Policy, contexts: Contexts, cache: RunCache) -> Iterator[Case]:
    """Every distinct context of a logging policy. cache: what was computed for earlier batches."""
    same = alike(relevant(contexts, policy.needs("pair_probs")))
    patience = Patience(policy, len(same.contexts))
    for index, (group, rows) in enumerate(same.groups()):
        yield Case(rows, same, policy, single(same.contexts, group), index, patience, cache)
