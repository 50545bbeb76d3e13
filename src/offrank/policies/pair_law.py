"""Pair probabilities: which candidates a policy shows together, and where."""

from __future__ import annotations

import numpy as np

from ..log.batch import Contexts, Floats, Integers
from .base import PairProbs, Policy, all_items, unable
from .mixture import MixedPolicy
from .propensities import law
from .rank_law import RankLaw
from .sorting import Sorting
from .uniform import Uniform

_REMEDY = (
    "plackett_luce(scores), thompson(...), noisy(...), uniform, top(scores), ranking(column) and interleaved(...) "
    "can, and so can epsilon(...), swaps(...) and mixture(...) of these; if each slot was drawn independently, use "
    "pi(slots=independent)"
)


def pair_probs(policy: Policy, contexts: Contexts) -> Floats:
    """[n, m, k, m, k] P(candidate a at rank i and candidate b at rank j); the diagonal holds the marginals.

    Closed forms for uniform and sorting policies; mixtures are linear in their parts; other policies
    compute them (`PairProbs`).

    Raises:
        AbilityError: the policy cannot compute them.
    """
    if isinstance(policy, PairProbs):
        return policy.pair_probs(contexts)
    if isinstance(policy, Uniform):
        return uniform_pairs(contexts)
    if isinstance(policy, Sorting):
        return sorted_pairs(*policy.blocks(contexts, all_items(contexts)), contexts)
    if not isinstance(policy, MixedPolicy):
        unable(policy, "pair_probs", _REMEDY)
    return policy.expected(contexts, lambda part: pair_probs(law(part, "pair_probs"), contexts))


def uniform_pairs(contexts: Contexts) -> Floats:
    """[n, m, k, m, k] 1 / m at the same item and rank, 1 / (m (m - 1)) where both differ, else 0."""
    return sorted_pairs(
        np.minimum(all_items(contexts), 0), np.tile(contexts.size[:, None], contexts.candidates.shape[1]), contexts
    )


def sorted_pairs(first: Integers, width: Integers, contexts: Contexts) -> Floats:
    """[n, m, k, m, k]: blocks do not depend on each other, and within one the order is uniform.

    first, width: [n, m] the block of ranks of each candidate.
    """
    m, slots = first.shape[1], contexts.slots
    marginal = RankLaw.blocks(first, width).at_ranks(contexts.length, slots)
    apart = marginal[:, :, :, None, None] * marginal[:, None, None, :, :]
    same_item = np.eye(m, dtype=bool)[:, None, :, None]
    same_rank = np.eye(slots, dtype=bool)[None, :, None, :]
    shared = (first[:, :, None] == first[:, None, :])[:, :, None, :, None]
    # Two items of a block of w are at two given ranks with probability 1 / (w (w - 1)), one at one rank with 1 / w.
    others = np.maximum(width - 1, 1)[:, :, None, None, None]
    both = np.where(marginal[:, None, None, :, :] > 0, marginal[:, :, :, None, None], 0.0)
    within = np.where(same_item & same_rank, both, np.where(same_item | same_rank, 0.0, both / others))
    return np.where(shared, within, apart)
