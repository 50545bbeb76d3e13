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

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..log.batch import Floats
from . import _kernels

RANKS = 8
"""Ranks that are told apart; the last stands for those below."""
_EXPECTED = 0.25
"""Clicks that the score must expect in a cell, as so few tell little of it."""
_DEGREES = 20
"""Degrees of freedom: fewer cells may be given exactly, where each has one click or none."""
_FEWEST = 2
"""Impressions of a cell."""
_DEPENDENT = 1e-12
"""What others leave of a column that they give, as a share of it."""
_RATES, _LEAST = (0.01, 0.9), 0.2
"""Bounds of the click rates that the score expects, and the least variance, by which cells are weighted."""


class Residuals(NamedTuple):
    """Degrees of freedom of the residual clicks, and their mean square: 1 for noise, and where too few are known."""

    freedom: int = 0
    square: float = 1.0


def residual_clicks(scales: Iterable[Floats], strata: Floats) -> list[Residuals]:
    """Return what each of some scores leaves of the clicks of the same cells.

    scales: [e] each. strata: [e, j, 3] impressions, clicks and their squares, by rank and whether there is a click
    above.
    """
    shown, clicks, squares = (np.ascontiguousarray(strata[:, :, one]) for one in range(3))
    came = clicks.sum(axis=1)
    unit = float(squares.sum() / came.sum()) if came.sum() > 0 else 0.0
    if not unit**2 > 0:  # clicks so small that their squares are none
        return [Residuals() for _ in scales]
    within = _within(shown, clicks, squares)
    every = (np.vstack([np.ones(len(score)), score, score * shown.T]) for score in scales)
    return [_left(columns, shown.sum(axis=1), came, unit, within) for columns in every]


def _left(columns: Floats, n: Floats, came: Floats, unit: float, within: Floats) -> Residuals:
    """Return what columns [2 + j, e] leave of the clicks [e] of cells with n impressions and a variance `within`."""
    rate, variance = np.zeros(len(n)), n + 1.0
    for _ in range(2):
        rate = np.clip(weighted_fit(columns, came / unit, 1 / variance)[0] / np.maximum(n, 1.0), *_RATES)
        variance = np.maximum(n * rate * (1 - rate), _LEAST)
    known = (n * rate >= _EXPECTED) & (n >= _FEWEST)
    columns, n, came, rate, variance = columns[:, known], n[known], came[known], rate[known], variance[known]
    noise = float((within[known] / variance).sum())
    if len(n) < _DEGREES or not noise > 0:
        return Residuals()
    expected, rank = weighted_fit(columns, came, 1 / variance)
    freedom = len(n) - rank
    if freedom < _DEGREES:
        return Residuals()
    square = float(((came - expected) ** 2 / variance).sum()) / (noise * freedom / len(n))
    few = 1 + 1 / (2 * float((n * rate).mean()))  # half the excess of a Poisson distribution
    return Residuals(int(freedom / few), square)


def weighted_fit(columns: Floats, values: Floats, weights: Floats) -> tuple[Floats, int]:
    """Return what columns [d, e] tell of values [e], with the least weighted squares, and the rank of the columns."""
    found, scale = np.empty(len(values)), np.abs(columns).max(axis=1, keepdims=True, initial=1e-300)
    rank = _kernels.least_squares(columns / scale, values, weights, _DEPENDENT, found)
    return found, int(rank)


def _within(shown: Floats, clicks: Floats, squares: Floats) -> Floats:
    """Return the variance of the clicks of each cell [e], without bias.

    Of a single impression at a rank it is not known: it is as much of the variance there as elsewhere.
    """
    several = shown > 1
    spread = (squares - clicks**2 / np.maximum(shown, 1.0)) * shown / np.maximum(shown - 1, 1.0)
    of_rank = squares.sum(axis=0) - clicks.sum(axis=0) ** 2 / np.maximum(shown.sum(axis=0), 1.0)
    usual = shown * of_rank / np.maximum(shown.sum(axis=0), 1.0)
    within = spread[several].sum() / max(float(usual[several].sum()), 1e-300)
    return np.asarray(np.where(several, spread, within * usual).sum(axis=1))
