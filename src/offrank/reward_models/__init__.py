"""Models of what a slate earns, which `direct` and `dr` use: click models, regressions, predictions in a column."""

from .base import Predicted, RewardModel
from .click_model import ClickPredictions
from .column import PredictionColumn
from .fitting import fit_models
from .registry import REWARD_MODELS
from .regression import (
    BoostedRegression,
    LassoRegression,
    OwnRegression,
    SlateRegression,
    TreeRegression,
)

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
