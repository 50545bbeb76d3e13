"""The base of wrappers that bound the weights of an estimator: less variance, some bias. One file each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self, final

import numpy as np

from ..errors import UsageError
from ..findings.assumptions import CLIPPED
from ..log.batch import Floats, LogBatch
from ..policies.propensities import Propensities
from .base import Weighted, Weights, forwarded


@dataclass(frozen=True, repr=False)
class Bounded(Weighted):
    """The base estimator with bounded weights. A subclass has one more field, the parameter of its `cut`."""

    outcome = forwarded("base", "outcome")
    requires_logging = forwarded("base", "requires_logging")
    requires_target = forwarded("base", "requires_target")
    normalised = forwarded("base", "normalised")
    each_slot = forwarded("base", "each_slot")
    base: Weighted

    def __post_init__(self) -> None:
        if not isinstance(self.base, Weighted):
            raise UsageError(
                f"{self.base!r} is no weighting, so there is nothing to {self.name}",
                f"{self.name} what it adds to the prediction: dr(model, residual={self.name}(ips, 10))",
            )
        if not self.limit > 0:
            raise UsageError(f"{self.parameter} is {self.limit}", "give a weight above zero")

    @property
    def parameter(self) -> str:
        """The name of the parameter."""
        return fields(self)[-1].name

    @property
    def limit(self) -> float:
        """The parameter; the larger it is, the more of the weight is left."""
        found: float = getattr(self, self.parameter)
        return found

    @property
    def assumptions(self) -> frozenset[str]:
        return self.base.assumptions | {CLIPPED}

    def with_examination(self, examination: Sequence[float] | None) -> Self:
        return replace(self, base=self.base.with_examination(examination))

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        return self.bound(self.base.weights(batch, logging, target))

    @abstractmethod
    def cut(self, weight: Floats) -> Floats:
        """What is left of weights [...]: of the same sign, and no larger."""

    @final
    def bound(self, free: Weights) -> Weights:
        """The weights of the base after the cut, with controls reduced in proportion."""
        weight = self.cut(free.weight)
        if free.control is free.weight:
            return Weights(weight, weight)
        kept = np.divide(weight, free.weight, out=np.ones(weight.shape), where=free.weight != 0)
        return Weights(weight, free.control * kept)
