"""Large weights left out, `switch(e, threshold)` (Wang, Agarwal and Dudik 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Estimator
from .bounded import Bounded, Limit
from .registry import ESTIMATORS
from .wrappers import wrapped


@dataclass(frozen=True, repr=False)
class Switch(Bounded):
    """The base estimator with absolute weights above `threshold` replaced by 0.

    By itself it drops the rewards of such rows or slots. As the residual of `dr` it is the SWITCH-DR estimator of
    Wang, Agarwal and Dudik 2017 (Optimal and adaptive off-policy evaluation in contextual bandits): there
    the estimate rests on the model's prediction alone.

    Parameters:
        base: the estimator whose weights are bounded.
        threshold: the largest absolute weight that is kept; `auto`: left to the data.

    Examples:
        >>> offrank.estimators.estimator("switch(ips, 10)") == offrank.estimators.Switch(offrank.estimators.IPS(), 10)
        True
    """

    name: ClassVar[str] = "switch"
    done: ClassVar[str] = "Switching"
    drops: ClassVar[bool] = True
    threshold: Limit

    def cut(self, weight: Floats, limit: float) -> Floats:
        return np.where(np.abs(weight) <= limit, weight, 0.0)


@ESTIMATORS.register
def switch(base: Estimator, threshold: Limit) -> Estimator:
    """The estimator without weights above `threshold`, self-normalised if it was before; `auto`: left to the data."""
    return wrapped(base, lambda inner: Switch(inner, threshold))
