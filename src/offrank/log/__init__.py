"""What a log is: types, rules and errors."""

from .batch import Contexts, Labels, LogBatch, Shown, SparseFeatures
from .source import Needs, Source

__all__ = ["Contexts", "Labels", "LogBatch", "Needs", "Shown", "Source", "SparseFeatures"]
