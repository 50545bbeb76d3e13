"""Was anything drawn? Rows of one context are compared: do they ever show something else?

A context is the query, the candidates, and the scores and rankings beside them. Two rows are alike if the items that
are candidates of both stand in the same order. Rows that were written twice are alike for another reason, so that two
rows of equal content count in contexts of many rows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..findings.log import Repeats
from ..log.batch import LogBatch, Naturals
from ..log.hashing import alone, text_code
from ..log.source import Needs
from ..policies.base import Policy
from ..sums.base import Fold
from ..sums.sampled import SampledRows, SampledRowsFold
from . import _kernels
from .duplicates import content_keys, set_keys
from .repeats import ENOUGH, By, RepeatRows, repeats, shown_in

Bits = Naturals
State = Literal["random", "not random", "unknown"]

FEWEST = 20
"""Pairs of rows that never differ, from which nothing is said to be drawn: slates that repeat in 7 of 10 pairs do so
in one log of a thousand."""
MOST_ARMS = 20
"""Values of a column that may say which ranker was used."""
_CONTENT = " content"
_NULL = np.int64(text_code("null")).view(np.uint64)


@dataclass(frozen=True)
class WholeContextsFold(Fold):
    """Keeps rows of whole contexts. by: what makes one. wanted: the columns to keep; groups: further ones, as codes."""

    wanted: Needs
    by: By
    groups: tuple[str, ...] = ()

    def needs(self) -> Needs:
        """Return the columns to read."""
        own = () if self.by == "candidates" else (self.by,)
        return replace(self.wanted, clusters=frozenset([*self.groups, *own]))

    @property
    def sampled(self) -> SampledRowsFold:
        """Return the fold that keeps them."""
        kept = replace(self.wanted, keys=frozenset([*self.groups, _CONTENT, self._group]), clusters=frozenset())
        return SampledRowsFold(kept, each="candidate", by=self._group)

    @property
    def _group(self) -> str:
        """Return the name of the key, another for each kind of context: equal folds of a pass share their limit."""
        return f" group of {self.by}"

    def add(self, part: Any, batch: LogBatch) -> Any:
        contexts = batch.contexts
        names = [*self.groups, *(() if self.by == "candidates" else (self.by,))]
        codes = batch.dependent(names)
        key = np.zeros(len(batch), np.uint64) if self.by == "query" else set_keys(contexts)
        if self.by != "candidates":
            _kernels.join_rows(key, codes[self.by])
        content = batch.once("contents", lambda: content_keys(batch))
        null = alone(batch.row)  # the codes of rows without a value, which are one value here
        keys = {name: np.where(codes[name] == null, _NULL, codes[name]).view(np.int64) for name in self.groups}
        keys |= {_CONTENT: content.view(np.int64), self._group: key.view(np.int64)}
        return self.sampled.add(part, replace(batch, contexts=replace(contexts, keys=keys)))

    def result(self, part: Any) -> SampledRows:
        return self.sampled.result(part)


@dataclass(frozen=True)
class ContextPairs:
    """How many pairs of rows of one context can be told apart, and how many of them differ."""

    pairs: int = 0
    differing: int = 0

    @property
    def never(self) -> bool:
        """Whether rows of one context never differ."""
        return self.pairs >= FEWEST and not self.differing


@dataclass(frozen=True)
class Randomness:
    """Whether rows of one context differ.

    - state: random, not random, or unknown where contexts do not repeat. by: the context that what was shown is fixed
      by, and the column beside it that explains the rest, if any. pairs, differing: of rows of one context.
    """

    state: State
    by: str = "candidates"
    beside: str | None = None
    pairs: int = 0
    differing: int = 0


def randomness(samples: Mapping[By, SampledRows], apart: Sequence[str] = (), groups: Sequence[str] = ()) -> Randomness:
    """Return whether rows of one context ever differ. apart: columns of outcomes, which are no part of a context.

    groups: columns that may explain why rows differ, such as an arm or a day.
    """
    finest = samples.get("query", samples["candidates"])
    same = _compared(finest, _contexts(finest, apart))
    for by, rows in samples.items():
        found = _compared(rows, np.zeros(len(rows), np.uint64))
        if found.never:
            return Randomness("not random", by, None, found.pairs, 0)
    for name in groups:
        for by, rows in samples.items():
            codes = rows.contexts.keys[name].view(np.uint64)
            found = _compared(rows, codes) if 2 <= len(np.unique(codes)) <= MOST_ARMS else ContextPairs()
            if found.never and by != "user":
                return Randomness("not random", by, name, found.pairs, 0)
    state: State = "random" if same.differing else "unknown"
    return Randomness(state, "query" if "query" in samples else "candidates", None, same.pairs, same.differing)


def repeats_of(policy: Policy, samples: Mapping[By, SampledRows]) -> Iterator[Repeats]:
    """Return how often rows of one context repeat what they show, beside what a policy says."""
    for by, rows in samples.items():
        chance = np.full((len(rows), 2), np.nan)
        chance[:, 0] = np.exp(policy.log_prob(rows.contexts, rows.slates))
        if rows.slates.shape[1] > 1:
            chance[:, 1] = policy.slot_probs(rows.contexts, rows.slates)[:, 0]
        content = rows.contexts.keys[_CONTENT].view(np.uint64)
        shown, listed = shown_in(rows.contexts, rows.slates)
        made = RepeatRows(rows.key, shown, content, chance, 1 / rows.inclusion, listed)
        yield from (repeats(made, place, by) for place in (0, 1))


def _contexts(rows: SampledRows, apart: Sequence[str]) -> Bits:
    """Return hashes of the candidates with all of their numbers [n]."""
    contexts = rows.contexts
    key = set_keys(contexts, *(contexts.scores[name] for name in sorted(contexts.scores) if name not in apart))
    for name in sorted(contexts.rankings):
        for place in contexts.rankings[name].T:
            code = np.take_along_axis(contexts.candidates, np.maximum(place, 0)[:, None], axis=1)[:, 0]
            _kernels.join_rows(key, np.where(place >= 0, code, -1).view(np.uint64))
    return key


def _compared(rows: SampledRows, within: Bits) -> ContextPairs:
    """Compare neighbouring rows of one group that are equal in `within`, by the hash of their content."""
    if len(rows) < 2 or shown_in(rows.contexts, rows.slates)[1].all():
        return ContextPairs()
    group, content = rows.key >> np.uint64(32), rows.contexts.keys[_CONTENT]
    order = np.lexsort((content, within, group))  # by what is in them, so that the order of the log does not matter
    first, second = order[:-1], order[1:]
    together = (group[first] == group[second]) & (within[first] == within[second])
    _, place, count = np.unique(np.stack([group, within]), axis=1, return_inverse=True, return_counts=True)
    size = count[np.ravel(place)]
    together &= (content[first] != content[second]) | (size[first] >= ENOUGH)
    first, second = first[together], second[together]
    contexts, found = rows.contexts, np.zeros(len(first), np.int64)
    _kernels.orders_alike(contexts.candidates, contexts.size, rows.slates, first, second, found)
    return ContextPairs(int((found > 0).sum()), int((found == 2).sum()))
