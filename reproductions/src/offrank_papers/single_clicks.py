"""Banners of which at most one slot is clicked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offrank.log.batch import Floats


def one_click(chance: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw at most one click per slate [n, k]: slots divide a uniform number, and the rest means no click."""
    ends = np.cumsum(chance, axis=1)
    thrown = rng.random((len(chance), 1)) * np.maximum(ends[:, -1:], 1.0)
    return np.asarray((thrown < ends) & (thrown >= ends - chance))
