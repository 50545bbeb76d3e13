"""Races of independent keys, in NumPy alone: every candidate draws a key, and the slate is the order of the keys.

Thompson sampling draws a key from each arm's posterior, a noisy ranker adds noise to each score, and Plackett-Luce adds
Gumbel noise to log-weights. One quadrature serves them all. Beside them stand the shuffles of a sorted list.
"""

from .grid import NODES as NODES
from .grid import ORDER as ORDER
from .grid import UP_TO as UP_TO
from .grid import WEIGHTS as WEIGHTS
from .grid import Grid as Grid
from .grid import grids as grids
from .keys import BetaKeys as BetaKeys
from .keys import GaussianKeys as GaussianKeys
from .keys import GumbelKeys as GumbelKeys
from .keys import Keys as Keys
from .laws import list_probs as list_probs
from .laws import rank_probs as rank_probs
from .laws import ranks_by_sets as ranks_by_sets
from .laws import served_grid as served_grid
from .laws import served_probs as served_probs
from .laws import shown_rank_probs as shown_rank_probs
from .named import GUMBEL_SCALE as GUMBEL_SCALE
from .named import NOISES as NOISES
from .named import noise_keys as noise_keys
from .named import refuse_other_posteriors as refuse_other_posteriors
from .pairs import MOST_SECONDS as MOST_SECONDS
from .pairs import pair_probs as pair_probs
from .pairs import pair_seconds as pair_seconds
from .shuffles import SHUFFLES as SHUFFLES
from .shuffles import Partition as Partition
from .shuffles import moved as moved
from .shuffles import partitions as partitions
from .shuffles import refuse_other_shuffles as refuse_other_shuffles
from .shuffles import shuffled as shuffled
from .shuffles import shuffled_slots as shuffled_slots

_NAMES = """
    GUMBEL_SCALE MOST_SECONDS NODES NOISES ORDER SHUFFLES UP_TO WEIGHTS BetaKeys GaussianKeys Grid GumbelKeys Keys
    Partition grids list_probs moved noise_keys pair_probs pair_seconds partitions rank_probs ranks_by_sets
    refuse_other_posteriors refuse_other_shuffles served_grid served_probs shown_rank_probs shuffled
    shuffled_slots
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604
