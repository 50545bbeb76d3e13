"""Exact Plackett-Luce on arrays: rank probabilities, orders of a displayed set, and draws of both.

An exponential race gives the law: item i arrives at T_i ~ Exp(w_i), and the slate is the order of arrival.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Contexts, Floats, Integers
from .. import _kernels
from . import _kernels_draws, _kernels_orders, _kernels_races, _kernels_sets

Way = Literal["sets", "quadrature"]
"""How a law is computed: by a sum over sets of items, for few of them, or by an integral over the race."""

# Sums over sets take 2^m steps, for 64 rows at a time; beyond these sizes quadrature is faster.
_SECONDS_PER_PAIR = 130e-9  # times the root of the ranks; one core of a server of 2024
_MOST_IN_SETS, _MOST_ALONE, _SIDE_BY_SIDE, _MOST_IN_ORDERS = 13, 8, 64, 18

SLOW = 1e-3
"""Estimated seconds of a row from which its law is kept."""
_MOST = 4_000_000
"""Numbers that are kept, the last ones: 32 MB."""
_AT_ONCE = 1_000_000
"""Numbers that are computed at a time."""
_Key = tuple[bytes, int]


def rank_probs(scores: ArrayLike, length: int, way: Way | None = None) -> Floats:
    """[m, length] P(item at rank) under Plackett-Luce, exact; [n, m, length] for scores [n, m].

    The items race: T_i ~ Exp(w_i), P(a at j) = int w_a exp(-w_a t) P(j of the others have arrived by t) dt.
    Relative error below 1e-12 for any scores, ties and zeros; a zero comes after every positive score.

    Parameters:
        scores: [m] or [n, m] weights, not negative.
        length: number of ranks, from 1 to m.
        way: `sets` or `quadrature`, by default the faster one.

    Returns:
        [m, length] or [n, m, length] probabilities.

    Raises:
        UsageError: negative scores, or a length that is not between 1 and m.

    Examples:
        >>> offrank.policies.plackett_luce.rank_probs([2.0, 1.0], 2).round(2).tolist()
        [[0.67, 0.33], [0.33, 0.67]]
    """
    weights = weights_of(scores, "scores")
    rows = np.atleast_2d(weights)
    n, m = rows.shape
    slots = slots_of(length, m)
    logs = np.log(rows, out=np.full(rows.shape, -np.inf), where=rows > 0)
    law = rank_law(logs, np.full(n, m), np.full(n, slots), np.tile(np.arange(m), (n, 1)), slots, way)
    return law.reshape(*weights.shape, slots)


def few(size: Integers) -> bool:
    """Whether the sum over sets is the faster way for rows of so many candidates."""
    return bool(size.max(initial=0) <= (_MOST_IN_SETS if len(size) >= _SIDE_BY_SIDE else _MOST_ALONE))


def rank_law(
    log_weights: Floats, size: Integers, length: Integers, items: Integers, slots: int, way: Way | None = None
) -> Floats:
    """[n, q, slots] P(items[n, q] at rank) for rows of log-weights [n, m], 0 on pads; equal rows are solved once."""
    logs, law = np.ascontiguousarray(log_weights), np.zeros((*items.shape, slots))
    if way == "sets" or (way is None and few(size)):
        _kernels_sets.rank_probs(logs, size, length, items, law, logs=True)
    else:
        order = np.argsort(_kernels_races.log_keys(logs.view(np.uint64), size, length), kind="stable")
        _kernels_races.rank_rows(logs, size, length, items, order, law)
    return law


def rank_seconds(size: Integers, length: Integers) -> Floats:
    """[n] estimated seconds, at most, that `rank_law` takes by quadrature for rows of so many candidates and slots."""
    return np.asarray(_SECONDS_PER_PAIR * size * length**1.5)


class KnownLaws:
    """The laws of rows at all ranks that were computed last, by the weights of their candidates."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, Floats] = OrderedDict()
        self._numbers = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[KnownLaws], tuple[()]]:
        """Pickled empty: another process keeps its own."""
        return KnownLaws, ()

    def solved(self, logs: Floats, size: Integers, length: Integers, items: Integers, slots: int) -> Floats:
        """As `laws.rank_law`, of rows that were asked for before, in any order, without computing them again."""
        if rank_seconds(size, length).max(initial=0.0) < SLOW:
            return rank_law(logs, size, length, items, slots)
        inside = np.arange(logs.shape[1]) < size[:, None]
        order = np.argsort(np.where(inside, logs, np.inf), axis=1, kind="stable")
        place = np.argsort(order, axis=1, kind="stable")
        rising = np.take_along_axis(logs, order, axis=1)
        keys = [(rising[row, : size[row]].tobytes(), int(length[row])) for row in range(len(logs))]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        rows = np.array(sorted({key: row for row, key in enumerate(keys) if key not in known}.values()), np.int64)
        each = max(_AT_ONCE // (logs.shape[1] * max(slots, 1)), 1)
        for some in np.split(rows, range(each, len(rows), each)):
            every = np.where(inside[some], np.arange(logs.shape[1]), -1)
            for row, law in zip(some, rank_law(rising[some], size[some], length[some], every, slots), strict=True):
                known[keys[row]] = self._keep(keys[row], law[: size[row], : min(length[row], size[row])].copy())
        out = np.zeros((*items.shape, slots))
        for row, key in enumerate(keys):
            asked = np.flatnonzero(items[row] >= 0)
            out[row, asked, : known[key].shape[1]] = known[key][place[row, items[row, asked]]]
        return out

    def _keep(self, key: _Key, law: Floats) -> Floats:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = law
                self._numbers += law.size
            while self._numbers > _MOST:
                self._numbers -= self._kept.popitem(last=False)[1].size
        return law


def order_given_set(shown: ArrayLike, rest: ArrayLike, way: Way | None = None) -> Floats:
    """[l, l] P(shown item i at rank j | the displayed set), exact; [n, l, l] for shown [n, l] and rest [n].

    Parameters:
        shown: [l] or [n, l] weights of the displayed items, in any order.
        rest: total weight of the candidates not shown; [n] for shown [n, l].
        way: how it is computed; by default the faster way. Both give the same.

    Returns:
        [l, l] or [n, l, l] probabilities.

    Raises:
        UsageError: negative weights.

    Examples:
        >>> offrank.policies.plackett_luce.order_given_set([2.0, 1.0], 0.0).round(2).tolist()
        [[0.67, 0.33], [0.33, 0.67]]
    """
    weights = weights_of(shown, "shown")
    rows, hidden = _over_the_largest(np.atleast_2d(weights), rest)
    n, size = rows.shape
    law = np.empty((n, size, size))
    if way == "sets" or (way is None and size <= _MOST_IN_ORDERS):
        _kernels_sets.order_rows(rows, hidden, law)
    else:
        part = np.empty((size, size))
        for row in np.flatnonzero(hidden > 0):
            _kernels_orders.integrate(rows[row], hidden[row], part)
            law[row] = part.T
        if (hidden == 0).any():
            law[hidden == 0] = rank_probs(rows[hidden == 0], size, way)
    return law if weights.ndim == 2 else law[0]


def sample(scores: ArrayLike, length: int, n: int, rng: np.random.Generator) -> Integers:
    """[n, length] slates of item indices, top first, drawn by Plackett-Luce with weights `scores` [m].

    Items of weight zero come after all others, in uniform order.

    Parameters:
        scores: [m] weights, not negative.
        length: number of ranks, from 1 to m.
        n: number of slates.
        rng: NumPy's generator, which draws.

    Returns:
        [n, length] indices of items, top first.

    Raises:
        UsageError: negative scores, or a length that is not between 1 and m.

    Examples:
        >>> import numpy as np
        >>> offrank.policies.plackett_luce.sample([3.0, 2.0, 1.0], 2, 5, np.random.default_rng(0)).shape
        (5, 2)
    """
    weights = one_row(scores, "scores")
    slates = np.empty((n, slots_of(length, len(weights))), dtype=np.int64)
    _kernels_draws.draw_slates(weights, rng, slates)
    return slates


def sample_order_given_set(shown: ArrayLike, rest: float, n: int, rng: np.random.Generator) -> Integers:
    """[n, l] orders of a displayed set as indices into `shown`, top first; exact, O(l log l) each.

    Arguments as in `order_given_set`. The time u when the first item not shown arrives has density
    proportional to exp(-rest u) prod_i (1 - exp(-w_i u)), log-concave in log u; given u the shown
    items arrive independently, as exponentials cut off at u. This answers the question that
    paper non-shuffled-traffic leaves open (section 3.3).

    Parameters:
        shown: [l] weights of the displayed items.
        rest: total weight of the candidates not shown.
        n: number of orders.
        rng: NumPy's generator, which draws.

    Returns:
        [n, l] indices into `shown`, top first.

    Raises:
        UsageError: negative weights.

    Examples:
        >>> import numpy as np
        >>> offrank.policies.plackett_luce.sample_order_given_set([2.0, 1.0], 0.0, 5, np.random.default_rng(0)).shape
        (5, 2)
    """
    rows, hidden = _over_the_largest(one_row(shown, "shown")[None], rest)
    orders = np.empty((n, rows.shape[1]), dtype=np.int64)
    _kernels_draws.draw_orders(rows[0], hidden[0], rng, orders)
    return orders


def sample_rows(log_weights: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] one slate per row, by the Gumbel race: the largest log-weights plus Gumbel noise, in order."""
    keys = rng.gumbel(size=log_weights.shape)
    if (zero := log_weights == -np.inf).any():
        # exp(-1e6) is zero, so a zero weight stays behind every positive one, yet keeps its noise.
        inside = np.arange(keys.shape[1]) < contexts.size[:, None]
        lowest = np.ascontiguousarray(np.where(inside & ~zero, log_weights, 0.0).T).min(axis=0)
        log_weights = np.where(zero, lowest[:, None] - 1e6, log_weights)
    keys += log_weights
    slates, depth = np.full((len(keys), contexts.slots), -1), np.minimum(contexts.length, contexts.size)
    _kernels.top_k(keys, contexts.size, depth, np.empty(contexts.slots), slates, np.empty(len(keys), np.bool_))
    return slates


def weights_of(values: ArrayLike, name: str) -> Floats:
    """The values as non-negative finite weights, at least one along the last axis.

    Raises:
        UsageError: anything else.
    """
    weights = np.asarray(values, dtype=np.float64)
    if weights.ndim not in {1, 2} or weights.shape[-1] == 0:
        raise UsageError(f"{name} has shape {weights.shape}", "give [m] weights, or [n, m] for several contexts")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise UsageError(
            f"{name} contains a negative number or a missing one", "give Plackett-Luce weights of at least zero"
        )
    return weights


def one_row(values: ArrayLike, name: str) -> Floats:
    """The weights of one context.

    Raises:
        UsageError: several contexts, or no weights.
    """
    weights = weights_of(values, name)
    if weights.ndim != 1:
        raise UsageError(f"{name} has shape {weights.shape}", "give the weights of one context, [m]")
    return weights


def slots_of(length: int, size: int) -> int:
    """The checked length of a slate for so many candidates.

    Raises:
        UsageError: no such slate.
    """
    if not 1 <= length <= size or int(length) != length:
        raise UsageError(f"length is {length} for {size} candidates", "give a whole number, from 1 to the candidates")
    return int(length)


def _over_the_largest(shown: Floats, rest: ArrayLike) -> tuple[Floats, Floats]:
    """Weights [n, l] of displayed items and the total [n] of the others, divided by each row's largest shown weight."""
    hidden = np.asarray(rest, dtype=np.float64)
    if np.isnan(hidden).any() or (hidden < 0).any():
        raise UsageError(
            "rest is negative or not a number", "give the total weight of the candidates that are not shown"
        )
    largest = shown.max(axis=1)
    scale = np.where(largest > 0, largest, 1.0)
    with np.errstate(over="ignore"):
        return shown / scale[:, None], np.minimum(np.broadcast_to(hidden, len(shown)) / scale, 1e290)
