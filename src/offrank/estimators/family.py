"""Several estimators under one spelling, of which the data select one: `interpol(window=slope)`, `clip(ips, auto)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

from ..errors import UsageError
from ..findings.row import EstimatorKind
from ..language.assumptions import ITEM_POSITION, require_registered
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from .base import Estimator, Reference, Terms, Weighted, Weights
from .items import Form, Interpol
from .registry import ESTIMATORS
from .wrappers import self_normalised

Family = dict[str, Estimator]
"""The estimators of one spelling, each by its own spelling; the one with the fewest assumptions comes first."""


@dataclass(frozen=True, repr=False)
class InterpolWindows(Weighted):
    """INTERPOL with every window, one of which is selected from the data after all have been estimated.

    The windows are 0, 1, ... up to the last rank of the examination curve. It can be wrapped like any estimator,
    but only its members have weights: see `family`.

    Parameters:
        window: `slope`: the data choose it.
        form: "paper", or "windowed": divide by the expected examination within the window.
        examination: [k] probability that each rank is examined, relative to the first; by default that of the
            question.

    Examples:
        >>> offrank.estimators.estimator("interpol(window=slope)") == offrank.estimators.InterpolWindows(window="slope")
        True
    """

    name: ClassVar[str] = "interpol"
    window: Literal["slope"] = field(kw_only=True)
    form: Form = field(default="paper", kw_only=True)
    examination: tuple[float, ...] | None = field(default=None, kw_only=True)

    @cached_property
    def kind(self) -> EstimatorKind:
        return EstimatorKind(
            logging="rank_law", target="rank_law", assumes=ITEM_POSITION, weighs="items", curve=self.examination
        )

    def with_examination(self, examination: Sequence[float] | None) -> InterpolWindows:
        found = Interpol(window=1, form=self.form, examination=self.examination).with_examination(examination)
        return replace(self, examination=found.examination)

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        raise TypeError(f"{self!r} is a family of estimators: weight each member")

    def members(self, examination: Sequence[float] | None) -> tuple[Interpol, ...]:
        windows = range(len(self.with_examination(examination).examination or ()))
        return tuple(Interpol(window=w, form=self.form, examination=self.examination) for w in windows)


@dataclass(frozen=True, repr=False)
class Auto(Estimator):
    """The estimator of least estimated error for a log and a target, which `evaluate` chooses before it evaluates."""

    name: ClassVar[str] = "auto"
    kind: ClassVar[EstimatorKind] = EstimatorKind(weighs="model", preselected=True)
    weighting: ClassVar[None] = None

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        raise UsageError("`auto` is not a single estimator", "use it with `evaluate` or `compare`, which select one")


@self_normalised
@ESTIMATORS.register
def interpol(
    *, window: int | Literal["slope"], form: Form = "paper", examination: tuple[float, ...] | None = None
) -> Interpol | InterpolWindows:
    """INTERPOL with a given window or, for `window="slope"`, with the window that SLOPE selects.

    Raises:
        UsageError: neither a number of ranks nor a selection method.
    """
    if window == "slope":
        return InterpolWindows(window=window, form=form, examination=examination)
    if isinstance(window, str):
        raise UsageError(
            f"window is {window!r}", "give a whole number of ranks, or `slope` to select one from the data"
        )
    return Interpol(window=window, form=form, examination=examination)


def family(estimator: Estimator, examination: Sequence[float] | None) -> Family:
    """The estimators of a spelling, with the examination curve set; most spellings have one.

    Raises:
        UsageError: one needs an examination curve, and there is none, or assumes what nobody has registered.
    """
    if isinstance(estimator.unnormalised, Reference):  # it has no curve, and the data choose nothing
        return {repr(estimator): estimator}
    require_registered(estimator.kind.assumes)
    return {repr(member): member.with_examination(examination) for member in estimator.members(examination)}
