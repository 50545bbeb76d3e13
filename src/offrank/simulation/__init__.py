"""Worlds with known truth."""

from .search import SearchWorld

__all__ = ["SearchWorld"]
