"""The reproduction of paper cmip-debiasedness: simulated users, seven click models, and what CMIP tells of them."""

from .design import Study, StudyDesign
from .sheet import made, sheet

__all__ = ["Study", "StudyDesign", "made", "sheet"]
