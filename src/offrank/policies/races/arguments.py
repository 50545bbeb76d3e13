"""What the array functions accept."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Floats


def weights_of(values: ArrayLike, name: str) -> Floats:
    """Non-negative finite numbers, at least one along the last axis.

    Raises:
        UsageError: anything else.
    """
    weights = np.asarray(values, dtype=np.float64)
    if weights.ndim not in {1, 2} or weights.shape[-1] == 0:
        raise UsageError(f"{name} has shape {weights.shape}", "give [m] weights, or [n, m] for many contexts")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise UsageError(f"{name} holds a negative number or no number", "give Plackett-Luce weights, at least zero")
    return weights


def slots_of(length: int, size: int) -> int:
    """A slate's length for so many candidates.

    Raises:
        UsageError: no such slate.
    """
    if not 1 <= length <= size or int(length) != length:
        raise UsageError(f"length is {length} for {size} candidates", "give a whole number, from 1 to the candidates")
    return int(length)


def log_scores(weights: Floats) -> Floats:
    """Logarithms, -inf for zero."""
    return np.log(weights, out=np.full(weights.shape, -np.inf), where=weights > 0)
