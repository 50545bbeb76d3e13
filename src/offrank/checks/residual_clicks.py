"""Does a score leave fewer residual clicks than their noise: was it fitted to this very log?

The clicks k of a cell (an item of a query) are explained by its score s as k = a + b s + s (c_1 n_1 + ... + c_m n_m),
with n_j its impressions at each rank, without or with a click above. Of the relevance in a position-based model that
was learnt from this log this leaves next to nothing, as c_j are its chances of a look; likewise where examination
follows the clicks above. A score from elsewhere, even the true relevance, leaves the noise of the clicks: given those
above, each is independent of the others. So the mean square of the residuals, by the noise within a cell at a rank, is
about 1 or more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..log.batch import Floats

RANKS = 8
"""Ranks that are told apart; the last stands for those below."""
_EXPECTED = 8.0
"""Clicks that the score must expect in a cell, as their noise is not told by fewer."""
_LEAST_NOISE = 4.0
"""Variance of the clicks of a cell, by that of one click, below which they are not random enough."""


class Residuals(NamedTuple):
    """Degrees of freedom of the residual clicks, and their mean square: 1 for noise, and where too few are known."""

    freedom: int = 0
    square: float = 1.0


def residual_clicks(score: Floats, strata: Floats) -> Residuals:
    """Return what a score leaves of the clicks of its cells.

    score: [e]. strata: [e, j, 3] impressions, clicks and their squares, by rank and whether there is a click above.
    """
    shown, clicks, squares = np.moveaxis(strata, 2, 0)
    noise = np.maximum(squares - clicks**2 / np.maximum(shown, 1.0), 0.0).sum(axis=1)
    came = clicks.sum(axis=1)
    if not came.sum() > 0:
        return Residuals()
    unit = float(squares.sum() / came.sum())
    if not unit**2 > 0:  # clicks so small that their squares are none
        return Residuals()
    columns = _columns(score, shown)
    expected = columns @ _fitted(columns, came, noise + unit**2)
    known = (expected >= _EXPECTED * unit) & (noise >= _LEAST_NOISE * unit**2)
    columns, came, noise = columns[known], came[known], noise[known]
    freedom = len(came) - (int(np.linalg.matrix_rank(columns)) if len(came) else 0)
    if freedom < 1:
        return Residuals()
    away = came - columns @ _fitted(columns, came, noise)
    return Residuals(freedom, float((away**2 / noise).sum() / freedom))


def _columns(score: Floats, shown: Floats) -> Floats:
    """Return what the clicks depend on [e, 2 + j], each scaled to 1 at most."""
    columns = np.column_stack([np.ones(len(score)), score, score[:, None] * shown])
    return np.asarray(columns / np.maximum(np.abs(columns).max(axis=0), 1e-300))


def _fitted(columns: Floats, clicks: Floats, noise: Floats) -> Floats:
    weights = 1 / np.sqrt(noise)
    return np.asarray(np.linalg.lstsq(columns * weights[:, None], clicks * weights, rcond=None)[0])
