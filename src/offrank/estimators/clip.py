"""Clipped weights, `clip(e, maximum)` (Ionides 2008, Truncated importance sampling)."""

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
class Clip(Bounded):
    """The base estimator with absolute weights of at most `maximum`: less variance, some bias.

    Parameters:
        base: the estimator whose weights are bounded.
        maximum: the largest absolute weight; `auto`: left to the data.

    Examples:
        >>> offrank.estimators.estimator("clip(ips, 10)") == offrank.estimators.Clip(offrank.estimators.IPS(), 10)
        True
    """

    name: ClassVar[str] = "clip"
    done: ClassVar[str] = "Clipping"
    maximum: Limit

    def cut(self, weight: Floats, limit: float) -> Floats:
        return np.clip(weight, -limit, limit)


@ESTIMATORS.register
def clip(base: Estimator, maximum: Limit) -> Estimator:
    """The estimator with no weight above `maximum`, self-normalised if it was before; `auto`: left to the data."""
    return wrapped(base, lambda inner: Clip(inner, maximum))
