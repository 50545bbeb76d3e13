"""Models of what a slate earns, which `direct` and `dr` use: click models, regressions, predictions in a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from .base import Predicted as Predicted
    from .base import RewardModel as RewardModel
    from .click_model import ClickPredictions as ClickPredictions
    from .column import PredictionColumn as PredictionColumn
    from .fitting import fit_models as fit_models
    from .registry import REWARD_MODELS as REWARD_MODELS
    from .regression import BoostedRegression as BoostedRegression
    from .regression import LassoRegression as LassoRegression
    from .regression import OwnRegression as OwnRegression
    from .regression import SlateRegression as SlateRegression
    from .regression import TreeRegression as TreeRegression

_HOMES = _lazy.homes(__file__)
__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)
