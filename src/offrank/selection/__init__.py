"""Data-driven selection: of windows (`slope`), of bounds on weights (`least_error`), and of click models (`select`)."""

from .bounds import LeastError, least_error
from .candidates import MeasuredModel
from .click_models import choose, select
from .regret import average_regret, average_regrets, regret
from .windows import Choice, slope

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
