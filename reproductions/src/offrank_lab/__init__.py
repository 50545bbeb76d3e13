"""Verbs that are tried out beside offrank, with names that may still change."""

from .plan import plan

__all__ = ["plan"]
