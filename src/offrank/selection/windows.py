"""SLOPE: the estimate of least variance among those without detectable bias (Su, Srinath, Krishnamurthy, 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ROUNDING = 1e-9
"""Half-widths with a smaller relative difference are equal."""


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
