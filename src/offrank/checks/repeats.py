"""Do rows of one context show the same slate more often than the logging policy says?

Two independent rows of one context show the same slate with the probability sum(p^2), which is the mean of the
propensity of what was shown. Where a context has more sides than the log knows, so that the rows have two laws p and
q, the probability is sum(p q), at most (sum(p^2) + sum(q^2)) / 2 (Cauchy and Schwarz). So for any two rows, whatever
their contexts,

    1[same slate] - (propensity of one + propensity of the other) / 2

has a mean of at most 0 under right propensities, written ones included. A fixed list, a hidden score or a cache
repeats far more. Its sum over all pairs of a context, times half the rows, is a mean over sums of disjoint pairs, so
that Bennett's inequality for independent terms bounds its tail (Hoeffding 1963, section 5). The same holds for the
item at the top and its probability there, which many slots dilute less.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..errors import AbilityError
from ..findings.log import UNLIKELY, Repeats
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch, Naturals
from ..log.contexts import contexts_of_rows
from ..log.hashing import hashed
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..sums.base import Fold
from ..sums.sampled import added, bound
from . import _kernels
from .calibration import bennett
from .duplicates import content_keys, set_keys

Bits = Naturals
By = Literal["candidates", "query", "user"]

KEPT = 16_384
"""Rows of the sample, of whole contexts, so that few of many repeat no less often than all.

Of the last one there may be some rows only: they are left out, unless they are half of the sample or more.
"""
_COMPARED = 6
"""Comparisons of one log: slates and items at the top, in three kinds of contexts."""
_HIGH, _HALF = np.uint64(0xFFFFFFFF00000000), np.uint64(32)
_COPIES = 0.1
"""Share of rows that may be retries with the same content, before their pairs count..."""
ENOUGH = 10
"""... in contexts of at least so many rows. In smaller ones only pairs of unlike content do: a retry makes a context
of one row one of two."""


_COLUMNS = ("key", "shown", "content", "propensity", "inverse", "listed")


@dataclass(frozen=True)
class RepeatRows:
    """Rows of whole contexts: those with the smallest hashes of the context, and within it of the row.

    key [n]: both hashes, 32 bits each, ascending. shown [n, 2]: the slate, and its item at the top. content [n]: all
    that was read of the row. propensity [n, 2]: of the slate and of that item, NaN where it is not known.
    inverse [n]: 1 / inclusion. listed [n]: whether the ids are places in the list of candidates, what was shown first.
    """

    key: Bits
    shown: Bits
    content: Bits
    propensity: Floats
    inverse: Floats
    listed: Booleans
    kept: int = KEPT

    def take(self, rows: Integers) -> RepeatRows:
        """Some of the rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})

    def __add__(self, other: RepeatRows) -> RepeatRows:
        both: Any = {name: np.concatenate([vars(self)[name], vars(other)[name]]) for name in _COLUMNS}
        return replace(self, **both).take(_ordered(both["key"], both["content"])[: self.kept])


@dataclass(frozen=True)
class RepeatsFold(Fold):
    """Reduces batches to `Repeats`: how often rows of one context repeat what they show.

    by: what makes a context: the candidates with the scores that the policy reads, the query, or the user and the
    candidates.
    """

    logging: Policy
    by: By = "candidates"
    kept: int = KEPT

    def needs(self) -> Needs:
        """Return the columns to read.

        Raises:
            AbilityError: the policy does not tell the probability of a slate.
        """
        asked = self.logging.reads("log_prob") | Needs(frozenset(["candidates"]))
        if self.logging.any_slate:
            asked |= self.logging.reads("slot_probs")
        return asked if self.by == "candidates" else asked | Needs(clusters=frozenset([self.by]))

    def add(self, part: RepeatRows | None, batch: LogBatch) -> RepeatRows | None:
        # Candidates that are only what was shown are a part of what was drawn, not of what it was drawn from: then the
        # probability of what was shown, given the context, is not known.
        told = np.ones(len(batch), np.bool_)
        if self.by != "query" and not self.logging.any_slate:
            told = batch.contexts.size > batch.contexts.length
        if not told.any():
            return part
        key = (hashed(self._contexts(batch)) & _HIGH) | (batch.once("hashed", lambda: hashed(batch.row)) >> _HALF)
        key_bound = bound(batch, self, part, self.kept)  # few are below, once this or another part is full
        rows = np.flatnonzero((key <= key_bound) & told)
        if not len(rows):
            return part
        content = batch.once("contents", lambda: content_keys(batch))
        if len(rows) > self.kept:
            rows = rows[key[rows] <= np.partition(key[rows], self.kept - 1)[self.kept - 1]]
        rows = rows[_ordered(key[rows], content[rows])[: self.kept]]
        shown, listed = shown_in(batch.contexts, batch.slates, rows)
        propensity, inverse = self._propensities(batch, rows), 1 / batch.inclusion[rows]
        found = RepeatRows(key[rows], shown, content[rows], propensity, inverse, listed, self.kept)
        merged: RepeatRows = added(batch, self, part, found, self.kept)
        return merged

    def result(self, state: RepeatRows | None) -> Repeats:
        if state is None:
            return Repeats(by=self.by)
        first = int(np.searchsorted(state.key, state.key[-1] & _HIGH))  # of the last context
        if len(state.key) == self.kept and 2 * first >= self.kept:
            state = state.take(np.arange(first))
        every = [repeats(state, place, self.by) for place in (0, 1)]
        return min(every, key=lambda one: one.chance)

    def _contexts(self, batch: LogBatch) -> Bits:
        if self.by == "query":
            return batch.dependent([self.by])[self.by]
        names = sorted(self.logging.reads("log_prob").scores) if self.by == "candidates" else []
        key = set_keys(batch.contexts, *(batch.contexts.scores[name] for name in names))
        if self.by == "user":
            _kernels.join_rows(key, batch.dependent([self.by])[self.by])
        return key

    def _propensities(self, batch: LogBatch, rows: Integers) -> Floats:
        """Return the probabilities of the slate and of the item at the top [r, 2] of some rows."""
        found = np.full((len(rows), 2), np.nan)
        found[:, 0] = np.exp(propensities(self.logging, batch).log_prob[rows])
        if self.logging.any_slate:
            with suppress(AbilityError):
                law, one_slot = self.logging.law("slot_probs"), batch.slates.shape[1] < 2  # then its item is the slate
                some = contexts_of_rows(batch.contexts, rows, self.logging.reads("slot_probs")), batch.slates[rows]
                found[:, 1] = found[:, 0] if one_slot else law.slot_probs(*some)[:, 0]
        return found


def _ordered(key: Bits, content: Bits) -> Integers:
    """Return the order of the keys [n]; rows with the same number in several files are ordered by their content."""
    order = np.argsort(key, kind="stable")  # which merges what is in order already
    ordered = key[order]
    return np.lexsort((content, key)) if (ordered[1:] == ordered[:-1]).any() else order


def shown_in(contexts: Contexts, slates: Integers, rows: Integers | None = None) -> tuple[Bits, Booleans]:
    """Return hashes of the slate and of its first item [r, 2], and whether the row is numbered as shown [r].

    So it is if the ids of the candidates are 0, 1, ... in their order, and the slate is the first of them. rows: some
    of the rows, by default all.
    """
    rows = np.arange(len(contexts)) if rows is None else rows
    shown, listed = np.empty((len(rows), 2), np.uint64), np.empty(len(rows), np.bool_)
    codes = contexts.candidates.view(np.uint64)
    _kernels.mark_shown(rows, codes, contexts.size, contexts.length, slates, shown, listed)
    return shown, listed


def repeats(rows: RepeatRows, place: int, by: str) -> Repeats:
    """Return how often rows of one context repeat their slate (place 0) or the item at the top (1)."""
    known = np.isfinite(rows.propensity[:, place])
    if not known.all():
        rows = rows.take(np.flatnonzero(known))
    if rows.listed.all():  # such ids mean nothing in another row, and were given after the draw
        return Repeats(by=by)
    group = np.unique(rows.key >> _HALF, return_inverse=True)[1]
    n = np.bincount(group)
    shown, content = rows.shown[:, place], rows.content
    p, h = rows.propensity[:, place], rows.inverse
    square = h * h
    total, squares = np.bincount(group, h), np.bincount(group, square)
    scale = np.where(n > 1, (n // 2) / np.maximum(n * (n - 1), 1), 0.0)
    same = _pairs(group, [shown], h)
    alike = _pairs(group, [shown, content], h)
    beyond = np.where(n >= ENOUGH, np.maximum(alike - 2 * _COPIES * squares, 0.0), 0.0)
    expected = np.bincount(group, h * p * (total[group] - h))
    alone = np.bincount(group, square * p * (1 - p / 2) * (squares[group] - square))
    binomial = alone - (np.bincount(group, square * p) ** 2 - np.bincount(group, (square * p) ** 2)) / 2
    away = float((scale * (same - alike + beyond - expected)).sum())
    most = float(h.max(initial=1.0)) ** 2
    variance, seen = max(float((scale * binomial).sum()), 0.0), float((scale * same).sum())
    found = Repeats(
        by=by,
        what=("slate", "item at the top")[place],
        pairs=float((scale * (total**2 - squares)).sum()),
        observed=seen,
        expected=float((scale * expected).sum()),
        chance=float(bennett(np.array(max(away, 0.0)), np.array(variance), most)),
    )
    counted = float((scale * (same - alike + beyond)).sum()) / seen if seen > 0 else 1.0
    return replace(found, least=_least(found, variance, most, counted))


def _least(found: Repeats, variance: float, most: float, counted: float) -> float:
    """Return the smallest share of pairs in a fixed order that would be found. counted: the share of them that count.

    Such pairs are expected to add exactly as much as is needed, so that the power is about one half.
    """
    shares = np.arange(1, 201) / 200
    left = (found.pairs - found.expected) * counted
    chance = bennett(np.maximum(shares * left, 0.0), np.array(variance), most)
    enough = shares[chance < UNLIKELY / _COMPARED]
    return float(enough.min(initial=1.0))


def _pairs(group: Integers, alike: list[Bits], h: Floats) -> Floats:
    """Return the weighted number of ordered pairs of each group that are equal in all these columns."""
    key = group
    for values in alike:
        codes = np.unique(values, return_inverse=True)[1]
        key = np.unique(key * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    pairs = np.bincount(key, h) ** 2 - np.bincount(key, h * h)
    owner = np.zeros(len(pairs), np.int64)
    owner[key] = group
    return np.asarray(np.bincount(owner, pairs, minlength=int(group.max(initial=-1)) + 1), np.float64)


def corrected(worst: Repeats, among: int) -> Repeats:
    """Return the least likely of so many comparisons, corrected for their number (Bonferroni)."""
    return replace(worst, chance=min(worst.chance * among, 1.0))
