"""Is the log fit for use, and can a number be trusted?"""

from .actions import ActionsFold, ActionsTest
from .agreement import Agreement, AgreementFold
from .impressions import Impressions, ImpressionsFold, RankRow
from .slots import SlotsFold, SlotsRow
from .support import SupportFold

__all__ = [
    "ActionsFold",
    "ActionsTest",
    "Agreement",
    "AgreementFold",
    "Impressions",
    "ImpressionsFold",
    "RankRow",
    "SlotsFold",
    "SlotsRow",
    "SupportFold",
]
