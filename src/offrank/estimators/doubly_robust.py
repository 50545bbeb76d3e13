"""Doubly robust: the prediction of a reward model plus a weighted correction from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..findings.row import EstimatorKind
from ..language.assumptions import ADDITIVE, ADDITIVE_MODEL
from ..language.spelling import File
from ..log.batch import LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from ..reward_models.base import RewardModel
from .base import Terms, Weighted
from .family import InterpolWindows
from .ips import IPS
from .logged import LoggedMean
from .predicted import ModelBased
from .registry import ESTIMATORS


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class DoublyRobust(ModelBased):
    """direct(model) + sum of weight * (reward - reward predicted by the model), with the weights of `residual`.

    With whole slates (ips) unbiased if the propensities are right or the model is (Dudik, Langford and Li 2011). With
    other weights (pi; of items ipm, rips, interpol) if the model is right; or if the propensities are, and rewards
    *and model* are as the weighting assumes. With rips it is the cascade doubly robust estimator of Kiyohara et
    al. 2022: where its value of a prefix is the model's clicks there plus those the target adds, its sum telescopes
    to this.

    The interval needs no doubt of the model from another log: the residuals tell of its errors, and their variance
    counts (benchmarks/click_intervals.py direct).

    Parameters:
        model: as in `direct`. A click model must be learnt from another log.
        column: as in `direct`.
        residual: the weighting. A regression of whole slates needs one of whole slates: ips, pi, clip(ips, 100).
        draws: as in `direct`.

    Raises:
        UsageError: a residual that is no single weighting, or one of items with a regression of whole slates.

    Examples:
        >>> offrank.estimators.DoublyRobust(column="predicted")
        dr(column=predicted)
    """

    name: ClassVar[str] = "dr"
    model: File | Fitted | RewardModel | None = None
    column: str | None = field(default=None, kw_only=True)
    residual: Weighted = field(default=IPS(), kw_only=True)
    draws: int = field(default=32, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.residual, InterpolWindows | LoggedMean) or not isinstance(self.residual, Weighted):
            raise UsageError(
                f"residual is {self.residual!r}, which is not a single weighting estimator",
                "give one such as ips, ipm, rips, interpol(window=1) or clip(ips, 100)",
            )
        whole = isinstance(self.model, RewardModel) and not self.model.of_slots
        if whole and self.residual.kind.outcome == "clicks":
            raise UsageError(
                f"{self!r}: the model predicts the reward of whole slates, but {self.residual!r} weights each click",
                "use a residual that weights whole slates: ips, pi, or one of them bounded, such as clip(ips, 100)",
            )

    @cached_property
    def kind(self) -> EstimatorKind:
        kind, model = self.predicting(self.residual.kind), self.reward_model
        if kind.assumes >= ADDITIVE and kind.outcome == "reward" and not model.additive:
            kind = replace(kind, assumes=kind.assumes | ADDITIVE_MODEL)
        return replace(kind, outcome="clicks") if model.of_clicks else kind

    @property
    def drawn(self) -> tuple[Self, ...]:
        """By draws from the posterior of the model that the weights are of; the residuals tell of the other one."""
        return tuple(replace(self, residual=one) for one in self.residual.drawn)

    def needs(self, target: Policy) -> Needs:
        return super().needs(target) | self.residual.needs(target)

    @property
    def weighting(self) -> Weighted:
        return self.residual

    def with_examination(self, examination: Sequence[float] | None) -> DoublyRobust:
        return replace(self, residual=self.residual.with_examination(examination))

    def members(self, examination: Sequence[float] | None) -> tuple[DoublyRobust, ...]:
        every: tuple[Any, ...] = self.residual.members(examination)
        return tuple(replace(self, residual=one) for one in every)

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        expected = self.predicted_for_logged(batch)
        if self.kind.outcome == "clicks":
            assert batch.clicks is not None
            missed = replace(batch, clicks=batch.clicks - expected, outcome=None)
        else:
            whole = expected if expected.ndim == 1 else expected.sum(axis=1)
            missed = replace(batch, clicks=None, outcome=batch.reward - whole)
        found = self.residual.terms(missed, logging, target)
        return replace(found, value=self.predicted(target).reward + found.value)
