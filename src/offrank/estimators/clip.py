"""Clipped weights, `clip(e, maximum)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .base import Estimator
from .bounded import Bounded
from .wrappers import SelfNormalised, wrapped


@dataclass(frozen=True, repr=False)
class Clip(Bounded):
    """The base estimator with absolute weights of at most `maximum`: less variance, some bias."""

    name: ClassVar[str] = "clip"
    maximum: float

    def cut(self, weight: Floats) -> Floats:
        return np.clip(weight, -self.maximum, self.maximum)


def clip(base: Estimator | SelfNormalised, maximum: float) -> Estimator | SelfNormalised:
    """The estimator with no weight above `maximum`, self-normalised if it was before."""
    return wrapped(base, lambda inner: Clip(inner, maximum))
