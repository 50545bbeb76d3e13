"""Races of independent keys, in NumPy alone: every candidate draws a key, and the slate is the order of the keys.

Thompson sampling draws a key from each arm's posterior, a noisy ranker adds noise to each score, and Plackett-Luce adds
Gumbel noise to log-weights. One quadrature serves them all. Beside them stand the shuffles of a sorted list.
"""

from .grid import NODES, ORDER, UP_TO, WEIGHTS, Grid, grids
from .keys import GUMBEL_SCALE, NOISES, BetaKeys, GaussianKeys, GumbelKeys, Keys, noise_keys, refuse_other_posteriors
from .laws import list_probs, rank_probs, ranks_by_sets, served_grid, served_probs, shown_rank_probs
from .pairs import MOST_SECONDS, pair_probs, pair_seconds
from .shuffles import SHUFFLES, Partition, moved, partitions, refuse_other_shuffles, shuffled, shuffled_slots

__all__ = [
    "GUMBEL_SCALE", "MOST_SECONDS", "NODES", "NOISES", "ORDER", "SHUFFLES", "UP_TO", "WEIGHTS", "BetaKeys",
    "GaussianKeys", "Grid", "GumbelKeys", "Keys", "Partition", "grids", "list_probs", "moved", "noise_keys",
    "pair_probs", "pair_seconds", "partitions", "rank_probs", "ranks_by_sets", "refuse_other_posteriors",
    "refuse_other_shuffles", "served_grid", "served_probs", "shown_rank_probs", "shuffled", "shuffled_slots",
]  # fmt: skip
