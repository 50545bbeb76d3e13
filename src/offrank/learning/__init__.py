"""Learning of policies from a log; one file per method."""

from .examples import Checkpoint, Learner
from .named import METHODS, learner
from .splits import Split

__all__ = ["METHODS", "Checkpoint", "Learner", "Split", "learner"]
