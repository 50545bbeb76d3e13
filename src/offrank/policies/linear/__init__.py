"""Linear scorers of sparse features, saved to one file."""

from .encoding import Encoding, Lines
from .file import PolicyFile
from .model import Model, item_probs, ranker, scored, slate_log_prob
from .policy import Linear

__all__ = ["Encoding", "Linear", "Lines", "Model", "PolicyFile", "item_probs", "ranker", "scored", "slate_log_prob"]
