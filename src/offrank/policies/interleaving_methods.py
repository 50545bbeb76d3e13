"""Whose item comes next when two rankings are interleaved: one function for each method.

Rankings are given as blocks: the first rank of each candidate, -1 where the ranking does not hold it, and how many
share its ranks. Equal scores leave the order of a block open. All of its orders are equally likely, and stay so
whatever was shown: only how many of its items were passed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..log.batch import Booleans, Floats, Integers
from .slot_by_slot import Branch, States

TEMPER = 3.0
"""The exponent of the softmax over ranks (Hofmann, Whiteson and de Rijke 2011, section 4)."""
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Method:
    """How two rankings are interleaved. starts: the hidden numbers at the top, and their probabilities.

    deep: whether items below the number of slots can be shown. ties: whether equal scores are allowed.
    """

    starts: Sequence[tuple[int, float]]
    branches: Callable[[Integers, States], Iterator[Branch]]
    deep: bool = False
    ties: bool = True


def _team_draft(tables: Integers, states: States) -> Iterator[Branch]:
    """Hidden: by how many items the first team is ahead, from -1 to 1. The other team picks then, otherwise a coin.

    A team picks its best item that is not shown yet, so that it never loses its turn to an item of the other. Where it
    has none left, the other picks.
    """
    picks = [_best(tables[states.row, 2 * team], states.left) for team in (0, 1)]
    one, other = _shares((1 - states.hidden) / 2, picks)
    yield picks[0] * one[:, None], np.minimum(states.hidden + 1, 1)
    yield picks[1] * other[:, None], np.maximum(states.hidden - 1, -1)


def _probabilistic(tables: Integers, states: States) -> Iterator[Branch]:
    """A coin for each slot; its ranking draws an item with weights 1 / rank^3, among those not shown yet."""
    picks = []
    for team in (0, 1):
        ranks = tables[states.row, 2 * team]
        weights = np.where(states.left & (ranks >= 0), 1.0 / np.maximum(ranks + 1.0, 1.0) ** TEMPER, 0.0)
        picks.append(weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny))
    one, other = _shares(np.full(len(states), 0.5), picks)
    yield picks[0] * one[:, None] + picks[1] * other[:, None], states.hidden


def _balanced(tables: Integers, states: States) -> Iterator[Branch]:
    """Hidden: twice the number of turns so far, plus 1 where the second ranking began.

    The rankings take turns, each with its next item, whoever showed it before: then the slot goes to the next turn.
    """
    turn, begins = states.hidden // 2, states.hidden % 2
    open_share = np.ones(len(states))
    for _ in range(2 * tables.shape[2]):
        if not open_share.any():
            return
        team = (turn + begins) % 2
        first, width = (tables[states.row, 2 * team + each] for each in (0, 1))
        place = (turn // 2)[:, None]
        block = (first >= 0) & (first <= place) & (place < first + width)
        ahead = np.where(block, first + width - place, 0).max(axis=1)  # items of the block that were not passed
        unseen = block & states.left
        each = np.divide(open_share, ahead, out=np.zeros(len(states)), where=ahead > 0)
        turn = turn + 1
        yield unseen * each[:, None], 2 * turn + begins
        open_share = np.where(ahead > 0, each * (ahead - unseen.sum(axis=1)), open_share)


INTERLEAVINGS = {
    "team_draft": Method([(0, 1.0)], _team_draft),
    "balanced": Method([(0, 0.5), (1, 0.5)], _balanced),
    "probabilistic": Method([(0, 1.0)], _probabilistic, deep=True, ties=False),
}


def _best(ranks: Integers, left: Booleans) -> Floats:
    """[s, m] the probability that a team picks each item: the best that is left, any one of those that tie."""
    place = np.where(left & (ranks >= 0), ranks, _NEVER)
    best = (place == place.min(axis=1, keepdims=True)) & (place < _NEVER)
    return best / np.maximum(best.sum(axis=1, keepdims=True), 1)


def _shares(first: Floats, picks: Sequence[Floats]) -> tuple[Floats, Floats]:
    """[s] the probability that each team fills the slot. first: that of the first one, if both have items left."""
    able, other = (chances.any(axis=1) for chances in picks)
    share = np.where(other, first, 1.0) * able
    return share, (1 - share) * other
