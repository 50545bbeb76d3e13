"""Plackett-Luce: a policy, and its exact laws and draws for arrays of scores."""

from .laws import order_given_set, rank_probs, sample, sample_order_given_set
from .pairs import pair_probs, pair_seconds
from .policy import PlackettLuce

__all__ = [
    "PlackettLuce",
    "order_given_set",
    "pair_probs",
    "pair_seconds",
    "rank_probs",
    "sample",
    "sample_order_given_set",
]
