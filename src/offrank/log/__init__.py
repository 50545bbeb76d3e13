"""What a log is: types, rules and errors."""

from .batch import Contexts, Labels, LogBatch, SparseFeatures
from .source import Needs, Source

__all__ = ["Contexts", "Labels", "LogBatch", "Needs", "Source", "SparseFeatures"]
