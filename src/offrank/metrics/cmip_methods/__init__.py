"""Estimators of the conditional mutual information of a model's relevance and the logging policy's."""

from .base import CmiMethod
from .binned import Binned

__all__ = ["Binned", "CmiMethod"]
