"""Further estimators of CMIP, for `offrank.metrics.cmip(..., method=Paper())`; both need the extra `models`."""

from .classifier import Classifier
from .paper import Paper

__all__ = ["Classifier", "Paper"]
