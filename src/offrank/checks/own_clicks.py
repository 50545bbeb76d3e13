"""Does a score count the clicks of the very log that it is judged by?

A score that was made elsewhere may be as good as one likes: it does not know the noise of this log. So two questions
are asked of cells (items, or items of a query or of a candidate set) in which the score is constant.

- Is the number of clicks k of the n impressions of a cell given by the score s, as k = a + b s + c s n? All rates with
  a prior, (k + a) / (n + c), are such, and so are percentages and plain numbers of clicks.
- Are the rates of neighbours in the order of the score always in that order, although their difference is small beside
  its noise? For a difference z that is normal with variance 1, P(0 < z < 1/2) is at most .2, wherever its mean is. This
  finds logarithms, ranks and rounded rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..findings.evidence_rows import OfOwnClicks
from ..folds.counts import join
from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import hashed
from . import _kernels

Bits = NDArray[np.uint64]
Of = Literal["item", "item of a query", "item of a candidate set"]
KINDS: tuple[Of, ...] = ("item", "item of a query", "item of a candidate set")

KEPT = 2_048
"""Cells of the sample, each with all of its impressions."""
_SAME = 1e-6
"""Relative difference up to which two scores are the same number, written in another way."""
_MOSTLY = 0.95
"""Share of the cells in which the score has to be constant."""
_REPRODUCED = 0.01
"""Share of the standard deviation of a count up to which it is reproduced: 1 % of counts by chance."""
_NEAR = 0.5
"""Standard errors up to which two rates are close."""


@dataclass(frozen=True)
class CellCounts:
    """Cells with the smallest hashes.

    key [e]: ascending. sums [e, 3]: of impressions, clicks and their squares. low, high [e, scores]: of each score.
    """

    key: Bits
    sums: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class OwnClicksFold:
    """Reduces batches to what each score knows of the clicks, by column. of: what a cell is."""

    scores: tuple[str, ...]
    of: Of = "item"
    kept: int = KEPT

    def empty(self) -> CellCounts:
        none = np.empty((0, len(self.scores)))
        return CellCounts(np.empty(0, np.uint64), np.empty((0, 3)), none, none)

    def add(self, state: CellCounts, batch: LogBatch) -> CellCounts:
        clicks, context = _clicks(batch), self._contexts(batch)
        if clicks is None or context is None or not len(batch):
            return state
        row, slot = np.nonzero(batch.slates >= 0)
        place = batch.slates[row, slot]
        key = hashed(join(context[row], batch.contexts.candidates[row, place]).view(np.uint64))
        some = np.flatnonzero(key <= batch.limits.of(self))
        row, slot, place, key = row[some], slot[some], place[some], key[some]
        came = clicks[row, slot]
        shown = np.stack([batch.contexts.scores[name][row, place] for name in self.scores], axis=1)
        merged = self._together(key, np.stack([np.ones(len(key)), came, came * came], axis=1), shown, shown)
        merged = self.merge(state, merged)
        if len(merged.key) == self.kept:
            batch.limits.lower(self, merged.key[-1])
        return merged

    def merge(self, left: CellCounts, right: CellCounts) -> CellCounts:
        if not len(left.key) or not len(right.key):
            return left if len(left.key) else right
        both = zip(vars(left).values(), vars(right).values(), strict=True)
        return self._together(*(np.concatenate([one, two]) for one, two in both))

    def finish(self, state: CellCounts) -> dict[str, OfOwnClicks]:
        return {name: self._found(state, place) for place, name in enumerate(self.scores)}

    def _together(self, key: Bits, sums: Floats, low: Floats, high: Floats) -> CellCounts:
        """Return one line per cell, and only the cells that are kept."""
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=~key[:1]) != 0)
        if not len(first):
            return self.empty()
        end = int(first[self.kept]) if len(first) > self.kept else len(key)
        first, order = first[: self.kept], order[:end]
        added = np.add.reduceat(sums[order], first)
        return CellCounts(
            key[first], added, np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first)
        )

    def _contexts(self, batch: LogBatch) -> Integers | None:
        """Return what the cells of a row have in common [n]; None if the batch does not tell."""
        if self.of == "item":
            return np.zeros(len(batch), np.int64)
        if self.of == "item of a query":
            return batch.contexts.keys.get("query", batch.clusters.get("query"))
        key, codes = np.zeros(len(batch), np.uint64), batch.contexts.candidates.view(np.uint64)
        _kernels.join_sets(key, codes, codes, batch.contexts.size)
        return key.view(np.int64)

    def _found(self, state: CellCounts, place: int) -> OfOwnClicks:
        low, high, rows = state.low[:, place], state.high[:, place], state.sums[:, 0]
        constant = high - low <= _SAME * np.maximum(np.abs(low), np.abs(high))
        constant &= np.isfinite(low) & np.isfinite(high)
        nothing = OfOwnClicks(column=self.scores[place], of=self.of)
        if not constant.any() or rows[constant].sum() < _MOSTLY * rows.sum():
            return nothing
        score, sums = low[constant], state.sums[constant]
        cells, counts, reproduced = _reproduced(score, sums)
        pairs, close = _in_order(score, sums)
        return OfOwnClicks(
            column=self.scores[place],
            of=self.of,
            cells=cells,
            counts=counts,
            reproduced=reproduced,
            pairs=pairs,
            close=close,
        )


def _clicks(batch: LogBatch) -> Floats | None:
    """Return the clicks of each slot [n, k]; a reward of one item is as good."""
    if batch.clicks is not None:
        return batch.clicks
    return batch.outcome[:, None] if batch.outcome is not None and batch.slates.shape[1] == 1 else None


def _reproduced(score: Floats, sums: Floats) -> tuple[int, int, float]:
    """Return the cells with noise, their different counts, and the share of these counts that the score gives.

    The share is the mean over different counts, as rare ones are most telling: many cells have a single click.
    """
    shown, clicks, squares = sums.T
    noise = np.sqrt(np.maximum(squares - clicks**2 / shown, 0.0))
    some = (noise > 1e-6 * np.sqrt(np.maximum(squares, 1e-300))) & (clicks > 0)
    if some.sum() < 4 or not np.ptp(score[some]) > 0:
        return int(some.sum()), 0, 0.0
    score, shown, clicks, noise = score[some], shown[some], clicks[some], noise[some]
    columns = np.stack([np.ones(len(score)), score, score * shown], axis=1)
    columns /= np.abs(columns).max(axis=0)
    used = np.ones(len(score), np.bool_)
    for _ in range(3):  # cells with a rate of their own, as those below a least number of rows, are left out
        weights = (used / noise)[:, None]
        found = np.linalg.lstsq(columns * weights, clicks * weights[:, 0], rcond=None)[0]
        away = np.abs(columns @ found - clicks) / noise
        used = away <= np.quantile(away, 0.8)
    _, which = np.unique(clicks, return_inverse=True)
    share = np.bincount(which, weights=away <= _REPRODUCED) / np.bincount(which)
    return len(score), len(share), float(share.mean())


def _in_order(score: Floats, sums: Floats) -> tuple[int, int]:
    """Return pairs of neighbours in the score, and those of them with rates that are close and in its order."""
    levels, which = np.unique(score, return_inverse=True)
    shown, clicks, squares = np.array([np.bincount(which, weights=one, minlength=len(levels)) for one in sums.T])
    low, high = slice(0, len(levels) - 1, 2), slice(1, len(levels), 2)
    rows = shown[low] + shown[high]
    mean = (clicks[low] + clicks[high]) / rows
    variance = np.maximum((squares[low] + squares[high]) / rows - mean**2, 0.0) * (1 / shown[low] + 1 / shown[high])
    away = clicks[high] / shown[high] - clicks[low] / shown[low]
    return len(rows), int(((away > 0) & (away < _NEAR * np.sqrt(variance))).sum())
