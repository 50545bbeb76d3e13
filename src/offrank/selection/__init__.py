"""Data-driven selection: of windows for INTERPOL (`slope`), and of click models (`select`)."""

from .candidates import MeasuredModel
from .click_models import choose, select
from .regret import average_regret, average_regrets, regret
from .windows import Choice, slope

__all__ = ["Choice", "MeasuredModel", "average_regret", "average_regrets", "choose", "regret", "select", "slope"]
