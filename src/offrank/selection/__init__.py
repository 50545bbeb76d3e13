"""Data-driven selection: of windows (`slope`), of bounds on weights (`least_error`), and of click models (`select`)."""

from ..estimators.selected_member import Choice, LeastError, least_error, slope
from .candidates import MeasuredModel
from .click_models import choose, select

__all__ = [
    "Choice",
    "LeastError",
    "MeasuredModel",
    "choose",
    "least_error",
    "select",
    "slope",
]
