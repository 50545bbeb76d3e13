"""The reproduction of paper cmip-debiasedness: simulated users, seven click models, and their CMIP."""

from .design import Study, StudyDesign
from .page import document, made

__all__ = ["Study", "StudyDesign", "document", "made"]
