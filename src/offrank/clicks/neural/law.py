"""Clicks whose probability follows from the state of a recurrent network that has read the list down to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...folds.counts import join
from ...log.batch import Floats, Integers
from ..documents import SlateDocuments
from . import cells
from .cells import NetworkInput, Weights

HISTORIES = 1024
"""Number of click histories followed at once: all possible ones down to rank 11, random ones below."""

_ROWS = 2 * HISTORIES
"""Number of slates, or histories of slates, computed together: few enough for the cache."""

See = Callable[[SlateDocuments], NetworkInput]
"""Maps slates to the input of a network."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Recurrent:
    """P(C_k = 1 | clicks above) = sigmoid(output of the state at rank k), times the attraction where there is one.

    A pad or hole leaves the state as it is, and the click above a document is that on the nearest document above.
    """

    see: See
    weights: Weights
    slots: SlateDocuments

    def marginal(self) -> Floats:
        """[n, k] P(C_k = 1), exact down to rank 11; below, the mean over 1,024 random histories of each slate.

        Click probabilities are averaged over the histories, not clicks; `marginal_error` is the standard error.
        Histories are drawn with a seed made of the slate's documents: the same slate has the same
        probabilities, whatever else is in the batch.
        """
        return self._marginals[0]

    def marginal_error(self) -> Floats:
        """[n, k] standard error of `marginal`: 0 down to rank 11, at most .0157 below."""
        return self._marginals[1]

    def conditional(self, clicks: Floats) -> Floats:
        return self._walked(lambda rows, rank, _: clicks[rows, rank] > 0)[0]

    def sample(self, rng: np.random.Generator) -> Floats:
        draws = rng.random(self.slots.document.shape)
        return self._walked(lambda rows, rank, chance: draws[rows, rank] < chance)[1]

    def _walked(self, clicked: Callable[[slice, int, Floats], Flags]) -> tuple[Floats, Floats]:
        """(chance of a click, click) [n, k], rank by rank, with the clicks that `clicked` gives for these chances."""
        chances, clicks = np.zeros((2, *self.slots.document.shape))
        for first in range(0, len(chances), _ROWS):
            rows = slice(first, first + _ROWS)
            walk = Histories(self.see, self.weights, self.slots.take(rows))
            for rank in range(len(walk.shown)):
                chance = walk.read(rank)
                click = clicked(rows, rank, chance[0]) & walk.shown[rank]
                chances[rows, rank], clicks[rows, rank] = chance[0], click
                walk.follow(rank, click[None])
        return chances, clicks

    @cached_property
    def _marginals(self) -> tuple[Floats, Floats]:
        """(marginals, standard errors), computed once per distinct slate, of which there are often few."""
        coded = np.where(self.slots.shown, self.slots.document, -2)
        assert self.slots.query is not None
        coded = np.column_stack([coded, self.slots.query])
        slates, place = np.unique(coded, axis=0, return_inverse=True)
        n, k = slates.shape[0], slates.shape[1] - 1
        mean, error = np.zeros((n, k)), np.zeros((n, k))
        size = max(1, _ROWS >> max(k - 1, 0))
        for first in range(0, n, size):
            rows = slice(first, first + size)
            mean[rows], error[rows] = self._enumerated(slates[rows])
        place = place.reshape(len(coded))
        return mean[place], error[place]

    def _enumerated(self, coded: Integers) -> tuple[Floats, Floats]:
        """The marginals of slates [n, k + 1]: documents, -2 for none, and the query."""
        slates = coded[:, :-1]
        walk = Histories(self.see, self.weights, SlateDocuments(np.maximum(slates, -1), slates > -2, coded[:, -1]))
        mean, error = np.zeros(slates.shape), np.zeros(slates.shape)
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
    above (2: there is none). given: [k, n, 3 h] input of the gates from the shown documents.
    """

    def __init__(self, see: See, weights: Weights, slots: SlateDocuments) -> None:
        """Start with the empty history of each slate."""
        seen = see(slots)
        self.weights, self.shown = weights, np.ascontiguousarray(slots.shown.T)
        self.given = cells.shown_inputs(seen.shown, weights)
        self.clicks = cells.click_inputs(weights, np)
        self.attraction = None if seen.attraction is None else cells.sigmoid(seen.attraction, np)
        self.hidden = seen.start[None]
        self.recurrent = self.hidden @ weights["recurrent"]
        self.above = np.full(self.hidden.shape[:2], 2)
        self.weight = np.ones(self.hidden.shape[:2])

    def read(self, rank: int) -> Floats:
        """[s, n] the chance of a click at a rank; 0 where nothing is shown."""
        given = self.given[rank] + self.clicks[self.above]
        after = cells.gated(self.hidden, self.recurrent, given, self.weights, np)
        self.hidden = np.where(self.shown[rank][:, None], after, self.hidden)
        chance = cells.sigmoid(cells.out(self.hidden, self.weights), np) * self.shown[rank]
        self.recurrent = self.hidden @ self.weights["recurrent"]
        return chance if self.attraction is None else chance * self.attraction[rank]

    def follow(self, rank: int, click: Flags) -> None:
        """Extend each history by the click [s, n] at this rank."""
        self.above = np.where(self.shown[rank], click, self.above)

    def split(self, rank: int, chance: Floats) -> None:
        """Extend each history in both ways, with and without a click."""
        self.weight = np.concatenate([self.weight * (1 - chance), self.weight * chance])
        self.hidden, self.recurrent = np.tile(self.hidden, (2, 1, 1)), np.tile(self.recurrent, (2, 1, 1))
        self.above = np.concatenate([np.where(self.shown[rank], 0, self.above), np.ones_like(self.above)])

    def redrawn(self, chance: Floats, rng: np.random.Generator) -> Floats:
        """Resample as many histories of each slate, independently by their weights; returns the chance of each."""
        drawn = rng.choice(len(chance), len(chance), p=self.weight[:, 0] / self.weight[:, 0].sum())
        self.hidden, self.recurrent, self.above = self.hidden[drawn], self.recurrent[drawn], self.above[drawn]
        self.weight = np.full(self.weight.shape, 1 / len(chance))
        return chance[drawn]
