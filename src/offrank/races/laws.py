"""Laws of the order of independent keys, the largest first: of a list, and of each candidate at each rank."""

from __future__ import annotations

import numpy as np

from .grid import Grid, Integers, grids
from .keys import Floats, Keys


def list_probs(keys: Keys, size: Integers, slates: Integers) -> Floats:
    """[n, k] P(the slate begins with its first items, down to each slot); on pads as in the slot above.

    slates: [n, k] candidates, top first, -1 pads.
    """
    found = np.ones(slates.shape)
    depth = (slates >= 0).sum(axis=1)
    for grid in grids(keys, size, depth, 3):
        found[grid.rows] = _beginnings(grid, slates[grid.rows])
    return found


def _beginnings(grid: Grid, slates: Integers) -> Floats:
    """[n, k] as `list_probs`: from the top key down, T_j(t) = int_t^inf f_j(x) T_(j - 1)(x) dx."""
    n, k = slates.shape
    each, probs = np.arange(n), np.ones((n, k))
    others = _others(grid, slates)
    above = None
    for slot in range(k):
        item, filled = np.maximum(slates[:, slot], 0), slates[:, slot] >= 0
        density = grid.density[each, item]
        so_far = density if above is None else density * above
        value = np.einsum("nN,nN,nN->n", so_far, others[slot], grid.weights)
        probs[:, slot] = np.where(filled, np.maximum(value, 0.0), probs[:, slot - 1] if slot else 1.0)
        if slot + 1 < k:
            above = grid.from_on(so_far)
    return probs


def _others(grid: Grid, slates: Integers) -> list[Floats]:
    """For each slot, [n, N] P(all keys below the node of those not in the slate down to that slot)."""
    n, k = slates.shape
    each, below = np.arange(n), grid.below
    left = np.ones(below.shape[:2], np.bool_)
    shown = np.nonzero(slates >= 0)
    left[shown[0], slates[shown]] = False
    if n == 1:
        product = below[:, left[0]].prod(axis=1)
    else:
        product = np.ones((n, below.shape[2]))
        for item in range(below.shape[1]):
            if left[:, item].all():
                product *= below[:, item]
            elif left[:, item].any():
                product[left[:, item]] *= below[left[:, item], item]
    found = [product]
    for slot in range(k - 1, 0, -1):
        factor = below[each, np.maximum(slates[:, slot], 0)]
        factor[slates[:, slot] < 0] = 1.0
        found.append(found[-1] * factor)
    return found[::-1]


def rank_probs(keys: Keys, size: Integers, length: Integers, slots: int) -> Floats:
    """[n, m, slots] P(candidate at rank), 0 beyond a row's `length` [n]."""
    found = np.zeros((len(size), keys.candidates, slots))
    for grid in grids(keys, size, length, 2 * slots + 3):
        found[grid.rows] = _ranks(grid, slots)
    return np.where(np.arange(slots) < length[:, None, None], found, 0.0)


def _ranks(grid: Grid, slots: int) -> Floats:
    """[n, m, slots]: a key at t has rank r if r of the others lie above, of which it is the polynomial that says it.

    The polynomials of the candidates before and after each one are multiplied: nothing is divided out, so that nothing
    cancels.
    """
    below = grid.below
    above = grid.above if slots > 1 else below  # of one slot nothing lies above
    n, m, _ = below.shape
    before = _products(below, above, slots)
    after = _products(below[:, ::-1], above[:, ::-1], slots)[:, ::-1]
    before *= grid.weighed[:, :, None, :]
    both = before @ after.swapaxes(-1, -2)
    return np.maximum(both.reshape(n, m, slots * slots) @ _summed(slots), 0.0)


def shown_rank_probs(keys: Keys, size: Integers, slates: Integers) -> Floats:
    """[n, k, k] P(shown item at rank) of full slates [n, k], among many candidates faster than `rank_probs`."""
    n, k = slates.shape
    found = np.zeros((n, k, k))
    for grid in grids(keys, size, np.full(n, k), 3 * k + 3):
        found[grid.rows] = _shown_ranks(grid, slates[grid.rows])
    return found


def served_grid(keys: Keys, slots: int) -> Grid:
    """The grid of one row, for lists of so many slots."""
    (grid,) = grids(keys, np.array([keys.candidates]), np.array([slots]))
    return grid


def served_probs(grid: Grid, slate: Integers) -> tuple[Floats, Floats]:
    """[k] P(a list begins with the slate down to each slot), and [k, k] P(shown item at rank), of one row."""
    begins = _beginnings(grid, slate[None])[0]
    return begins, begins[None] if len(slate) == 1 else _shown_ranks(grid, slate[None])[0]


def _shown_ranks(grid: Grid, slates: Integers) -> Floats:
    """[n, k, k] as `shown_rank_probs`."""
    n, k = slates.shape
    left = np.ones(grid.below.shape[:2], np.bool_)
    np.put_along_axis(left, slates, values=False, axis=1)
    others = np.nonzero(left)[1].reshape(n, -1)
    each, rest = np.arange(n)[:, None], np.hstack([others, slates[:, :1]])  # of all but the last of these the product
    start = _products(grid.below[each, rest], grid.above[each, rest], k)[:, -1]
    below, above = grid.below[each, slates], grid.above[each, slates]
    before = _products(below, above, k, start) * grid.weighed[each, slates][:, :, None, :]
    after = _products(below[:, ::-1], above[:, ::-1], k)[:, ::-1]
    both = before @ after.swapaxes(-1, -2)
    return np.maximum(both.reshape(n, k, k * k) @ _summed(k), 0.0)


def _products(below: Floats, above: Floats, slots: int, start: Floats | None = None) -> Floats:
    """[n, m, slots, N] the coefficients of the product of below + above x over the candidates before each one.

    start: [n, slots, N] what is multiplied, by default 1.
    """
    n, m, nodes = below.shape
    found = np.zeros((n, m, slots, nodes))
    if start is None:
        found[:, 0, 0] = 1.0
    else:
        found[:, 0] = start
    for item in range(m - 1):
        factor = below[:, item, None], above[:, item, None]
        reach = min(item + 2, slots) if start is None else slots
        np.multiply(found[:, item, :reach], factor[0], out=found[:, item + 1, :reach])
        if reach > 1:
            found[:, item + 1, 1:reach] += found[:, item, : reach - 1] * factor[1]
    return found


def _summed(slots: int) -> Floats:
    """[slots * slots, slots] what adds up the products of two coefficients by the sum of their degrees."""
    degree = np.add.outer(np.arange(slots), np.arange(slots)).reshape(-1)
    return (degree[:, None] == np.arange(slots)).astype(np.float64)


def ranks_by_sets(weights: list[float], slots: int) -> list[list[float]]:
    """[m][slots] P(candidate at rank) under Plackett-Luce: sums over the sets that may stand above a rank."""
    found = [[0.0] * slots for _ in weights]
    above = {0: 1.0}
    for rank in range(slots):
        longer: dict[int, float] = {}
        for shown, chance in above.items():
            left = [item for item in range(len(weights)) if not shown >> item & 1]
            share = chance / sum([weights[item] for item in left])
            for item in left:
                each = share * weights[item]
                found[item][rank] += each
                longer[shown | 1 << item] = longer.get(shown | 1 << item, 0.0) + each
        above = longer
    return found
