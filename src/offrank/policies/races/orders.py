"""Probability of an item at a rank, given the displayed set (paper non-shuffled-traffic, appendix A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Floats
from . import _kernels_orders
from .arguments import weights_of


def order_given_set(shown: ArrayLike, rest: ArrayLike) -> Floats:
    """[l, l] P(shown item i at rank j | the displayed set), exact; [n, l, l] for shown [n, l] and rest [n].

    shown: Plackett-Luce weights of the displayed items, in any order. rest: total weight of the
    candidates not shown. P(order | set) is proportional to prod_j 1 / (rest + w(items from j down)): not
    Plackett-Luce unless rest = 0, and uniform as rest grows. Sums over sets up to 18 items (Lemmas 1-2),
    quadrature beyond. A shown weight of zero is the limit of small ones; with rest = 0 it comes after
    every positive one.

    Raises:
        UsageError: negative weights.
    """
    weights = weights_of(shown, "shown")
    rows = np.atleast_2d(weights)
    law = np.empty((*rows.shape, rows.shape[1]))
    _kernels_orders.order_rows(rows, rests_of(rest, len(rows)), law)
    return law if weights.ndim == 2 else law[0]


def rests_of(rest: ArrayLike, rows: int) -> Floats:
    """[rows] total weights of the candidates not shown.

    Raises:
        UsageError: negative, or not a number.
    """
    hidden = np.asarray(rest, dtype=np.float64)
    if np.isnan(hidden).any() or (hidden < 0).any():
        raise UsageError("rest is negative or not a number", "give the total weight of the candidates not shown")
    return np.array(np.broadcast_to(hidden, rows))
