"""Execution of folds; the result is the same on every backend, and states can be kept and taken up again."""

from .checkpoint import CheckpointFolder
from .executors import Executor, Progress, reduced, run

__all__ = ["CheckpointFolder", "Executor", "Progress", "reduced", "run"]
