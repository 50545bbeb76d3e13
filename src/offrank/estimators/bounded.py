"""The base of wrappers that bound the weights of an estimator: less variance, some bias.

The parameter is a number or `auto`, which stands for the estimator without a bound and with those of a fixed grid.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, final

import numpy as np

from ..errors import UsageError
from ..findings.row import Bound, EstimatorKind
from ..language.assumptions import CLIPPED
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from .base import Estimator, Weighted, Weights, no_estimator, refuse_impossible

Limit = float | Literal["auto"]
AUTO: Literal["auto"] = "auto"
LARGEST_LEFT = (1e5, 1e4, 1e3, 1e2, 1e1, 1e0)
"""The largest weights that the bounds of the grid leave."""


@dataclass(frozen=True, repr=False)
class Bounded(Weighted):
    """The base estimator with bounded weights. A subclass has one more field, the parameter of its `cut`.

    done: what it does to weights, in a word. drops: whether nothing is left of those beyond the parameter. grid: the
    parameters that `auto` chooses from, the one that bounds least first.

    Parameters:
        base: the estimator whose weights are bounded.

    Raises:
        UsageError: a base without weights, or a bound that is not above 0.
    """

    done: ClassVar[str] = "Bounding"
    grid: ClassVar[tuple[float, ...]] = LARGEST_LEFT
    drops: ClassVar[bool] = False
    base: Weighted

    def __post_init__(self) -> None:
        if not isinstance(self.base, Estimator):
            raise no_estimator(self.base)
        if self.base.name == "logged":  # as its kind says; that of others may take a file to know
            raise UsageError("logged has no weights, so there is nothing to bound", f"use {self.name}(ips, 10)")
        if not isinstance(self.base, Weighted):
            raise UsageError(
                f"{self.base!r} has no weights, so there is nothing to {self.name}",
                f"{self.name} the correction of the prediction: dr(model, residual={self.name}(ips, 10))",
            )
        known = self.limit == AUTO if isinstance(self.limit, str) else self.limit > 0
        if not known:
            raise UsageError(f"{self.parameter} is {self.limit}", "give a weight above zero, or `auto`")

    @property
    def parameter(self) -> str:
        """The name of the parameter."""
        return fields(self)[-1].name

    @property
    def limit(self) -> Limit:
        """The parameter; the larger it is, the more of the weight is left."""
        found: Limit = getattr(self, self.parameter)
        return found

    @property
    def normalised(self) -> bool:  # type: ignore[override]  # that of its base
        return self.base.normalised

    @cached_property
    def kind(self) -> EstimatorKind:
        kind = self.base.kind
        limit = self.limit if self.drops and not isinstance(self.limit, str) else None
        bound = Bound(self.done, self.parameter, limit, self.base if kind.bound is None else kind.bound.free)
        return replace(kind, assumes=kind.assumes | CLIPPED, bound=bound)

    @property
    def drawn(self) -> tuple[Self, ...]:
        return tuple(replace(self, base=one) for one in self.base.drawn)

    def needs(self, target: Policy) -> Needs:
        return self.base.needs(target)

    def with_examination(self, examination: Sequence[float] | None) -> Self:
        return replace(self, base=self.base.with_examination(examination))

    def members(self, examination: Sequence[float] | None) -> tuple[Weighted, ...]:
        inner: tuple[Any, ...] = self.base.members(examination)
        if self.limit != AUTO:
            return tuple(replace(self, base=one) for one in inner)
        if len(inner) > 1:
            raise UsageError(
                f"{self!r} leaves two choices to the data", f"fix one of them, such as {self.name}(ips, auto)"
            )
        return (self.base, *(replace(self, **{self.parameter: limit}) for limit in self.grid))  # type: ignore[arg-type]

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        # The members of `auto` share the weights of their base. The key holds what it stands for.
        free = logging.batch.once(
            ("weights", self.base, logging, target), lambda: self.base.weigh(batch, logging, target)
        )
        refuse_impossible(batch, free.impossible, logging)
        return self.bounded(free)

    @abstractmethod
    def cut(self, weight: Floats, limit: float) -> Floats:
        """What a limit leaves of weights [...]: of the same sign, and no larger."""

    @final
    def bounded(self, free: Weights) -> Weights:
        """The weights of the base after the cut."""
        if isinstance(self.limit, str):
            raise TypeError(f"{self!r} is a family of estimators: weight each member")
        return cut_to(self.cut(free.weight, self.limit), free)


def cut_to(weight: Floats, free: Weights) -> Weights:
    """These weights in place of free ones, with controls reduced in proportion."""
    if free.control is free.weight:
        return Weights(weight, weight)
    kept = np.divide(weight, free.weight, out=np.ones(weight.shape), where=free.weight != 0)
    return Weights(weight, free.control * kept)
