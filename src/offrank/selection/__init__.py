"""Data-driven selection: of windows (`slope`), of bounds on weights (`least_error`), and of click models (`select`)."""

from ..estimators.selected_member import Choice, LeastError, least_error, slope
from .candidates import MeasuredModel
from .click_models import choose, select
from .regret import average_regret, average_regrets, regret

__all__ = [
    "Choice",
    "LeastError",
    "MeasuredModel",
    "average_regret",
    "average_regrets",
    "choose",
    "least_error",
    "regret",
    "select",
    "slope",
]
