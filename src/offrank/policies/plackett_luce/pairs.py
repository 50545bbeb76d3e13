"""Probability of two items at two ranks: the second moments of a slate."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Floats
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

    Where a = b and j = k it is `rank_probs`; where only one of the two agrees it is zero. Sums over the sets that can
    be above, where candidates of equal score are one type; if those are too many, double quadrature.
    way: `types` or `quadrature`, by default the faster one.

    Raises:
        UsageError: negative scores, a length that is not between 1 and m, or an estimated cost
            (`pair_seconds`) above `most_seconds` or 4 GiB, raised before anything is computed.
    """
    weights = one_row(scores, "scores")
    slots = slots_of(length, len(weights))
    refusal = pair_refusal(weights, slots, most_seconds)
    if refusal:
        raise UsageError(refusal, PAIR_REMEDY)
    by_types = way == "types" or (way is None and _type_cost(weights, slots) <= _race_seconds(weights, slots))
    return _by_types(weights, slots) if by_types else _by_races(weights, slots)


PAIR_REMEDY = "round the scores to fewer levels (ties are cheap), shorten the slate, or allow more seconds"


def pair_seconds(scores: ArrayLike, length: int) -> float:
    """Estimated seconds that `pair_probs` takes on one core; infinite if memory does not suffice."""
    weights = weights_of(scores, "scores")
    slots = slots_of(length, len(weights))
    if 8.0 * (len(weights) * slots) ** 2 > MOST_BYTES:
        return math.inf
    return min(_type_cost(weights, slots), _race_seconds(weights, slots))


def pair_refusal(weights: Floats, slots: int, most_seconds: float = MOST_SECONDS) -> str:
    """The reason why pair probabilities are too expensive, with the cost; empty if they are not."""
    seconds = pair_seconds(weights, slots)
    if seconds <= most_seconds:
        return ""
    what = (
        f"pair probabilities of {len(weights)} candidates ({len(np.unique(weights))} distinct scores) in {slots} slots"
    )
    if math.isinf(seconds):
        return f"{what} would take {8 * (len(weights) * slots) ** 2 / 2**30:.3g} GiB"
    return f"{what} would take about {seconds:.3g} seconds, more than {most_seconds:g}"


def _type_cost(weights: Floats, slots: int) -> float:
    """Seconds for the sum over multisets of types; infinite where the states do not fit in memory."""
    counts = np.unique(weights, return_counts=True)[1]
    states = _kernels_pairs.numbering(counts, slots)[1]
    rank, types = np.arange(slots), len(counts)
    steps = states[:slots] * (rank**3 + rank**2 * types + 2 * types)
    widest = 8 * states[slots - 1] * (rank[-1] ** 2 + 1) + 8 * states[max(slots - 2, 0)] * types
    return float(steps.sum() * _SECONDS_PER_STEP) if widest <= MOST_BYTES else math.inf


def _race_seconds(weights: Floats, slots: int) -> float:
    """Seconds for the double quadrature: nodes^2 * pairs of items * pairs of ranks."""
    positive = np.sort(weights[weights > 0])[::-1]
    reached = min(slots, len(positive))
    if reached < 2:
        return math.inf
    last = positive[reached - 1 :].sum() / reached  # about the rate at which the last slot fills
    nodes = (8 + math.log(positive.sum() / last)) / min(0.22, 0.7 / math.sqrt(reached))
    m, places = len(positive), reached * (reached - 1) / 2
    heavy = min(m, 2 * reached)
    return nodes**2 * m * places * (m + 8 * heavy) * _SECONDS_PER_STEP * 0.6


def _by_types(weights: Floats, slots: int) -> Floats:
    """As `pair_probs`, by the sum over the sets that can be above."""
    levels, kinds, counts = np.unique(weights / max(weights.max(), 1e-300), return_inverse=True, return_counts=True)
    single, pairs = _kernels_pairs.type_pairs(levels, counts, slots)
    each = pairs / np.maximum(np.outer(counts, counts) - np.diag(counts), 1)  # over pairs of two candidates
    return _law((single / counts).T[kinds], lambda above, rank: each[rank, above][np.ix_(kinds, kinds)])


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
