"""The types, rules and errors of a log."""

from .batch import Contexts, Labels, LogBatch, Shown, SparseFeatures
from .source import Needs, Source

__all__ = ["Contexts", "Labels", "LogBatch", "Needs", "Shown", "Source", "SparseFeatures"]
