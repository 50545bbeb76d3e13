"""Estimators of the conditional mutual information of a model's relevance and the logging policy's."""

from .base import CmiMethod
from .binned import Binned
from .classifier import Classifier
from .paper import Paper

__all__ = ["Binned", "Classifier", "CmiMethod", "Paper"]
