"""Learning of policies from a log; one file per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .examples import Checkpoint, Learner
    from .methods import METHODS, learner
    from .splits import Split

__all__ = ["METHODS", "Checkpoint", "Learner", "Split", "learner"]

_HOMES = {
    "Checkpoint": "examples",
    "Learner": "examples",
    "METHODS": "methods",
    "Split": "splits",
    "learner": "methods",
}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
