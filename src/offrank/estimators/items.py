"""Estimators that correct each click: item-position, position-based, and INTERPOL between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from ..errors import UsageError
from ..findings.row import EstimatorKind
from ..language.assumptions import ITEM_POSITION, POSITION_BASED, window
from ..log.batch import Floats, LogBatch
from ..policies.propensities import Propensities
from ..wording import Option, Wording
from . import _kernels
from .base import Reference, Weighted, Weights
from .registry import ESTIMATORS

Form = Literal["paper", "windowed"]

_FAR = 1e50  # beyond any curve, while ratios of two of its numbers can be squared


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class IPM(Reference):
    """Item-position model: w = P(item at this rank | target) / P(item at this rank | logging).

    Unbiased where a click depends only on the item and its rank (paper interpol, Eq. 4, in expectation
    over the target's rank).

    Examples:
        >>> offrank.estimators.estimator("ipm") == offrank.estimators.IPM()
        True
    """

    name: ClassVar[str] = "ipm"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        logging="rank_law", target="rank_law", assumes=ITEM_POSITION, weighs="items", each_slot=True, follows="ratios"
    )

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        weight = np.zeros(batch.slates.shape)
        _kernels.item_position(target.own_ranks, logging.own_ranks, batch.contexts.length, weight)
        return Weights(weight, weight, ~np.isfinite(weight))


@dataclass(frozen=True, repr=False)
class Interpol(Weighted):
    """INTERPOL (paper interpol, Eq. 5): the item-position model with a window of ranks.

    A click counts if the target puts the item within `window` ranks of where it was shown, is
    divided by the probability of that, and moved to the target's rank by the examination curve.
    window=0 is the item-position model; a window as wide as the slate, where all candidates are
    shown, the position-based one. `form="windowed"` divides by the expected examination inside the
    window instead. Unbiased under the position-based model with the right examination.

    Parameters:
        window: ranks on either side of the logged one at which a click counts.
        form: "paper", or "windowed": divide by the expected examination within the window.
        examination: [k] probability that each rank is examined, relative to the first; by default that of the
            question.

    Raises:
        UsageError: a window that is no number of ranks, or an unknown form.

    Examples:
        >>> offrank.estimators.estimator("interpol(window=2)") == offrank.estimators.Interpol(window=2)
        True
    """

    name: ClassVar[str] = "interpol"
    window: int = field(kw_only=True)
    form: Form = field(default="paper", kw_only=True)
    examination: tuple[float, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.window, int) or self.window < 0:  # type: ignore[redundant-expr]
            raise UsageError(
                f"window is {self.window!r}",
                "give a whole number of ranks, 0 or more, or select one with `interpol(window=slope)`",
            )
        if self.form not in ("paper", "windowed"):
            raise UsageError(f"form is {self.form!r}", 'give "paper" (Eq. 5) or "windowed"')
        _tidy(self)

    @cached_property
    def kind(self) -> EstimatorKind:
        return EstimatorKind(
            logging="rank_law",
            target="rank_law",
            assumes=window(self.window),
            weighs="items",
            follows="every rank",
            curve=self.examination,
            window=self.window,
        )

    def with_examination(self, examination: Sequence[float] | None) -> Interpol:
        if self.examination is not None or (examination is None and self.window == 0):
            return self
        return replace(self, examination=_required(examination, self))

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        slots = batch.slates.shape[1]
        curve = np.ones(slots) if self.examination is None else _curve(self.examination, slots, self)
        ones = np.ones(slots)
        # A click has weight p_j / p_i over P(window), or p_j over the expected examination in the window.
        # The control is the weight of a click of value p_i / p_j: its expectation is 1 for each target slot.
        mass, own = (ones, 1 / curve) if self.form == "paper" else (curve, ones)
        near = min(self.window, slots)
        ranks = range(slots)
        whole = [[mass[max(0, j - near) : min(n, j + near + 1)].sum() for j in ranks] for n in range(slots + 1)]
        weight, control = np.zeros(batch.slates.shape), np.zeros(batch.slates.shape)
        _kernels.interpol_weights(
            target.rank_law.arrays,
            logging.rank_law.arrays,
            batch.contexts.length,
            curve,
            mass,
            np.array(whole),
            own,
            near,
            weight,
            control,
        )
        return Weights(weight, control, ~np.isfinite(weight))


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class PositionBased(Weighted):
    """Position-based model: w = p(target's rank) / p(logged rank) (paper interpol, Eq. 3).

    Needs no logging policy. Unbiased under the position-based model with the right examination, where
    the logged slates hold every item that the target would show.

    Parameters:
        examination: [k] probability that each rank is examined, relative to the first; by default that of the
            question.

    Examples:
        >>> offrank.estimators.estimator("pbm") == offrank.estimators.PositionBased()
        True
    """

    name: ClassVar[str] = "pbm"
    normalised: ClassVar[bool] = False
    examination: tuple[float, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _tidy(self)

    @cached_property
    def kind(self) -> EstimatorKind:
        return EstimatorKind(
            target="rank_law", assumes=POSITION_BASED, weighs="items", follows="every rank", curve=self.examination
        )

    def with_examination(self, examination: Sequence[float] | None) -> PositionBased:
        if self.examination is not None:
            return self
        return replace(self, examination=_required(examination, self))

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        slots = batch.slates.shape[1]
        curve = _curve(self.examination or (), slots, self)
        weight, control = np.zeros(batch.slates.shape), np.zeros(batch.slates.shape)
        dense, *structure = target.rank_law.arrays
        if target.rank_law.structured:
            _kernels.position_based_in_blocks(*structure, batch.contexts.length, curve, weight, control)
        else:
            _kernels.position_based(dense, batch.contexts.length, curve, weight, control)
        return Weights(weight, control)


def _tidy(estimator: Interpol | PositionBased) -> None:
    """Check the examination curve and store it as a tuple of floats."""
    if estimator.examination is None:
        return
    curve = tuple(float(p) for p in estimator.examination)
    if not curve or not all(1 / _FAR < p < _FAR for p in curve):
        raise UsageError(f"examination is {list(curve)}", "give a positive number per rank, top first: 1, .5, .33")
    object.__setattr__(estimator, "examination", curve)


def _required(examination: Sequence[float] | None, estimator: Interpol | PositionBased) -> tuple[float, ...]:
    if examination is None:
        raise UsageError(
            f"{estimator!r} needs an examination curve",
            Wording("pass {}, a number per rank, top first", Option("examination", [1, 0.5, 0.33])),
        )
    return tuple(examination)


def _curve(examination: tuple[float, ...], slots: int, estimator: Interpol | PositionBased) -> Floats:
    if len(examination) < slots:
        raise UsageError(
            f"{estimator!r}: the examination curve has {len(examination)} ranks, but the log's slates have {slots}",
            "give a number for every rank of the longest slate",
        )
    return np.array(examination[:slots])
