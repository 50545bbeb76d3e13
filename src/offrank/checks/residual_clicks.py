"""Does a score leave fewer residual clicks than their noise: was it fitted to this very log?

The clicks k of a cell (an item of a query) are explained by its score s as k = a + b s + s (c_1 n_1 + ... + c_m n_m),
with n_j its impressions at each rank, without or with a click above. Of the relevance in a position-based model that
was learnt from this log this leaves next to nothing, as c_j are its chances of a look; likewise where examination
follows the clicks above. A score from elsewhere, even the true relevance, leaves the noise of the clicks: given those
above, each is independent of the others. So the mean square of the residuals, by the noise within a cell at a rank, is
about 1 or more. The noise is told by all cells together, so that cells with few clicks count too: there a rate of this
very log is nearer to its clicks than the truth is, even if noise was added to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..log.batch import Floats

RANKS = 8
"""Ranks that are told apart; the last stands for those below."""
_EXPECTED = 0.25
"""Clicks that the score must expect in a cell, as so few tell little of it."""
_DEGREES = 20
"""Degrees of freedom: fewer cells may be given exactly, where each has one click or none."""
_FEWEST = 2
"""Impressions of a cell."""
_RATES, _LEAST = (0.01, 0.9), 0.2
"""Bounds of the click rates that the score expects, and the least variance, by which cells are weighted."""


class Residuals(NamedTuple):
    """Degrees of freedom of the residual clicks, and their mean square: 1 for noise, and where too few are known."""

    freedom: int = 0
    square: float = 1.0


def residual_clicks(score: Floats, strata: Floats) -> Residuals:
    """Return what a score leaves of the clicks of its cells.

    score: [e]. strata: [e, j, 3] impressions, clicks and their squares, by rank and whether there is a click above.
    """
    shown, clicks, squares = np.moveaxis(strata, 2, 0)
    n, came = shown.sum(axis=1), clicks.sum(axis=1)
    if not came.sum() > 0:
        return Residuals()
    unit = float(squares.sum() / came.sum())
    if not unit**2 > 0:  # clicks so small that their squares are none
        return Residuals()
    columns, variance = _columns(score, shown), n + 1.0
    for _ in range(2):
        rate = np.clip(columns @ _fitted(columns, came / unit, variance) / np.maximum(n, 1.0), *_RATES)
        variance = np.maximum(n * rate * (1 - rate), _LEAST)
    known = (n * rate >= _EXPECTED) & (n >= _FEWEST)
    cells = int(known.sum())
    freedom = cells - (int(np.linalg.matrix_rank(columns[known])) if cells else 0)
    noise = float((_noise(shown, clicks, squares)[known] / variance[known]).sum())
    if freedom < _DEGREES or not noise > 0:
        return Residuals()
    away = came[known] - columns[known] @ _fitted(columns[known], came[known], variance[known])
    square = float((away**2 / variance[known]).sum()) / (noise * freedom / cells)
    few = 1 + 1 / (2 * float((n * rate)[known].mean()))  # half the excess of a Poisson distribution
    return Residuals(int(freedom / few), square)


def _noise(shown: Floats, clicks: Floats, squares: Floats) -> Floats:
    """Return the variance of the clicks of each cell [e], without bias.

    Of a single impression at a rank it is not known: it is as much of the variance there as elsewhere.
    """
    several = shown > 1
    spread = (squares - clicks**2 / np.maximum(shown, 1.0)) * shown / np.maximum(shown - 1, 1.0)
    of_rank = squares.sum(axis=0) - clicks.sum(axis=0) ** 2 / np.maximum(shown.sum(axis=0), 1.0)
    usual = shown * of_rank / np.maximum(shown.sum(axis=0), 1.0)
    within = spread[several].sum() / max(float(usual[several].sum()), 1e-300)
    return np.asarray(np.where(several, spread, within * usual).sum(axis=1))


def _columns(score: Floats, shown: Floats) -> Floats:
    """Return what the clicks depend on [e, 2 + j], each scaled to 1 at most."""
    columns = np.column_stack([np.ones(len(score)), score, score[:, None] * shown])
    return np.asarray(columns / np.maximum(np.abs(columns).max(axis=0), 1e-300))


def _fitted(columns: Floats, clicks: Floats, noise: Floats) -> Floats:
    weights = 1 / np.sqrt(noise)
    return np.asarray(np.linalg.lstsq(columns * weights[:, None], clicks * weights, rcond=None)[0])
