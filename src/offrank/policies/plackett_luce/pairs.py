"""Probability of two items at two ranks: the second moments of a slate."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Floats, Integers
from . import _kernels_pair_races, _kernels_pairs
from .laws import one_row, rank_probs, slots_of, weights_of

PairWay = Literal["types", "quadrature"]
"""How a law of pairs is computed."""

MOST_SECONDS = 60.0
MOST_BYTES = 4 * 2**30
_SECONDS_PER_STEP = 1.2e-9  # one core of a server of 2024


def pair_probs(
    scores: ArrayLike, length: int, most_seconds: float = MOST_SECONDS, way: PairWay | None = None
) -> Floats:
    """[m, length, m, length] P(item a at rank j and item b at rank k) under Plackett-Luce, exact.

    Where a = b and j = k it is `rank_probs`; where only one of the two agrees it is zero. Sums over the sets that
    can be above, where candidates of equal score are one type; if those are too many, double quadrature.

    Parameters:
        scores: [m] weights, not negative.
        length: number of ranks, from 1 to m.
        most_seconds: the estimated cost, in seconds, above which it is refused.
        way: `types` or `quadrature`, by default the faster one.

    Returns:
        [m, length, m, length] probabilities.

    Raises:
        UsageError: negative scores, a length that is not between 1 and m, or an estimated cost
            (`pair_seconds`) above `most_seconds` or 4 GiB, raised before anything is computed.

    Examples:
        >>> offrank.policies.plackett_luce.pair_probs([2.0, 1.0], 2).shape
        (2, 2, 2, 2)
    """
    weights = one_row(scores, "scores")
    return pair_laws(weights[None], slots_of(length, len(weights)), most_seconds, way)[0]


def pair_laws(weights: Floats, slots: int, most_seconds: float = MOST_SECONDS, way: PairWay | None = None) -> Floats:
    """[g, m, slots, m, slots] as `pair_probs`, for the weights [g, m] of several contexts.

    Raises:
        UsageError: the estimated cost of one of them is too high.
    """
    by_types, by_races = _type_seconds(weights, slots), _race_seconds(weights, slots)
    dear = _too_large(weights.shape[1], slots) | (np.minimum(by_types, by_races) > most_seconds)
    if dear.any():
        raise UsageError(_refusal(weights[dear.argmax()], slots, most_seconds), PAIR_REMEDY)
    typed = by_types <= by_races if way is None else np.full(len(weights), way == "types")
    laws = np.zeros((len(weights), *(weights.shape[1], slots) * 2))
    _kernels_pairs.type_laws(weights, slots, np.flatnonzero(typed), laws)
    for row in np.flatnonzero(~typed):
        laws[row] = _by_races(weights[row], slots)
    return laws


PAIR_REMEDY = "round the scores to fewer levels (ties are cheap), shorten the slate, or allow more seconds"


def pair_seconds(scores: ArrayLike, length: int) -> float:
    """Estimated seconds that `pair_probs` takes on one core; infinite if memory does not suffice.

    Parameters:
        scores: [m] weights, not negative.
        length: number of ranks, from 1 to m.

    Returns:
        Seconds; infinite if memory does not suffice.

    Examples:
        >>> offrank.policies.plackett_luce.pair_seconds([2.0, 1.0], 2) < 1
        True
    """
    weights = weights_of(scores, "scores")
    slots = slots_of(length, len(weights))
    if _too_large(len(weights), slots):
        return math.inf
    return float(min(_type_seconds(weights[None], slots)[0], _race_seconds(weights[None], slots)[0]))


def _too_large(items: int, slots: int) -> bool:
    """Whether one law does not fit in memory."""
    return 8.0 * (items * slots) ** 2 > MOST_BYTES


def _refusal(weights: Floats, slots: int, most_seconds: float) -> str:
    """Why pair probabilities are too expensive, with the cost."""
    seconds = pair_seconds(weights, slots)
    what = (
        f"pair probabilities of {len(weights)} candidates ({len(np.unique(weights))} distinct scores) in {slots} slots"
    )
    if math.isinf(seconds):
        return f"{what} would take {8 * (len(weights) * slots) ** 2 / 2**30:.3g} GiB"
    return f"{what} would take about {seconds:.3g} seconds, more than {most_seconds:g}"


def _type_seconds(weights: Floats, slots: int) -> Floats:
    """[g] seconds for the sum over multisets of types; infinite where the states do not fit in memory."""
    in_order = np.sort(weights, axis=1)
    new = np.column_stack([np.ones(len(weights), np.bool_), in_order[:, 1:] != in_order[:, :-1]])
    levels, which = np.unique(new, axis=0, return_inverse=True)
    each = np.array([_tie_seconds(np.bincount(np.cumsum(level) - 1), slots) for level in levels])
    return np.asarray(each[which.reshape(-1)])


def _tie_seconds(counts: Integers, slots: int) -> float:
    """Seconds for types of so many items each."""
    states = _kernels_pairs.numbering(counts, slots)[1]
    rank, types = np.arange(slots), len(counts)
    steps = states[:slots] * (rank**3 + rank**2 * types + 2 * types)
    widest = 8 * states[slots - 1] * (rank[-1] ** 2 + 1) + 8 * states[max(slots - 2, 0)] * types
    return float(steps.sum() * _SECONDS_PER_STEP) if widest <= MOST_BYTES else math.inf


def _race_seconds(weights: Floats, slots: int) -> Floats:
    """[g] seconds for the double quadrature: nodes^2 * pairs of items * pairs of ranks."""
    downwards = -np.sort(-weights, axis=1)
    items = np.count_nonzero(weights > 0, axis=1)
    reached = np.minimum(slots, items)
    beyond = np.flip(np.cumsum(np.flip(downwards, axis=1), axis=1), axis=1)  # the sum from each rank on
    raced = np.maximum(reached, 2)
    last = np.take_along_axis(beyond, np.minimum(raced, weights.shape[1])[:, None] - 1, axis=1)[:, 0] / raced
    with np.errstate(divide="ignore", invalid="ignore"):  # the rate at which the last slot fills, about
        nodes = (8 + np.log(beyond[:, 0] / last)) / np.minimum(0.22, 0.7 / np.sqrt(raced))
        pairs = items * (items + 8 * np.minimum(items, 2 * reached)) * (reached * (reached - 1) / 2)
        seconds = nodes**2 * pairs * _SECONDS_PER_STEP * 0.6
    return np.where(reached < 2, math.inf, seconds)


def _by_races(weights: Floats, slots: int) -> Floats:
    """As `pair_probs`, by quadrature; scores of zero come last, in uniform order."""
    order = np.argsort(-weights, kind="stable")
    some, none = np.split(order, [np.count_nonzero(weights)])
    reached, single = min(slots, len(some)), rank_probs(weights, slots)
    pairs = np.zeros((len(some), reached * (reached - 1) // 2, len(some)))
    if reached > 1:
        _kernels_pair_races.pair_race(weights[some] / weights.max(), reached, pairs)
    place = {ranks: number for number, ranks in enumerate(combinations(range(reached), 2))}

    def both(above: int, rank: int) -> Floats:
        found = np.zeros((len(weights), len(weights)))
        if rank < reached:
            found[np.ix_(some, some)] = np.maximum(pairs[:, place[above, rank]], 0.0)
        elif above < reached:
            found[np.ix_(some, none)] = single[some, above, None] / len(none)
        else:
            found[np.ix_(none, none)] = 1.0 / (len(none) * (len(none) - 1))
        return found

    return _law(single, both)


def _law(single: Floats, both: Callable[[int, int], Floats]) -> Floats:
    """[m, k, m, k] from P(item at rank) [m, k], and for two ranks P(item above, other item at rank) [m, m]."""
    law = np.zeros(single.shape * 2)
    item, place = np.indices(single.shape)
    law[item, place, item, place] = single
    for above, rank in combinations(range(single.shape[1]), 2):
        found = both(above, rank)
        np.fill_diagonal(found, 0.0)
        law[:, above, :, rank] = found
        law[:, rank, :, above] = found.T
    return law
