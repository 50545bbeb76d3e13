"""Checks of a log: is it fit for use, and can a number be trusted?"""

from .actions import ActionsFold, ActionsTest
from .propensities import Agreement, AgreementFold, SlotsFold, SlotsRow, SupportFold
from .rows import Impressions, ImpressionsFold, RankRow

__all__ = [
    "ActionsFold", "ActionsTest", "Agreement", "AgreementFold", "Impressions", "ImpressionsFold", "RankRow",
    "SlotsFold", "SlotsRow", "SupportFold",
]  # fmt: skip
