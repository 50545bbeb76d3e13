"""Learnt scores of the candidates as a policy: sorted by, or drawn by Plackett-Luce."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...log.batch import Contexts, Floats, Integers
from ..plackett_luce import PlackettLuce
from ..top import Top

_SCORE = "learnt"
"""Name under which the ranker finds the scores."""


def ranker(greedy: bool) -> Top | PlackettLuce:
    """The policy that sorts by the scores (`greedy`), or draws with the weights exp(score)."""
    return Top(_SCORE) if greedy else PlackettLuce(_SCORE, log=True)


def scored(contexts: Contexts, scores: Floats) -> Contexts:
    """The contexts with scores [n, m] where `ranker` finds them."""
    return replace(contexts, scores={_SCORE: scores})


def slate_log_prob(scores: Floats, size: Integers, slates: Integers, greedy: bool) -> Floats:
    """[n] log-probability of each slate, drawn by scores [n, m] or sorted by them."""
    return ranker(greedy).log_prob(_with_slots_of(scores, size, slates), slates)


def item_probs(scores: Floats, size: Integers, slates: Integers, greedy: bool) -> Floats:
    """[n, k] probability of each slate's item at its own rank, in slates drawn by scores [n, m] or sorted by them."""
    law = ranker(greedy).rank_probs(_with_slots_of(scores, size, slates), slates)
    return np.diagonal(law, axis1=1, axis2=2)


def _with_slots_of(scores: Floats, size: Integers, slates: Integers) -> Contexts:
    return scored(Contexts(np.zeros(scores.shape, np.int64), size, (slates >= 0).sum(axis=1)), scores)
