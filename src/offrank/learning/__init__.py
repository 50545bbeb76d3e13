"""Learning of policies from a log; one file per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from ..policies.splits import Split
    from .examples import Checkpoint, Learner
    from .methods import METHODS, learner

__all__ = ["METHODS", "Checkpoint", "Learner", "Split", "learner"]

_HOMES = {
    "Checkpoint": "examples",
    "Learner": "examples",
    "METHODS": "methods",
    "Split": ".policies.splits",
    "learner": "methods",
}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
