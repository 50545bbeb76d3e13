"""Self-normalisation, a wrapper of any estimator: its weights are divided by their mean, or corrected by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar

from ..errors import UsageError
from ..findings.row import EstimatorKind, Normalisation
from ..language.spelling import spell
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from .base import Estimator, Terms, Weighted, no_estimator
from .bounded import Bounded
from .registry import ESTIMATORS, PREFIX

Normaliser = Literal["slot", "pooled"]
Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True, repr=False)
class SelfNormalised(Estimator):
    """The base estimator corrected by its mean weight, whose expectation is 1: `snips` is SelfNormalised(IPS()).

    A final step: the weights are those of the base. The estimate is divided by the mean weight or, if `controlled`,
    reduced by the multiple of (mean weight - 1) that minimises the variance: between the plain and the
    divided form, or beyond. The bias of both is only of order 1 / n.

    Parameters:
        base: the estimator, whose weights have expectation 1.
        controlled: subtract a multiple of the mean weight instead of dividing by it.
        normaliser: of weights that differ by slot (`ipm`, `rips`). "slot" divides the clicks of each slot by the
            mean weight of that slot: sum_k (share of impressions with slot k) (sum w_k c_k) / (sum w_k). "pooled"
            divides all by the mean weight over slots, as other weights are in any case.

    Raises:
        UsageError: the base has no weights of expectation 1, or "pooled" has no weights that differ by slot.

    Examples:
        >>> offrank.estimators.estimator("snips") == offrank.estimators.SelfNormalised(offrank.estimators.IPS())
        True
    """

    base: Estimator
    controlled: bool = field(default=False, kw_only=True)
    normaliser: Normaliser = field(default="slot", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.base, Estimator):
            raise no_estimator(self.base)
        if not isinstance(self.base, Weighted) and not (self.controlled and self.base.normalised):
            raise UsageError(
                f"{self.base!r} has no self-normalised form: a prediction has no weight to divide by",
                "use it as it is, or controlled(dr(...)), which corrects by the mean weight",
            )
        if not self.base.normalised:
            raise UsageError(
                f"{self.base!r} has no self-normalised form: the expectation of its weights is not 1",
                "use it as it is, or sninterpol with a wide window",
            )
        if self.normaliser not in ("slot", "pooled"):
            raise UsageError(f"normaliser is {self.normaliser!r}", "use slot or pooled")
        if self.normaliser == "pooled" and (self.controlled or not self.base.kind.each_slot):
            raise UsageError(
                f"{replace(self, normaliser='slot')!r} has only one normaliser",
                "omit normaliser=pooled, which is for snipm and snrips",
            )

    @cached_property
    def kind(self) -> EstimatorKind:
        """That of the base, and how its mean weight is used."""
        kind = self.base.kind
        divides: Normalisation = "slot" if kind.each_slot and self.normaliser == "slot" else "mean"
        return replace(kind, normalisation="control" if self.controlled else divides)

    def __repr__(self) -> str:
        if self.controlled:
            return f"controlled({self.base!r})"
        if isinstance(self.base, Bounded):
            return f"{self.base.name}({replace(self, base=self.base.base)!r}, {spell(self.base.limit)})"
        plain = f"{getattr(self.base, 'prefix', PREFIX)}{self.base!r}"
        if self.normaliser == "slot":
            return plain
        return f"{plain[:-1]}, normaliser=pooled)" if plain.endswith(")") else f"{plain}(normaliser=pooled)"

    __str__ = __repr__

    @property
    def weighting(self) -> Weighted | None:
        return self.base.weighting

    @property
    def unnormalised(self) -> Estimator:
        return self.base

    @property
    def drawn(self) -> tuple[SelfNormalised, ...]:
        return tuple(replace(self, base=one) for one in self.base.drawn)

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        return self.base.terms(batch, logging, target)

    def needs(self, target: Policy) -> Needs:
        return self.base.needs(target)

    def with_examination(self, examination: Sequence[float] | None) -> SelfNormalised:
        return replace(self, base=self.base.with_examination(examination))

    def members(self, examination: Sequence[float] | None) -> tuple[SelfNormalised, ...]:
        return tuple(replace(self, base=one) for one in self.base.members(examination))


def self_normalised(base: Maker) -> Maker:
    """Register the self-normalised form of what a function makes, as a decorator: `sninterpol` for `interpol`.

    That of a weighting registers itself: `snips` for `ips`, `wpi` for `pi`.
    """
    name = getattr(base, "name", base.__name__)

    @wraps(base, updated=())
    def make(*arguments: Any, normaliser: Normaliser = "slot", **keywords: Any) -> SelfNormalised:
        return SelfNormalised(base(*arguments, **keywords), normaliser=normaliser)

    ESTIMATORS.add(f"{getattr(base, 'prefix', PREFIX)}{name}", make, base)
    return base


def wrapped(base: Estimator, wrap: Callable[[Any], Estimator]) -> Estimator:
    """The wrapped estimator, self-normalised if it was before."""
    return replace(base, base=wrap(base.base)) if isinstance(base, SelfNormalised) else wrap(base)


@ESTIMATORS.register
def controlled(base: Estimator) -> SelfNormalised:
    """The estimator with its mean weight as a control variate.

    Raises:
        UsageError: it is self-normalised already.
    """
    if isinstance(base, SelfNormalised):
        raise UsageError(f"{base!r} is already corrected by its mean weight", f"use controlled({base.base!r})")
    return SelfNormalised(base, controlled=True)
