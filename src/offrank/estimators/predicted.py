"""The estimators that predict the reward of the target's slates by a reward model."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..findings.row import EstimatorKind
from ..language.spelling import File
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from ..reward_models.base import Predicted, RewardModel
from ..reward_models.click_model import ClickPredictions, loaded
from ..reward_models.column import PredictionColumn
from ..reward_models.regression import OwnRegression
from .base import Estimator

Model = File | Fitted | RewardModel | None


class ModelBased(Estimator):
    """An estimator that predicts the reward of the target's slates by a reward model.

    Where nothing is weighted, the weight of its terms is the share of the target's items that the model knows.
    """

    model: Any
    column: str | None
    draws: int

    def __post_init__(self) -> None:
        if not isinstance(self.draws, int) or self.draws < 1:  # type: ignore[redundant-expr]
            raise UsageError(f"draws is {self.draws!r}", "give a whole number of slates per row, such as 32")
        if (self.model is None) == (self.column is None):
            raise UsageError(
                f"{self.name} needs one model",
                f"use {self.name}(lasso), {self.name}('model.json') for a click model, or {self.name}(column=...) "
                "for predictions in the log",
            )
        if isinstance(self.model, Estimator):
            said = f"{self.model!r} already corrects its predictions by clicks, as dr does"
            raise UsageError(said, f"use {self.model!r} as it is")
        if not isinstance(self.model, str | Fitted | RewardModel | None):
            object.__setattr__(self, "model", OwnRegression(self.model))

    @cached_property
    def reward_model(self) -> RewardModel:
        """The model, read on first use; a file is read only once.

        Raises:
            UsageError: no such file, or not a click model.
        """
        if self.column is not None:
            return PredictionColumn(self.column)
        if isinstance(self.model, RewardModel):
            return self.model
        return ClickPredictions(loaded(self.model) if isinstance(self.model, str) else self.model)

    def predicting(self, kind: EstimatorKind) -> EstimatorKind:
        """The kind of weights, or of none, with the model's predictions."""
        model = self.reward_model
        return replace(
            kind,
            each_slot=False,
            predicts=True,
            model=model.evidence,
            learnt=model.learnt_rows() or kind.learnt,
            predictions=model.prediction_columns,
        )

    def needs(self, target: Policy) -> Needs:
        return self.reward_model.needs(target)

    def predicted(self, target: Propensities) -> Predicted:
        """The model's predictions for a target in the rows of a batch, computed once for all estimators."""
        model = self.reward_model
        return target.batch.once(
            ("predicted", id(target.policy), model, self.draws), lambda: model.expected(target, self.draws)
        )

    def predicted_for_logged(self, batch: LogBatch) -> Floats:
        """The model's predictions for the logged slates: of each slot [n, k] or of the whole [n]."""
        model = self.reward_model
        return batch.once(("logged", model), lambda: model.logged(batch))
