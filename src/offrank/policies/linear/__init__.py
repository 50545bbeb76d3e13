"""Linear scorers of sparse features, saved to one file."""

from .encoding import Encoding, Lines
from .model import Model
from .policy import Linear, slate_log_prob

__all__ = ["Encoding", "Linear", "Lines", "Model", "slate_log_prob"]
