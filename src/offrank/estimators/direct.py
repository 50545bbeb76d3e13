"""The direct method: the reward that a model predicts for the target's slates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

from ..clicks.fitted import Fitted
from ..findings.row import EstimatorKind
from ..language.spelling import File
from ..log.batch import LogBatch
from ..policies.propensities import Propensities
from ..reward_models.base import RewardModel
from .base import Terms
from .predicted import ModelBased
from .registry import ESTIMATORS


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class Direct(ModelBased):
    """The mean over logged contexts of the reward predicted for the target's slate; logged rewards are not weighted.

    Unbiased if the model is right. The interval reflects how contexts differ and, by draws from the
    posterior of a click model, how well its numbers are known; not whether the model is right.

    Parameters:
        model: a regression (`lasso`, `tree`, `boosted`, or anything with `fit` and `predict`), which is learnt from
            the log and cross-fitted; a fitted click model, or the file that it was saved to.
        column: instead of a model, a column beside the candidates with the predicted reward of each.
        draws: slates per row of a stochastic target, where the prediction depends on more than each item and its
            rank, and the slates are too many to enumerate (over 120).

    Examples:
        >>> offrank.estimators.estimator("dm(lasso(penalty=0.1, by=old_score))")
        direct(lasso(by=[old_score], penalty=0.1))
    """

    name: ClassVar[str] = "direct"
    weighting: ClassVar[None] = None
    model: File | Fitted | RewardModel | None = None
    column: str | None = field(default=None, kw_only=True)
    draws: int = field(default=32, kw_only=True)

    @cached_property
    def kind(self) -> EstimatorKind:
        model = self.reward_model
        kind = EstimatorKind(
            outcome="clicks" if model.of_clicks else "reward", assumes=model.assumptions, weighs="model"
        )
        return self.predicting(kind)

    @cached_property
    def drawn(self) -> tuple[Self, ...]:
        return tuple(replace(self, model=one, column=None) for one in self.reward_model.draws())

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        found = self.predicted(target)
        return Terms(found.reward, found.known)
