"""Learning of policies from a log; one file per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:
    from ..policies.splits import Split
    from .examples import Checkpoint, Learner
    from .methods import METHODS, learner

__all__ = ["METHODS", "Checkpoint", "Learner", "Split", "learner"]

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _lazy.homes(__file__))
