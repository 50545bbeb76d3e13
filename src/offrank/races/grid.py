"""The nodes of a race: panels between places where keys change, Gauss-Legendre nodes in each, and what holds there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .keys import Floats, Keys

Integers = NDArray[np.int64]

ORDER = 16
"""Nodes per panel."""
_STEP = 4.5
"""Width of a panel, in standard deviations of what a normal key would be there."""
_BLOCK, _NUMBERS = 256, 400_000


def _rule(order: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Nodes and weights between 0 and 1; [order, order] weights of the integrals up to each node, and from it on."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    values = np.polynomial.legendre.legvander(nodes, order)
    degree = np.arange(order)
    up_to = np.empty((order, order))  # of each Legendre polynomial, up to each node
    up_to[:, 0] = nodes + 1
    up_to[:, 1:] = (values[:, 2:] - values[:, :-2]) / (2 * degree[1:] + 1)
    basis = values[:, :order] * (degree + 0.5) * weights[:, None]  # node -> polynomial
    integrals = basis @ up_to.T / 2
    return (nodes + 1) / 2, weights / 2, integrals, weights[:, None] / 2 - integrals


NODES, WEIGHTS, UP_TO, _FROM_ON = _rule(ORDER)


@dataclass(frozen=True)
class Grid:
    """The keys of some rows on their nodes. Shapes: n rows, m candidates, N ascending nodes.

    rows: [n] their numbers. width: [n, panels]. density: [n, m, N]. lower: [n, m] whether a key may lie below all
    nodes. inside: [n, m] whether there is a candidate; where there is none, the key lies below all others.
    """

    rows: Integers
    width: Floats
    density: Floats
    lower: NDArray[np.bool_]
    inside: NDArray[np.bool_]

    @cached_property
    def weights(self) -> Floats:
        """[n, N] the weight of each node in an integral."""
        return np.asarray((self.width[:, :, None] * WEIGHTS).reshape(len(self.width), -1))

    @cached_property
    def weighed(self) -> Floats:
        """[n, m, N] density times weight."""
        return self.density * self.weights[:, None, :]

    @cached_property
    def below(self) -> Floats:
        """[n, m, N] P(key below the node)."""
        within, whole = self._within(self.density, UP_TO)
        whole = np.cumsum(whole, axis=-1)
        known = np.where(self.lower, np.maximum(1 - whole[..., -1], 0.0), ~self.inside)
        within += known[..., None, None]
        within[..., 1:, :] += whole[..., :-1, None]
        return within.reshape(self.density.shape)

    @cached_property
    def above(self) -> Floats:
        """[n, m, N] P(key above the node): a sum of its own, since one less the other would lose digits."""
        return self.from_on(self.density)

    def from_on(self, values: Floats) -> Floats:
        """[n, ..., N] the integral of values [n, ..., N] from each node on."""
        within, whole = self._within(values, _FROM_ON)
        within[..., :-1, :] += np.cumsum(whole[..., :0:-1], axis=-1)[..., ::-1, None]
        return within.reshape(values.shape)

    def _within(self, values: Floats, rule: Floats) -> tuple[Floats, Floats]:
        """[n, ..., panels, ORDER] integrals of each panel by a rule, and [n, ..., panels] over the whole of each."""
        width = self.width.reshape(len(self.width), *[1] * (values.ndim - 2), -1)
        panels = values.reshape(*values.shape[:-1], -1, ORDER)
        within = panels @ rule
        within *= width[..., None]
        return within, (panels @ WEIGHTS) * width


def grids(keys: Keys, size: Integers, depth: Integers, numbers_per_node: int = 1) -> Iterator[Grid]:
    """Grids of all rows that have a candidate and a rank, a few rows at a time.

    size, depth: [n] candidates and ranks of each row. numbers_per_node: that the caller keeps for each node and key.
    """
    raced = np.flatnonzero(np.minimum(size, depth) > 0)
    if len(raced) == len(size) == 1:
        yield _Layout.of(keys, size, depth).grid(raced, slice(None))
        return
    for start in range(0, len(raced), _BLOCK):
        block = raced[start : start + _BLOCK]
        layout = _Layout.of(keys.take(block), size[block], depth[block])
        order = np.argsort(layout.panels, kind="stable")[::-1]
        while len(order):
            each = layout.panels[order[0]] * ORDER * layout.inside.shape[1] * numbers_per_node
            some, order = np.split(order, [max(1, int(_NUMBERS // each))])
            yield layout.grid(block[some], some)


def _once(places: Floats, last: Floats) -> Floats:
    """[n, c'] the places [n, c] of each row in order, each once; then the `last` [n, 1] again. Most were clipped."""
    places.sort(axis=1)
    again = places[:, 1:] == places[:, :-1]
    places[:, 1:][again] = np.inf
    places.sort(axis=1)
    widest = places.shape[1] - int(again.sum(axis=1).min(initial=places.shape[1]))
    return np.minimum(places[:, : max(widest, 1)], last)


@dataclass(frozen=True)
class _Layout:
    """Where rows need their nodes. cost: [n, c] panels needed up to each of the places [n, c]."""

    keys: Keys
    inside: NDArray[np.bool_]
    low: Floats
    places: Floats
    cost: Floats

    @classmethod
    def of(cls, keys: Keys, size: Integers, depth: Integers) -> _Layout:
        own = keys.places()
        n, m, _ = own.shape
        inside = np.arange(m) < size[:, None]
        low, high = np.where(inside, own[:, :, 0], -np.inf), np.where(inside, own[:, :, -1], -np.inf)
        # Where as many keys as there are ranks lie above, no rank is decided.
        kept = np.minimum(depth, size)[:, None]
        first = np.take_along_axis(np.sort(low, axis=1), m - kept, axis=1)
        last = high.max(axis=1, keepdims=True)
        own = np.where(inside[:, :, None], own, first[:, :, None])
        places = _once(np.clip(own.reshape(n, -1), first, last), last)
        length = np.diff(places)
        middle = places[:, :-1] + length / 2
        rough = keys.roughness(middle)
        among = (middle[:, :, None] > low[:, None, :]) & (middle[:, :, None] < high[:, None, :])
        length *= np.sqrt(np.where(among, rough, 0.0).sum(axis=2)) / _STEP
        cost = np.concatenate([np.zeros((n, 1)), np.cumsum(length, axis=1)], axis=1)
        return cls(keys, inside, low, places, cost)

    @cached_property
    def panels(self) -> Integers:
        """[n] number of panels of each row."""
        return np.maximum(np.ceil(self.cost[:, -1]), 1.0).astype(np.int64)

    def grid(self, rows: Integers, which: Integers | slice) -> Grid:
        """The grid of some of the rows, with the panels of the row that needs most."""
        panels = int(self.panels[which].max())
        # One table of all rows for the interpolation: row by row, each beyond the last.
        cost, whole = self.cost[which], self.cost[which, -1:]
        shift = np.cumsum(whole + 1.0, axis=0) - (whole + 1.0)
        wanted = whole * (np.arange(1, panels) / panels)
        table = (cost + shift).reshape(-1), self.places[which].reshape(-1)
        edges = np.empty((len(rows), panels + 1))
        edges[:, 0], edges[:, -1] = self.places[which, 0], self.places[which, -1]
        edges[:, 1:-1] = np.interp((wanted + shift).reshape(-1), *table).reshape(wanted.shape)
        width = np.diff(edges)
        nodes = (edges[:, :-1, None] + width[:, :, None] * NODES).reshape(len(rows), -1)
        inside = self.inside[which]
        density = self.keys.take(which).density(nodes)
        if not inside.all():
            density[~inside] = 0.0
        return Grid(rows, width, density, inside & (self.low[which] < edges[:, :1]), inside)
