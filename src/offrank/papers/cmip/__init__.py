"""The reproduction of paper cmip-debiasedness: simulated users, seven click models, and what CMIP tells of them."""

from .design import Design, Study
from .sheet import made, sheet

__all__ = ["Design", "Study", "made", "sheet"]
