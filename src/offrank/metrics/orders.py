"""The probability law of the order of a slate's items, given the set of items shown.

Exact for Plackett-Luce and uniform logging at any size, for a logged `rank_propensity` column of the
shown items, and for every other policy by enumerating all orders of up to MOST_SLOTS slots.
"""

from __future__ import annotations

from itertools import permutations
from typing import NoReturn

import numpy as np

from ..errors import AbilityError
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.fit import must_fit
from ..policies.plackett_luce import sample_order_given_set
from ..policies.propensities import propensities
from . import _kernels

MOST_SLOTS = 6  # 720 orders


def order_needs(policy: Policy) -> Needs:
    """The columns that the order law reads."""
    return policy.reads("rank_law") if _by_rank(policy) else policy.law("log_prob").reads("log_prob")


def order_law(policy: Policy, batch: LogBatch) -> Floats:
    """[n, k, k] probability that the policy puts shown item i at rank j, given the set of shown items.

    Paper non-shuffled-traffic, appendix A. This is the marginal law only where every candidate is shown.

    Raises:
        AbilityError: the policy cannot compute it.
    """
    if _by_rank(policy):
        return _written(policy, batch)
    known = policy.order_given_set(batch.contexts, batch.slates)
    return _enumerated(policy.law("log_prob"), batch.contexts, batch.slates) if known is None else known


def drawn_order_law(policy: Policy, batch: LogBatch, draws: int, seed: int) -> Floats:
    """As `order_law`, but estimated from `draws` random orders per row, as in Algorithm 2.

    The randomness is keyed by the ids of the rows, so that it does not depend on the partition of the log.
    Plackett-Luce orders are drawn by the exponential race, O(k log k) each, without computing their law.

    Raises:
        AbilityError: as `order_law`.
    """
    slates = batch.slates
    drawn, lengths = np.zeros((*slates.shape, slates.shape[1])), (slates >= 0).sum(axis=1)
    rngs = (np.random.default_rng([seed, int(key)]) for key in batch.row)
    weights = policy.log_weights(batch.contexts)
    if weights is not None:
        shown, rest = _shown_weights(weights, batch.contexts, slates)
        for index, (length, rng) in enumerate(zip(lengths, rngs, strict=True)):
            orders = sample_order_given_set(shown[index, :length], float(rest[index]), draws, rng)
            _kernels.count_orders(orders, drawn[index])
    else:
        exact = order_law(policy, batch)
        for index, (length, rng) in enumerate(zip(lengths, rngs, strict=True)):
            chances = exact[index, :length, :length].T
            chances = chances / chances.sum(axis=1, keepdims=True)
            drawn[index, :length, :length] = rng.multinomial(draws, chances).T
    return drawn / draws


def _shown_weights(weights: Floats, contexts: Contexts, slates: Integers) -> tuple[Floats, Floats]:
    """[n, k] weights of the shown items, 0 on pads, and [n] their sum over the candidates not shown."""
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    logs = np.where(inside, weights, -np.inf)
    hidden = np.exp(logs - np.maximum(logs.max(axis=1, keepdims=True, initial=-np.inf), np.finfo(np.float64).min))
    row, slot = np.nonzero(slates >= 0)
    shown = np.zeros(slates.shape)
    shown[row, slot] = hidden[row, slates[row, slot]]
    hidden[row, slates[row, slot]] = 0.0  # a difference of sums would lose precision
    return shown, np.asarray(hidden.sum(axis=1))


def _by_rank(policy: Policy) -> bool:
    """Whether only the probabilities of the shown items at each rank are available."""
    return not policy.any_slate or must_fit(policy)


def _written(policy: Policy, batch: LogBatch) -> Floats:
    """The logged law, if it is of the order alone: every shown item is certain to be shown."""
    found = propensities(policy, batch).rank_law.written_out(batch.contexts.length)
    certain = found.sum(axis=2)[batch.slates >= 0]
    if (np.abs(certain - 1) > 0.01).any():
        _unknown(policy, f"the rank probabilities of a shown item sum to {certain.min():.3g}, not 1")
    return found


def _enumerated(policy: Policy, contexts: Contexts, slates: Integers) -> Floats:
    """The law by Bayes' rule over all orders of the shown items."""
    law = np.zeros((*slates.shape, slates.shape[1]))
    if slates.shape[1] > MOST_SLOTS:
        _unknown(policy, f"all orders are computed for up to {MOST_SLOTS} slots only (the log has {slates.shape[1]})")
    for length in np.unique(contexts.length):
        rows = np.flatnonzero(contexts.length == length)
        law[rows, :length, :length] = _all_orders(policy, contexts.take(rows), slates[rows, :length])
    return law


def _all_orders(policy: Policy, contexts: Contexts, slates: Integers) -> Floats:
    n, length = slates.shape
    law, ranks = np.zeros((n, length, length)), np.arange(length)
    for order in permutations(range(length)):
        chance = np.exp(policy.log_prob(contexts, np.ascontiguousarray(slates[:, order])))
        law[:, order, ranks] += chance[:, None]
    total = law[:, :, :1].sum(axis=1, keepdims=True)
    return np.divide(law, total, out=np.zeros_like(law), where=total > 0)


def _unknown(policy: Policy, why: str) -> NoReturn:
    raise AbilityError(
        f"{policy!r} does not define the order of the shown items given the set of shown items: {why}",
        "if the scores behind the log were logged, use plackett_luce(scores); on shuffled traffic, use uniform or "
        "a pairwise metric; or log a `rank_propensity` column for the shown items",
    )
