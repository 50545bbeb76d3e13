"""Checks of a log: is it fit for use, and can a number be trusted?"""

from .actions import ActionsFold as ActionsFold
from .actions import ActionsTest as ActionsTest
from .propensities import Agreement as Agreement
from .propensities import AgreementFold as AgreementFold
from .propensities import SlotsFold as SlotsFold
from .propensities import SlotsRow as SlotsRow
from .propensities import SupportFold as SupportFold
from .rows import Impressions as Impressions
from .rows import ImpressionsFold as ImpressionsFold
from .rows import RankRow as RankRow

_NAMES = """
    ActionsFold ActionsTest Agreement AgreementFold Impressions ImpressionsFold RankRow SlotsFold SlotsRow
    SupportFold
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604
