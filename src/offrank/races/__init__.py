"""Races of independent keys, in NumPy alone: every candidate draws a key, and the slate is the order of the keys.

Thompson sampling draws a key from each arm's posterior, a noisy ranker adds noise to each score, and Plackett-Luce adds
Gumbel noise to log-weights. One quadrature serves them all.
"""

from .grid import Grid, grids
from .keys import BetaKeys, GaussianKeys, GumbelKeys, Keys
from .laws import list_probs, rank_probs, shown_rank_probs
from .named import GUMBEL_SCALE, NOISES, noise_keys, refuse_other_posteriors
from .pairs import MOST_SECONDS, pair_probs, pair_seconds

__all__ = [
    "GUMBEL_SCALE",
    "MOST_SECONDS",
    "NOISES",
    "BetaKeys",
    "GaussianKeys",
    "Grid",
    "GumbelKeys",
    "Keys",
    "grids",
    "list_probs",
    "noise_keys",
    "pair_probs",
    "pair_seconds",
    "rank_probs",
    "refuse_other_posteriors",
    "shown_rank_probs",
]
