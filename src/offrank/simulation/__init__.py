"""Worlds with known truth."""

from .adverts import AdvertWorld
from .judged import mslr_like, stratified
from .search import SearchWorld
from .source import SimulatedSource
from .truth import Truth
from .worlds import World

__all__ = ["AdvertWorld", "SearchWorld", "SimulatedSource", "Truth", "World", "mslr_like", "stratified"]
