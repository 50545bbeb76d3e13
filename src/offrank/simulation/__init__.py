"""Simulated worlds whose truth is known."""

from .adverts import AdvertWorld
from .mslr_like import mslr_like, stratified
from .search import SearchWorld
from .source import SimulatedSource
from .truth import Truth
from .worlds import JudgedWorld

__all__ = ["AdvertWorld", "JudgedWorld", "SearchWorld", "SimulatedSource", "Truth", "mslr_like", "stratified"]
