"""Worlds with known truth."""

from .adverts import AdvertWorld
from .search import SearchWorld

__all__ = ["AdvertWorld", "SearchWorld"]
