"""The reproduction of paper cmip-debiasedness: simulated users, seven click models, and their CMIP."""

from .design import Study, StudyDesign
from .sheet import made, sheet

__all__ = ["Study", "StudyDesign", "made", "sheet"]
