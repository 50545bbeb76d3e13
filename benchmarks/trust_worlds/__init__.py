"""Simulated worlds, healthy and broken, with their truths and what ought to be said of them."""

from .broken import BROKEN
from .healthy import HEALTHY
from .world import World

WORLDS: dict[str, World] = {world.name: world for world in (*HEALTHY, *BROKEN)}

__all__ = ["BROKEN", "HEALTHY", "WORLDS", "World"]
