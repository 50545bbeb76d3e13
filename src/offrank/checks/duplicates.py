"""Duplicate rows: equal rows that come in pairs far more often than independent impressions would."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Integers, LogBatch
from ..log.hashing import alone
from ..sums.base import Fold
from ..sums.sampled import Sketch, added, bound, sketch
from . import _kernels

Bits = NDArray[np.uint64]

KEPT = 8192
"""Maximum number of distinct rows that are counted; a log with more is sampled at random."""
_FEWEST = 25
"""Distinct rows from which chance alone cannot make all counts even (2^-25)."""
_DEVIATIONS = 5.0
_CHANCE = 1e-4
_MOST_COPIES = 10


@dataclass(frozen=True)
class ContentsFold(Fold):
    """Reduces batches to the share of copies: of rows that are equal in what was shown, clicked and otherwise read.

    Hashes are independent of how often a content occurs, so those kept are a random sample of the distinct contents.
    """

    kept: int = KEPT

    def add(self, part: Sketch | None, batch: LogBatch) -> Sketch:
        keys = batch.once("contents", lambda: content_keys(batch))
        keys = keys[keys <= bound(batch, self, part, self.kept)]  # few once this or another part is full
        found = sketch(self.kept, keys, np.ones((len(keys), 1), np.int64))
        whole: Sketch = added(batch, self, part, found, self.kept)
        return whole

    def result(self, part: Sketch) -> float:
        """Return a lower bound on the share of duplicate rows; 0 if equal rows may be equal by chance.

        Independent impressions, whatever their contents and however likely each, make counts that are a mixture of
        Poisson laws. At most half of such counts are even, and likewise for every greater divisor; and the numbers f of
        contents that occur once, twice and thrice meet f2^2 <= 1.5 f1 f3 (Cauchy and Schwarz: k! f_k are moments of
        the mixture). Copies of the whole log break the first law, copies of a part of it the second, from some 7 % of
        a log whose rows are otherwise distinct.
        """
        counts = part.sums[:, 0]
        return max(_copies_of_all(counts), _copies_of_some(counts)) if len(counts) >= _FEWEST else 0.0


def _copies_of_all(counts: Integers) -> float:
    known = len(counts)
    most = known / 2 + _DEVIATIONS * math.sqrt(known) / 2
    whole = {m: int((counts % m == 0).sum()) for m in range(2, _MOST_COPIES + 1)}
    clearest = max(whole.values())
    alarming = [m for m, count in whole.items() if count >= most and count >= 0.9 * clearest]
    return (1 - 1 / max(alarming)) * clearest / known if alarming else 0.0


def _copies_of_some(counts: Integers) -> float:
    once, twice, thrice = (int((counts == count).sum()) for count in (1, 2, 3))
    surely = max(twice - 3 * math.sqrt(twice), 0.0)
    expected = surely**2 / (1.5 * (once + 3 * math.sqrt(once) + 1))
    if expected <= 0 or _poisson(thrice, expected) >= _CHANCE:
        return 0.0
    return (twice - min(twice, math.sqrt(1.5 * once * thrice))) / float(counts.sum())


def _poisson(count: int, mean: float) -> float:
    """Return the probability of at most so many, where so many on average are expected."""
    each = np.arange(count + 1)
    return float(np.exp(each * math.log(mean) - mean - np.cumsum(np.log(np.maximum(each, 1)))).sum())


def set_keys(contexts: Contexts, *beside: NDArray[Any]) -> Bits:
    """Return hashes of the candidates [n], in any order. beside: columns [n, m] of values that are hashed with them."""
    key, codes = np.zeros(len(contexts.size), np.uint64), contexts.candidates.view(np.uint64)
    for values in (codes, *map(_kernels.bits, beside)):
        _kernels.join_sets(key, codes, values, contexts.size)
    return key


def content_keys(batch: LogBatch) -> Bits:
    """Return hashes of the rows' contents [n], the same in every batch and for every order of the candidates."""
    contexts, length = batch.contexts, batch.contexts.length
    key, beside = length.astype(np.uint64), np.empty((len(batch), 0), np.int64)
    for each in (contexts.candidates, *(contexts.scores[name] for name in sorted(contexts.scores))):
        _kernels.join_slots(key, _kernels.bits(each), length, batch.slates)
    if batch.clicks is not None:
        _kernels.join_slots(key, _kernels.bits(batch.clicks), length, beside)
    by_row: list[NDArray[Any] | None] = [batch.outcome, batch.inclusion]
    by_row += [values for _, values in sorted(batch.shown.written.items()) if values.ndim == 1]
    by_row += [contexts.keys[name] for name in sorted(contexts.keys)]
    for name in sorted(batch.clusters):
        own = batch.once("alone", lambda: alone(batch.row).view(np.int64))  # where it is null, which tells no two apart
        by_row.append(np.where(batch.clusters[name] == own, 0, batch.clusters[name]))
    for one in by_row:
        if one is not None:
            _kernels.join_rows(key, _kernels.bits(one))
    _kernels.seal(key)
    return key
