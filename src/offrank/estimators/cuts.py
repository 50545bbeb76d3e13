"""Large weights cut: `clip(e, maximum)`, left out: `switch(e, threshold)`, and shrunk smoothly: `shrink(e, lambda)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Estimator
from .bounded import LARGEST_LEFT, Bounded, Limit
from .registry import ESTIMATORS
from .wrappers import wrapped


@dataclass(frozen=True, repr=False)
class Clip(Bounded):
    """The base estimator with absolute weights of at most `maximum` (Ionides 2008): less variance, some bias.

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


@dataclass(frozen=True, repr=False)
class Shrink(Bounded):
    """The base estimator with weights lambda w / (w^2 + lambda); `strength` is lambda.

    Weights far below sqrt(lambda) stay as they are. The largest that is left is sqrt(lambda) / 2, of w = sqrt(lambda);
    larger w are left less and less. As the residual of `dr` it is the optimistic shrinkage, DRos, of Su,
    Dimakopoulou, Krishnamurthy and Dudik 2020 (Doubly robust off-policy evaluation with shrinkage).

    Parameters:
        base: the estimator whose weights are bounded.
        strength: lambda, above 0; `auto`: left to the data.

    Examples:
        >>> offrank.estimators.estimator("shrink(ips, 10)") == offrank.estimators.Shrink(offrank.estimators.IPS(), 10)
        True
    """

    name: ClassVar[str] = "shrink"
    done: ClassVar[str] = "Shrinking"
    grid: ClassVar[tuple[float, ...]] = tuple(4 * largest**2 for largest in LARGEST_LEFT)
    strength: Limit

    def cut(self, weight: Floats, limit: float) -> Floats:
        with np.errstate(over="ignore"):  # of the square of a huge weight, of which nothing is left
            return weight / (1 + weight / limit * weight)


@ESTIMATORS.register
def shrink(base: Estimator, strength: Limit) -> Estimator:
    """The estimator with weights shrunk by lambda = `strength`, self-normalised if it was; `auto`: left to the data."""
    return wrapped(base, lambda inner: Shrink(inner, strength))
