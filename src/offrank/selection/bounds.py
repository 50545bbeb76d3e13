"""The choice of a bound on weights: the one of least estimated squared error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-9
"""Errors, and shares of the weight, with a smaller relative difference are equal."""


@dataclass(frozen=True)
class LeastError:
    """A choice from estimates with ever tighter bounds.

    Parameters:
        index: of the chosen one.
        biases: the estimated ones.

    Examples:
        >>> offrank.selection.LeastError(1, (0.0, 0.1)).index
        1
    """

    index: int
    biases: tuple[float, ...]


def least_error(
    values: Sequence[float], errors: Sequence[float], kept: Sequence[float], apart: Sequence[float]
) -> LeastError:
    """Choose the estimate with the least bias^2 + error^2 of [m], the first unbounded, the last bounded most.

    A bound keeps a known share of the weight, since weights have mean 1: a bias is (1 - kept) times what the missing
    weight would change, per unit of weight. That is estimated from the weight that the last bound removes besides:
    (abs(value - last value) + standard error of this difference) / (kept - last kept). The last one takes the
    largest of these. Estimates without an error (no reward has a weight) are chosen only if all have none.

    Parameters:
        values: [m] the estimates, the one that is bounded least first.
        errors: their standard errors.
        kept: mean weights.
        apart: standard errors of value - last value, paired.

    Returns:
        The index of the choice, and the estimated biases.

    Raises:
        ValueError: no estimates, unequal lengths or a value that is not a number.

    Examples:
        Without a bound 1.0, and 0.7 with one that keeps 80 % of the weight: a bias of (1 - 0.8) (0.3 + 0.1) / 0.2.

        >>> from offrank.selection import least_error
        >>> least_error(values=[1.0, 0.7], errors=[0.3, 0.1], kept=[1.0, 0.8], apart=[0.1, 0.0])
        LeastError(index=0, biases=(0.0, 0.4))
    """
    value, error, share, far = (np.asarray(one, dtype=np.float64) for one in (values, errors, kept, apart))
    if not (value.ndim == 1 and len(value) and value.shape == error.shape == share.shape == far.shape):
        raise ValueError(
            f"{value.shape}, {error.shape}, {share.shape}, {far.shape}: give the same number of each, at least one"
        )
    if not (np.isfinite(value).all() and np.isfinite(share).all()):
        raise ValueError("values and shares must be finite")
    more = share - share[-1]
    differ = more > _ROUNDING * abs(share[0])
    change = np.divide(np.abs(value - value[-1]) + far, more, out=np.zeros(len(value)), where=differ)
    lost = np.maximum(1 - share, 0)
    bias = np.multiply(lost, np.where(differ, change, change.max()), out=np.zeros(len(value)), where=lost > 0)
    squared = np.where((error > 0) & np.isfinite(bias), bias**2 + error**2, np.inf)
    chosen = int(np.flatnonzero(squared <= squared.min() * (1 + _ROUNDING))[0])
    return LeastError(chosen, tuple(bias.tolist()))
