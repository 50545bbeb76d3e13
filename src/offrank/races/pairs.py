"""Probability of two candidates at two ranks, for independent keys: by the sets that can lie above a key."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from .grid import ORDER, Grid, Integers, grids
from .keys import Floats, Keys
from .laws import rank_probs

MOST_SECONDS = 60.0
_MOST_BYTES = 2 * 2**30
_SECONDS_PER_STEP, _NODES = 2e-9, 25 * ORDER
"""One core of a server of 2024, and about as many nodes as ten keys need."""


def pair_probs(keys: Keys, size: Integers, length: Integers, slots: int) -> Floats:
    """[n, m, slots, m, slots] P(candidate a at rank i and candidate b at rank j); where both agree, P(a at i)."""
    single = rank_probs(keys, size, length, slots)
    n, m, _ = single.shape
    law = np.zeros((n, m, slots, m, slots))
    item, rank = np.indices((m, slots))
    law[:, item, rank, item, rank] = single
    for grid in grids(keys, size, length, _ALONE):
        row = grid.rows[0]
        law[row] += _two_ranks(grid, int(size[row]), int(length[row]), slots)
    return law


_ALONE = 10**9
"""Numbers per node that let no two rows share a grid."""


def pair_seconds(size: int, length: int) -> float:
    """Estimated seconds that one row takes on one core; infinite if memory does not suffice."""
    wide = [math.comb(size, above) * above * max(above, size - above) * _NODES for above in range(1, length)]
    if 24 * max(wide, default=0) + 8 * (size * length) ** 2 > _MOST_BYTES:
        return math.inf
    return _SECONDS_PER_STEP * sum(width * (above + size + ORDER) for above, width in enumerate(wide, 1))


def _two_ranks(grid: Grid, size: int, length: int, slots: int) -> Floats:
    """[m, slots, m, slots] of different candidates at different ranks, for the single row of a grid.

    Z(D, a, i; t) is the probability that the keys of the set D lie above t, that of a in place i. The lowest key of D
    is a's, or another's, below which the same holds of the rest: dZ / dt = -f_a prod_D S or -sum_D f_b Z(D - b, a, i).
    """
    m = grid.density.shape[1]
    law, density, above = np.zeros((m, slots, m, slots)), grid.density[0], grid.above[0]
    places = {(item,): item for item in range(size)}
    sets = np.arange(size)[:, None]
    state = above[:size, None, None, :]
    for depth in range(1, length):
        _add_next(grid, sets, state, size, law)
        if depth + 1 < length:
            larger = np.array(list(combinations(range(size), depth + 1)))
            rest = np.array([[places[(*one[:q], *one[q + 1 :])] for q in range(depth + 1)] for one in larger.tolist()])
            state = _grown(grid, larger, rest, state, density, above)
            sets, places = larger, {tuple(one): number for number, one in enumerate(larger.tolist())}
    return law


def _add_next(grid: Grid, sets: Integers, state: Floats, size: int, law: Floats) -> None:
    """Add the probability of each a in its place among a set, and b right below the set.

    sets: [s, d] candidates. state: [s, d, d, N] of each of them in each place.
    """
    below, weighed = grid.below[0], grid.weighed[0]
    count, depth = sets.shape
    member = np.zeros((count, size), np.bool_)
    member[np.arange(count)[:, None], sets] = True
    outside = np.nonzero(~member)[1].reshape(count, size - depth)
    last = weighed[outside]  # [s, b, N]
    for item in range(size):
        lower = ~member[:, item, None] & (outside != item)
        np.multiply(last, below[item], out=last, where=lower[:, :, None])
    found = state.reshape(count, depth * depth, -1) @ last.swapaxes(1, 2)
    found = np.maximum(found, 0.0).reshape(count, depth, depth, -1)
    a, place, b = sets[:, :, None, None], np.arange(depth)[:, None], outside[:, None, None, :]
    np.add.at(law, (a, place, b, depth), found)
    np.add.at(law, (b, depth, a, place), found)


def _grown(grid: Grid, sets: Integers, rest: Integers, state: Floats, density: Floats, above: Floats) -> Floats:
    """[s, d, d, N] the state of sets of d candidates, from that of sets of one less.

    rest: [s, d] the number of each set without its candidate q among those.
    """
    count, depth = sets.shape
    found = np.zeros((count, depth, depth, density.shape[-1]))
    for own in range(depth):
        highest = density[sets[:, own]]
        for lowest in range(depth):
            if lowest != own:
                highest = highest * above[sets[:, lowest]]
                before = state[rest[:, lowest], own - (lowest < own)]
                found[:, own, : depth - 1] += density[sets[:, lowest], None] * before
        found[:, own, depth - 1] = highest
    return grid.from_on(found[None])[0]
