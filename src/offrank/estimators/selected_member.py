"""Which member of a family the log selects: a window by SLOPE, or the bound on weights of least estimated error.

SLOPE takes the estimate of least variance among those without detectable bias (Su, Srinath, Krishnamurthy, 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-9
"""Half-widths, errors, and shares of the weight, with a smaller relative difference are equal."""


@dataclass(frozen=True)
class Choice:
    """The choice from a family of estimates, and the reason why the search stopped.

    Parameters:
        index: of the chosen estimate.
        refuted: the first whose interval does not meet all intervals before it; None if all meet.
        low: the intersection of the intervals before `refuted`.
        high: upper end of that intersection.

    Examples:
        >>> offrank.selection.slope([0.5, 0.51], [0.2, 0.1]).refuted is None
        True
    """

    index: int
    refuted: int | None
    low: float
    high: float


def slope(values: Sequence[float], half_widths: Sequence[float], multiple: float = 2.0) -> Choice:
    """Choose among estimates [m] of one quantity, ordered by growing bias: the first is the reference.

    The intervals are values +- multiple * half_widths. As long as the intervals meet, their differences may be
    noise; the first that misses the others is biased, and so are all after it. Of those before it, the one with the
    smallest half-width is chosen, of equals the first. If half-widths decrease, as the theorem assumes, that is the
    last of them; one that is both more biased and more variable than another is never chosen. If with high probability
    every estimate is within its half-width, plus its bias, of the truth, the error of the choice is at most a constant
    times the least possible sum of both (with multiple = 2).

    An infinite half-width marks an estimate without information: it contradicts none and is chosen only if all are so.

    Parameters:
        values: [m] the estimates.
        half_widths: [m] half the width of each interval, in the unit of the estimates.
        multiple: by which half-widths are multiplied.

    Returns:
        The index of the choice, and why the search stopped.

    Raises:
        ValueError: no estimates, unequal lengths, a value that is not a number or a negative half-width.

    Examples:
        >>> offrank.selection.slope([0.5, 0.51, 0.9], [0.2, 0.1, 0.05]).index
        1
    """
    centre, half = np.asarray(values, dtype=np.float64), np.asarray(half_widths, dtype=np.float64)
    if not (centre.ndim == 1 and centre.shape == half.shape and len(centre)):
        raise ValueError(
            f"{centre.shape} values and {half.shape} half-widths: give the same number of both, at least one"
        )
    if not (np.isfinite(centre).all() and (half >= 0).all() and multiple > 0):
        raise ValueError("values must be finite, half-widths not negative and the multiple positive")
    low = np.maximum.accumulate(centre - multiple * half)
    high = np.minimum.accumulate(centre + multiple * half)
    apart = np.flatnonzero(low > high)
    meeting = int(apart[0]) if len(apart) else len(centre)
    # Of windows that are equal in this log the first, whichever way their errors were rounded.
    chosen = int(np.flatnonzero(half[:meeting] <= half[:meeting].min() * (1 + _ROUNDING))[0])
    return Choice(
        chosen, None if meeting == len(centre) else meeting, float(low[meeting - 1]), float(high[meeting - 1])
    )


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
