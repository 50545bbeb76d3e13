"""Verbs that are tried out beside offrank, with names that may still change."""

from .plan import plan
from .runs import measure_runs

__all__ = ["measure_runs", "plan"]
