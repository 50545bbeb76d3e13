"""The recurrent cell in plain arithmetic, for prediction with NumPy and training with JAX: `xp` is either of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Array = Any
"""An array of NumPy or of JAX."""

Weights = Mapping[str, Array]
"""Arrays by name."""


@dataclass(frozen=True)
class NetworkInput:
    """The input of a network from slates, before any click. Ranks come first: k ranks, n slates.

    start: [n, h] the state above the first rank. shown: [k, n, f] the input at each rank, besides the last click.
    attraction: [k, n] logit of the click on a document that is examined; None where the state alone decides.
    """

    start: Array
    shown: Array
    attraction: Array | None


def shown_inputs(shown: Array, weights: Weights) -> Array:
    """[..., 3 h] input of the gates from the shown documents, without clicks."""
    width = shown.shape[-1]
    return shown @ weights["input"][:width] + weights["bias"]


def click_inputs(weights: Weights, xp: Any) -> Array:
    """[3, 3 h] input of the gates from the click above: skipped, clicked, and zeros where nothing is above."""
    both = weights["click"] @ weights["input"][-weights["click"].shape[1] :]
    return xp.concatenate([both, xp.zeros_like(both[:1])])


def click_vectors(previous: Array, weights: Weights) -> Array:
    """[..., c] embedding of the click above: that of a skip or of a click, zeros where nothing is above (2)."""
    skipped, clicked = weights["click"][0], weights["click"][1]
    # By arithmetic, because the gradient of a look-up in two rows would be a very slow loop.
    return (previous == 0)[..., None] * skipped + (previous == 1)[..., None] * clicked


def step(hidden: Array, given: Array, weights: Weights, xp: Any) -> Array:
    """The next state of a gated recurrent unit (Cho et al. 2014): hidden [..., h], given [..., 3 h]."""
    return gated(hidden, hidden @ weights["recurrent"], given, weights, xp)


def gated(hidden: Array, recurrent: Array, given: Array, weights: Weights, xp: Any) -> Array:
    """The next state, where recurrent = hidden @ recurrent weights is given."""
    h = hidden.shape[-1]
    gates = sigmoid(recurrent[..., : 2 * h] + given[..., : 2 * h], xp)
    keep, reset = gates[..., :h], gates[..., h:]
    new = xp.tanh(given[..., 2 * h :] + reset * (recurrent[..., 2 * h :] + weights["recurrent_bias"]))
    return new + keep * (hidden - new)


def out(hidden: Array, weights: Weights) -> Array:
    """[...] logit of a click, or of examination."""
    return hidden @ weights["output"] + weights["output_bias"][0]


def sigmoid(x: Array, xp: Any) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    return 0.5 + 0.5 * xp.tanh(0.5 * x)
