"""Models of what a slate earns, which `direct` and `dr` use: click models, regressions, predictions in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .base import Predicted, RewardModel
    from .click_model import ClickPredictions
    from .column import PredictionColumn
    from .fitting import fit_models
    from .registry import REWARD_MODELS
    from .regression import BoostedRegression, LassoRegression, OwnRegression, SlateRegression, TreeRegression

__all__ = [
    "REWARD_MODELS",
    "BoostedRegression",
    "ClickPredictions",
    "LassoRegression",
    "OwnRegression",
    "Predicted",
    "PredictionColumn",
    "RewardModel",
    "SlateRegression",
    "TreeRegression",
    "fit_models",
]

_WRITTEN = """
    BoostedRegression=regression ClickPredictions=click_model LassoRegression=regression OwnRegression=regression
    Predicted=base PredictionColumn=column REWARD_MODELS=registry RewardModel=base SlateRegression=regression
    TreeRegression=regression fit_models=fitting
"""
_HOMES = dict(one.split("=") for one in _WRITTEN.split())

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
