"""Linear scorers of sparse features, saved to one file."""

from .encoding import Encoding, Lines
from .file import PolicyFile
from .model import Model
from .policy import Linear
from .scored import item_probs, ranker, scored, slate_log_prob

__all__ = ["Encoding", "Linear", "Lines", "Model", "PolicyFile", "item_probs", "ranker", "scored", "slate_log_prob"]
