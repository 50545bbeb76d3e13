"""A log in, a policy out; a file per method."""

from .base import Candidate, Learner
from .named import METHODS, learner
from .splits import Split

__all__ = ["METHODS", "Candidate", "Learner", "Split", "learner"]
