"""Does a score know the clicks of the very log that it is judged by?

A score that was made elsewhere may be as good as one likes: it does not know the noise of this log. So three questions
are asked of cells (items, or items of a query or of a candidate set) in which the score is constant.

- Is the number of clicks k of the n impressions of a cell given by the score s, as k = a + b s + c s n? All rates with
  a prior, (k + a) / (n + c), are such, and so are percentages and plain numbers of clicks; with exp(s) or the logistic
  function of s for s, logarithms and log-odds.
- Are the residuals of the clicks, given score and ranks, smaller than noise? See `residual_clicks`: it finds the
  relevances of click models, smoothed and corrected for ranks.
- Are the rates of neighbours in the order of the score closer than their noise allows? For a difference z that is
  normal with variance 1, P(|z| < 1/4) is at most .2, wherever its mean is. It finds ranks and rounded rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..findings.rows import OwnClicksEvidence, chance_of_residuals
from ..log.batch import Booleans, Floats, LogBatch, Naturals
from ..sums.base import Fold
from ..sums.sampled import added, bound
from . import _kernels
from .duplicates import set_keys
from .residual_clicks import RANKS, residual_clicks, weighted_fit

Bits = Naturals
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
NEAR = 0.25
"""Standard errors up to which two rates are close."""
_EFFECTIVE = 16.0
"""Clicks of two neighbours from which their difference is not 0 too often."""


@dataclass(frozen=True)
class CellCounts:
    """Cells with the smallest hashes.

    key [e]: ascending. sums [e, 2 r, 3]: of impressions, clicks and their squares at each of r ranks, without and
    with a click above. low, high [e, scores]: of each score.
    """

    key: Bits
    sums: Floats
    low: Floats
    high: Floats
    kept: int = KEPT

    def __add__(self, other: CellCounts) -> CellCounts:
        most = min(len(self.key) + len(other.key), self.kept)
        left, right = ((one.key, one.sums, one.low, one.high) for one in (self, other))
        both = tuple(np.empty((most, *one.shape[1:]), one.dtype) for one in left)
        e = _kernels.merge_cells(left, right, both)
        key, sums, low, high = (one[:e] for one in both)
        return CellCounts(key, sums, low, high, self.kept)


@dataclass(frozen=True)
class OwnClicksFold(Fold):
    """Reduces batches to what each score knows of the clicks, by column. cells: what one is."""

    scores: tuple[str, ...]
    cells: Of = "item"
    kept: int = KEPT

    def add(self, part: CellCounts | None, batch: LogBatch) -> CellCounts | None:
        clicks, context = batch.clicks, self._contexts(batch)
        if clicks is None and batch.outcome is not None and batch.slates.shape[1] == 1:
            clicks = batch.outcome[:, None]  # a reward of one item is as good
        if clicks is None or context is None or not len(batch):
            return part
        items, slates = batch.contexts.candidates.view(np.uint64), batch.slates
        limit = bound(batch, self, part, self.kept)
        at, code = np.empty(slates.size, np.int64), np.empty(slates.size, np.uint64)
        shown = _kernels.shown_cells(context, items, slates, clicks, limit, at, code)  # few, once a part is full
        at, code, table = at[:shown], code[:shown], np.full(1 << (2 * shown).bit_length(), -1)
        cell, key = np.empty(shown, np.int64), np.empty(shown, np.uint64)
        e = _kernels.cells(code, table, cell, key)
        kept, line = np.argsort(key[:e], kind="stable")[: self.kept], np.full(e, -1)
        line[kept] = np.arange(len(kept))
        sums = np.zeros((len(kept), 2 * RANKS, 3))
        _kernels.cell_sums(at, line[cell], clicks, sums)
        low, high = np.full((len(self.scores), e), np.inf), np.full((len(self.scores), e), -np.inf)
        for name, *ends in zip(self.scores, low, high, strict=True):
            _kernels.cell_ends(at, cell, slates, batch.contexts.scores[name], *ends)
        low, high = (np.ascontiguousarray(ends[:, kept].T) for ends in (low, high))
        found = CellCounts(key[kept], sums, low, high, self.kept)
        merged: CellCounts = added(batch, self, part, found, self.kept)
        return merged

    def result(self, part: CellCounts | None) -> dict[str, OwnClicksEvidence]:
        if part is None:
            return {}
        return {name: self._found(part, place) for place, name in enumerate(self.scores)}

    def _contexts(self, batch: LogBatch) -> Bits | None:
        """Return what the cells of a row have in common [n]; None if the batch does not tell."""
        if self.cells == "item":
            return np.zeros(len(batch), np.uint64)
        if self.cells == "item of a query":
            found = batch.contexts.keys.get("query", batch.clusters.get("query"))
            return None if found is None else found.view(np.uint64)
        return set_keys(batch.contexts)

    def _found(self, state: CellCounts, place: int) -> OwnClicksEvidence:
        low, high, rows = state.low[:, place], state.high[:, place], state.sums[:, :, 0].sum(axis=1)
        constant = high - low <= _SAME * np.maximum(np.abs(low), np.abs(high))
        constant &= np.isfinite(low) & np.isfinite(high)
        nothing = OwnClicksEvidence(column=self.scores[place], of=self.cells)
        if not constant.any() or rows[constant].sum() < _MOSTLY * rows.sum():
            return nothing
        score, strata = low[constant], state.sums[constant]
        sums = strata.sum(axis=1)
        left = min(residual_clicks(_scales(score), strata), key=lambda one: chance_of_residuals(*one))
        cells, counts, reproduced = _reproduced(score, sums)
        pairs, close = _close(score, sums)
        return OwnClicksEvidence(
            column=self.scores[place],
            of=self.cells,
            cells=cells,
            counts=counts,
            reproduced=reproduced,
            pairs=pairs,
            close=close,
            freedom=left.freedom,
            residual=left.square,
        )


def _reproduced(score: Floats, sums: Floats) -> tuple[int, int, float]:
    """Return the cells with noise, their different counts, and the share of these counts that the score gives.

    The share is the mean over different counts, as rare ones are most telling: many cells have a single click.
    """
    shown, clicks, squares = sums.T
    noise = np.sqrt(np.maximum(squares - clicks**2 / shown, 0.0))
    some = (noise > 1e-6 * np.sqrt(np.maximum(squares, 1e-300))) & (clicks > 0)
    score, shown, clicks, noise = score[some], shown[some], clicks[some], noise[some]
    if len(score) < 4 or not np.ptp(score) > 0:
        return len(score), 0, 0.0
    values, which = np.unique(clicks, return_inverse=True)
    given = [_given(one, shown, clicks, noise) for one in _scales(score)]
    shares = [np.bincount(which, weights=one) / np.bincount(which) for one in given]
    return len(score), len(values), max(float(one.mean()) for one in shares)


def _given(score: Floats, shown: Floats, clicks: Floats, noise: Floats) -> Booleans:
    """Return which counts are given by the score."""
    columns = np.stack([np.ones(len(score)), score, score * shown])
    used = np.ones(len(score), np.bool_)
    for _ in range(3):  # cells with a rate of their own, as those below a least number of rows, are left out
        away = np.abs(weighted_fit(columns, clicks, used / noise**2)[0] - clicks) / noise
        used = away <= np.quantile(away, 0.8)
    return np.asarray(away <= _REPRODUCED)


def _scales(score: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a score as it is, and as the logarithm and the log-odds of a rate."""
    return score, np.exp(score - score.max()), np.asarray(1 / (1 + np.exp(-np.clip(score, -700, 700))))


def _close(score: Floats, sums: Floats) -> tuple[int, int]:
    """Return pairs of neighbours in the order of the score, and those of them whose rates are close.

    Which are neighbours is told by the score alone, so that the noise of a pair is as that of any two cells.
    """
    levels, which = np.unique(score, return_inverse=True)
    shown, clicks, squares = np.array([np.bincount(which, weights=one, minlength=len(levels)) for one in sums.T])
    low, high = slice(0, len(levels) // 2 * 2, 2), slice(1, len(levels), 2)
    rows, came, square = (one[low] + one[high] for one in (shown, clicks, squares))
    variance = np.maximum(square / rows - (came / rows) ** 2, 0.0) * rows
    enough = variance >= _EFFECTIVE * (square / np.where(came > 0, came, 1.0)) ** 2
    error = np.sqrt(variance / rows * (1 / shown[low] + 1 / shown[high]))
    away = np.abs(clicks[high] / shown[high] - clicks[low] / shown[low])
    return int(enough.sum()), int((enough & (away < NEAR * error)).sum())
