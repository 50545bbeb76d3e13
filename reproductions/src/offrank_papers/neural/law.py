"""Clicks whose probability follows from the state of a recurrent network that has read the list down to them.

The cell is plain arithmetic, for prediction with NumPy and for training with JAX: `xp` is either of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offrank.clicks.documents import SlateDocuments
from offrank.log.batch import Floats, Integers
from offrank.sums.counts import join

HISTORIES = 1024
"""Number of click histories followed at once: all possible ones down to rank 11, random ones below."""

_ROWS = 2 * HISTORIES
"""Number of slates, or histories of slates, computed together: few enough for the cache."""

Array = Any
"""An array of NumPy or of JAX."""

Arrays = Mapping[str, Array]
"""Arrays by name."""

Flags = NDArray[np.bool_]


# The network --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NetworkInput:
    """The input of a network from slates, before any click. Ranks come first: k ranks, n slates.

    start: [n, h] the state above the first rank. shown: [k, n, f] the input at each rank, besides the last click.
    attraction: [k, n] logit of the click on a document that is examined; None where the state alone decides.
    """

    start: Array
    shown: Array
    attraction: Array | None


class Network(ABC):
    """A model's network; equal, hashable ones share compiled code."""

    @abstractmethod
    def inputs(self, rows: Arrays, ranks: int, weights: Arrays, xp: Any) -> NetworkInput:
        """The input of the network. rows: document [k, n, .] and query [n, .] embeddings."""


def click_vectors(previous: Array, weights: Arrays) -> Array:
    """[..., c] embedding of the click above: that of a skip or of a click, zeros where nothing is above (2)."""
    skipped, clicked = weights["click"][0], weights["click"][1]
    # By arithmetic, because the gradient of a look-up in two rows would be a very slow loop.
    return (previous == 0)[..., None] * skipped + (previous == 1)[..., None] * clicked


def step(hidden: Array, given: Array, weights: Arrays, xp: Any) -> Array:
    """The next state of a gated recurrent unit (Cho et al. 2014): hidden [..., h], given [..., 3 h]."""
    h, recurrent = hidden.shape[-1], hidden @ weights["recurrent"]
    gates = sigmoid(recurrent[..., : 2 * h] + given[..., : 2 * h], xp)
    keep, reset = gates[..., :h], gates[..., h:]
    new = xp.tanh(given[..., 2 * h :] + reset * (recurrent[..., 2 * h :] + weights["recurrent_bias"]))
    return new + keep * (hidden - new)


def out(hidden: Array, weights: Arrays) -> Array:
    """[...] logit of a click, or of examination."""
    return hidden @ weights["output"] + weights["output_bias"][0]


def sigmoid(x: Array, xp: Any) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    return 0.5 + 0.5 * xp.tanh(0.5 * x)


# The law ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recurrent:
    """P(C_k = 1 | clicks above) = sigmoid(output of the state at rank k), times the attraction where there is one.

    tables: embeddings of documents and queries by name. slots: slates whose queries are known. A pad or hole leaves the
    state as it is, and the click above a document is that on the nearest document above.
    """

    network: Network
    weights: Arrays
    tables: Arrays
    slots: SlateDocuments

    def marginal(self) -> Floats:
        """[n, k] P(C_k = 1), exact down to rank 11; below, the mean over 1,024 random histories of each slate.

        Click probabilities are averaged over the histories, not clicks; `marginal_error` is the standard error.
        Histories are drawn with a seed made of the slate's documents: the same slate has the same
        probabilities, whatever else is in the batch.
        """
        return np.asarray(self._marginals[0])

    def marginal_error(self) -> Floats:
        """[n, k] standard error of `marginal`: 0 down to rank 11, at most .0157 below."""
        return np.asarray(self._marginals[1])

    def conditional(self, clicks: Floats) -> Floats:
        return self._walked(lambda rows, rank, _: clicks[rows, rank] > 0)[0]

    def sample(self, rng: np.random.Generator) -> Floats:
        draws = rng.random(self.slots.document.shape)
        return self._walked(lambda rows, rank, chance: draws[rows, rank] < chance)[1]

    def _histories(self, slots: SlateDocuments) -> Histories:
        """The empty history of each slate."""
        rows = {"document": self.tables["document"][slots.document.T], "query": self.tables["query"][slots.query]}
        seen = self.network.inputs(rows, slots.document.shape[1], self.weights, np)
        return Histories(seen, self.weights, np.ascontiguousarray(slots.shown.T))

    def _walked(self, clicked: Callable[[slice, int, Floats], Flags]) -> tuple[Floats, Floats]:
        """(chance of a click, click) [n, k], rank by rank, with the clicks that `clicked` gives for these chances."""
        chances, clicks = np.zeros((2, *self.slots.document.shape))
        for first in range(0, len(chances), _ROWS):
            rows = slice(first, first + _ROWS)
            walk = self._histories(self.slots.take(rows))
            for rank in range(len(walk.shown)):
                chance = walk.read(rank)
                click = clicked(rows, rank, chance[0]) & walk.shown[rank]
                chances[rows, rank], clicks[rows, rank] = chance[0], click
                walk.follow(rank, click[None])
        return chances, clicks

    @cached_property
    def _marginals(self) -> Floats:
        """[2, n, k] marginals and their standard errors, computed once per distinct slate, of which there are few."""
        assert self.slots.query is not None
        coded = np.column_stack([np.where(self.slots.shown, self.slots.document, -2), self.slots.query])
        slates, place = np.unique(coded, axis=0, return_inverse=True)
        found = np.zeros((2, len(slates), slates.shape[1] - 1))
        size = max(1, _ROWS >> max(found.shape[2] - 1, 0))
        for first in range(0, len(slates), size):
            rows = slice(first, first + size)
            found[:, rows] = self._enumerated(slates[rows])
        return found[:, place.ravel()]

    def _enumerated(self, coded: Integers) -> tuple[Floats, Floats]:
        """The marginals of slates [n, k + 1]: documents, -2 for none, and the query."""
        slates = coded[:, :-1]
        walk = self._histories(SlateDocuments(np.maximum(slates, -1), slates > -2, coded[:, -1]))
        mean, error = np.zeros((2, *slates.shape))
        rng = None
        for rank in range(slates.shape[1]):
            chance = walk.read(rank)
            mean[:, rank] = (walk.weight * chance).sum(axis=0)
            if rng is not None:
                error[:, rank] = chance.std(axis=0, ddof=1) / np.sqrt(len(chance))
            elif 2 * len(chance) <= HISTORIES or rank == slates.shape[1] - 1:
                walk.split(rank, chance)
                continue
            else:
                rng = np.random.default_rng(np.atleast_1d(join(*slates.T)).view(np.uint64))
                chance = walk.redrawn(chance, rng)
            walk.follow(rank, (rng.random(chance.shape) < chance) & walk.shown[rank])
        return mean, error


class Histories:
    """s histories of clicks on each of n slates, read from the top.

    weight: [s, n] probability of each. hidden: [s, n, h] the state; above: [s, n] the click on the nearest document
    above (2: there is none), or [2, s / 2, n] where histories that differ in it alone still share a state.
    given: [k, n, 3 h] input of the gates from the shown documents; clicks: [3, 3 h] from the click above.
    """

    def __init__(self, seen: NetworkInput, weights: Arrays, shown: Flags) -> None:
        """Start with the empty history of each slate. shown: [k, n]."""
        width = seen.shown.shape[-1]
        self.weights, self.shown = weights, shown
        self.given = seen.shown @ weights["input"][:width] + weights["bias"]
        self.clicks = click_vectors(np.arange(3), weights) @ weights["input"][width:]
        self.attraction = None if seen.attraction is None else sigmoid(seen.attraction, np)
        self.hidden = seen.start[None]
        self.above = np.full(self.hidden.shape[:2], 2)
        self.weight = np.ones(self.hidden.shape[:2])

    def read(self, rank: int) -> Floats:
        """[s, n] the chance of a click at a rank; 0 where nothing is shown."""
        after = step(self.hidden, self.given[rank] + self.clicks[self.above], self.weights, np)
        hidden = np.where(self.shown[rank][:, None], after, self.hidden)
        self.hidden = hidden.reshape(*self.weight.shape, -1)
        self.above = self.above.reshape(self.weight.shape)
        chance = sigmoid(out(self.hidden, self.weights), np) * self.shown[rank]
        return np.asarray(chance if self.attraction is None else chance * self.attraction[rank])

    def follow(self, rank: int, click: Flags) -> None:
        """Extend each history by the click [s, n] at this rank."""
        self.above = np.where(self.shown[rank], click, self.above)

    def split(self, rank: int, chance: Floats) -> None:
        """Extend each history in both ways, with and without a click."""
        self.weight = np.concatenate([self.weight * (1 - chance), self.weight * chance])
        self.above = np.stack([np.where(self.shown[rank], 0, self.above), np.ones_like(self.above)])

    def redrawn(self, chance: Floats, rng: np.random.Generator) -> Floats:
        """Resample as many histories of each slate, independently by their weights; returns the chance of each."""
        drawn = rng.choice(len(chance), len(chance), p=self.weight[:, 0] / self.weight[:, 0].sum())
        self.hidden, self.above = self.hidden[drawn], self.above[drawn]
        self.weight = np.full(self.weight.shape, 1 / len(chance))
        return chance[drawn]
