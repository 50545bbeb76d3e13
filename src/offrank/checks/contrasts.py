"""Contrasts of the means of cells, by clusters of dependent rows."""

from __future__ import annotations

import math

import numpy as np

from ..log.batch import Floats
from ..sums.estimate import of_student

_SPREAD_OUT = 0.5
"""Share of the chunks in which the rows of a cluster stand, from which it is held against itself."""


def deviates(rows: Floats, away: Floats, contrasts: Floats, *, in_order: bool = False, in_time: bool = False) -> Floats:
    """Return [w] the normal deviates, at least 0, of contrasts [w, k] of the means of k cells.

    rows, away: [c, b, k] counts and residuals by column and bucket of clusters. Of several columns of clusters the one
    with the largest error counts. in_time: whether cells come one after another, so that clusters in most of them are
    held against themselves; in_order: whether their neighbours also tell the error.
    """
    counts, squares, found = rows[0].sum(axis=0), contrasts**2, []
    spread = (squares * counts).sum(axis=1)
    for mine, given in zip(rows, away, strict=True):
        each, chunks = mine.sum(axis=1, keepdims=True), (mine**2).sum(axis=1, keepdims=True)
        chunks = np.divide(each**2, chunks, out=np.zeros(each.shape), where=each > 0)
        alone = (in_order or in_time) and (each * chunks).sum() > _SPREAD_OUT * len(counts) * each.sum()
        # Of clusters that are spread out the order is no matter of chance.
        means = np.divide(given.sum(axis=1, keepdims=True), each, out=0 * each, where=(each > 0) & alone)
        moves = given - means * mine
        # A matrix product of this size starts threads.
        sums = np.stack([(moves * one).sum(axis=1) for one in contrasts], axis=1)
        cells = (moves**2).sum(axis=0)
        value = np.abs(sums.sum(axis=0))
        found.append(
            _student(value, np.maximum(spread * cells.sum() / counts.sum(), (squares * cells).sum(axis=1)), math.inf)
        )
        if in_order:
            steps = np.diff(moves.sum(axis=0) / counts) ** 2 / (1 / counts[1:] + 1 / counts[:-1])
            found.append(_student(value, spread * steps.mean(), 2 / 3 * len(steps)))
        if not alone:
            known = np.stack([(mine * one).sum(axis=1) for one in squares], axis=1)
            between = (sums**2).sum(axis=0)
            clusters, freedom = (known > 0).sum(axis=0), known.sum(axis=0) ** 2 / (known**2).sum(axis=0) - 1
            left = np.maximum(clusters * between - value**2, 1e-9 * between) / np.maximum(clusters - 1, 1)
            found.append(_student(value, left, np.maximum(freedom, 1.0)))
    return np.min(found, axis=0)


def _student(value: Floats, variance: Floats, freedom: float | Floats) -> Floats:
    """Return [w] Student's ratios as normal deviates."""
    ratio = np.divide(value, np.sqrt(variance), out=np.zeros(len(value)), where=variance > 0)
    freedom = np.broadcast_to(freedom, ratio.shape)
    known = freedom < math.inf  # the others are normal
    ratio[known] = of_student(ratio[known], freedom[known])
    return ratio
