"""The reproduction of paper slate-pseudoinverse: Swaminathan et al., Off-policy evaluation for slate recommendation."""

from .design import SlatesDesign
from .sheet import made, sheet

__all__ = ["SlatesDesign", "made", "sheet"]
