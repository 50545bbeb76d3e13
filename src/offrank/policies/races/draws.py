"""Exact draws: slates, and orders of a displayed set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import UsageError
from ...log.batch import Contexts, Floats, Integers
from . import _kernels_draws
from .arguments import slots_of, weights_of
from .orders import rests_of


def sample(scores: ArrayLike, length: int, n: int, rng: np.random.Generator) -> Integers:
    """[n, length] slates of item indices, top first, drawn by Plackett-Luce with weights `scores` [m].

    Items of weight zero come after all others, in uniform order.

    Raises:
        UsageError: negative scores, or a length that is not between 1 and m.
    """
    weights = _one_row(scores, "scores")
    slates = np.empty((n, slots_of(length, len(weights))), dtype=np.int64)
    _kernels_draws.draw_slates(weights, rng, slates)
    return slates


def sample_order_given_set(shown: ArrayLike, rest: float, n: int, rng: np.random.Generator) -> Integers:
    """[n, l] orders of a displayed set as indices into `shown`, top first; exact, O(l log l) each.

    Arguments as in `order_given_set`. The time u when the first item not shown arrives has density
    proportional to exp(-rest u) prod_i (1 - exp(-w_i u)), log-concave in log u; given u the shown
    items arrive independently, as exponentials cut off at u. This answers the question that
    paper non-shuffled-traffic leaves open (section 3.3).

    Raises:
        UsageError: negative weights.
    """
    weights = _one_row(shown, "shown")
    hidden = rests_of(rest, 1)[0]
    scale = weights.max() if weights.max() > 0 else 1.0
    orders = np.empty((n, len(weights)), dtype=np.int64)
    _kernels_draws.draw_orders(weights / scale, min(hidden / scale, 1e290), rng, orders)
    return orders


def sample_rows(log_weights: Floats, contexts: Contexts, rng: np.random.Generator) -> Integers:
    """[n, k] one slate per row, by the Gumbel race: the largest log-weights plus Gumbel noise, in order."""
    slates = np.full((len(log_weights), contexts.slots), -1)
    noise = rng.gumbel(size=log_weights.shape)
    _kernels_draws.race_rows(log_weights, noise, contexts.size, contexts.length, slates)
    return slates


def _one_row(values: ArrayLike, name: str) -> Floats:
    weights = weights_of(values, name)
    if weights.ndim != 1:
        raise UsageError(f"{name} has shape {weights.shape}", "give the weights of one context, [m]")
    return weights
