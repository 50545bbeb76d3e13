"""The reproduction of paper slate-pseudoinverse: Swaminathan et al., Off-policy evaluation for slate recommendation."""

from .design import SlatesDesign
from .page import document, made

__all__ = ["SlatesDesign", "document", "made"]
