"""Linear scorers of sparse features, saved to one file."""

from .model import Encoding, Lines, Model
from .policy import Linear, slate_log_prob

__all__ = ["Encoding", "Linear", "Lines", "Model", "slate_log_prob"]
