"""Plackett-Luce as a race of exponential arrivals: exact laws and exact draws, arrays in, arrays out."""

from .draws import sample, sample_order_given_set, sample_rows
from .orders import order_given_set
from .pairs import PAIR_REMEDY, pair_probs, pair_refusal, pair_seconds
from .ranks import rank_law, rank_probs

__all__ = [
    "PAIR_REMEDY",
    "order_given_set",
    "pair_probs",
    "pair_refusal",
    "pair_seconds",
    "rank_law",
    "rank_probs",
    "sample",
    "sample_order_given_set",
    "sample_rows",
]
