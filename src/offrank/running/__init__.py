"""Where a fold runs; the answer is the same everywhere."""

from .executors import Executor, Progress, run

__all__ = ["Executor", "Progress", "run"]
