"""Worlds with known truth."""

from .adverts import AdvertWorld
from .judged import stratified
from .mslr_like import mslr_like
from .search import SearchWorld
from .source import SimulatedSource
from .truth import Truth
from .worlds import World

__all__ = ["AdvertWorld", "SearchWorld", "SimulatedSource", "Truth", "World", "mslr_like", "stratified"]
