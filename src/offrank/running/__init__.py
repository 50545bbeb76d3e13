"""Execution of folds; the result is the same on every backend."""

from .executors import Executor, Progress, run

__all__ = ["Executor", "Progress", "run"]
