"""Predictions in a column of the log, made by any model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..findings.row import ModelEvidence
from ..language import assumptions
from ..language.formatting import quote
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs, needs
from ..policies.base import Policy, all_items
from ..policies.propensities import Propensities
from .base import Predicted, RewardModel
from .slates import pieces


@dataclass(frozen=True)
class PredictionColumn(RewardModel):
    """Predictions in a column: the reward (or click) of each candidate, wherever it is shown; a slate has their sum."""

    column: str
    assumptions: ClassVar[frozenset[str]] = assumptions.RIGHT_MODEL
    of_clicks: ClassVar[bool] = False
    of_slots: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    @property
    def evidence(self) -> ModelEvidence:
        return ModelEvidence(name=f"the column {quote(self.column)}")

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        return (self.column,)

    def needs(self, target: Policy) -> Needs:
        return needs("candidates", scores=self.column) | target.reads("rank_probs")

    def logged(self, batch: LogBatch) -> Floats:
        return shown(batch.contexts.scores[self.column], batch.slates)

    def expected(self, target: Propensities, draws: int) -> Predicted:
        policy, contexts = target.policy.law("rank_probs"), target.batch.contexts
        each, (sure, slates) = contexts.scores[self.column], policy.sure_slates(contexts)
        reward = np.zeros(len(contexts))
        if sure.any():
            reward[sure] = shown(each[sure], slates[sure]).sum(axis=1)
        for rows in pieces(np.flatnonzero(~sure), each.shape[1] * contexts.slots):
            some = contexts.take(rows)
            at_all = policy.rank_probs(some, all_items(some)).sum(axis=2)
            reward[rows] = np.einsum("nm,nm->n", at_all, each[rows])
        return Predicted(reward, np.ones(len(contexts)))


def shown(each: Floats, slates: Integers) -> Floats:
    """[n, k] the numbers of the candidates [n, m] that slates show; 0 where they show none."""
    return np.where(slates >= 0, np.take_along_axis(each, np.maximum(slates, 0), axis=1), 0.0)
