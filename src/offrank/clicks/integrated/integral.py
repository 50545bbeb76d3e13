"""Likelihoods with each document's attraction integrated out, on a grid of logits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...log.batch import Floats, Integers
from ..counts import Counts
from ..priors import Beta
from . import _kernels

_EDGE = 16.0
"""Attractions are looked for between expit(-16) and expit(16)."""
_FINEST = 10
"""Steps of logits are 2^-10 at least."""


class Chances(NamedTuple):
    """P(click) = false + (hit - false) attraction: hit [cells] for the attracted, false [cells] for the others."""

    hit: Floats
    false: Floats


class Expected(NamedTuple):
    """What a pass over the documents says.

    height: log-likelihood. attracted: [cells, 2] expected clicks and skips of the attracted. logs: [2] sums over
    documents of the expected log of the attraction and of one less it. mean, variance: [d] of the attraction.
    """

    height: float
    attracted: Floats
    logs: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Grid:
    """Attractions whose logits are evenly spaced: sums over them are integrals, but for an error of e^(-pi^2)."""

    logits: Floats

    @classmethod
    def of(cls, clicks: float) -> Grid:
        """Fine enough for a document with so many clicks: a posterior's deviation is 1 / sqrt(clicks) or more."""
        halvings = min(_FINEST, int(np.ceil(np.log2(clicks + 1.0) / 2)))
        return cls(np.linspace(-_EDGE, _EDGE, int(2 * _EDGE) * 2**halvings + 1))

    @property
    def widest(self) -> int:
        """How many nodes there are to a logit."""
        return (len(self.logits) - 1) // int(2 * _EDGE)

    @cached_property
    def nodes(self) -> Floats:
        """[3, nodes] attraction, its logarithm, and that of one less it."""
        log_u, log_v = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)
        return np.stack([np.exp(log_u), log_u, log_v])

    def log_prior(self, prior: Beta) -> Floats:
        """[nodes] log-probabilities, which sum to one."""
        density = prior.a * self.nodes[1] + prior.b * self.nodes[2]
        top = density.max()
        return np.asarray(density - top - np.log(np.exp(density - top).sum()))

    def slopes(self, prior: Beta, logs: Floats) -> tuple[float, float, float]:
        """The expected log-density of a document with expected logs [2], with its derivatives by a and b."""
        log_prior = self.log_prior(prior)
        by = logs - self.nodes[1:] @ np.exp(log_prior)
        constant = log_prior[0] - prior.a * self.nodes[1, 0] - prior.b * self.nodes[2, 0]
        return float(prior.a * logs[0] + prior.b * logs[1] + constant), float(by[0]), float(by[1])


@dataclass(frozen=True)
class Integral:
    """Counts by document, and the part of the grid where each document's posterior has its mass.

    first: [d + 1]; cell, clicked, skipped: [c]; low, stride, count: [d].
    """

    grid: Grid
    first: Integers
    cell: Integers
    clicked: Floats
    skipped: Floats
    windows: tuple[Integers, Integers, Integers]

    @classmethod
    def of(cls, counts: Counts) -> Integral:
        """Posteriors anywhere on the grid: to be narrowed before use."""
        _, clicks = counts.by_document()
        first = np.searchsorted(counts.document, np.arange(counts.documents + 1))
        low, stride, count = np.zeros((3, counts.documents), np.int64)
        grid = Grid.of(float(clicks.max()))
        skipped = counts.shown - counts.clicked
        return cls(grid, first, counts.cell, counts.clicked, skipped, (low, stride, count))

    def narrowed(self, chances: Chances, prior: Beta) -> Integral:
        """With the nodes that matter at these parameters."""
        low, stride, count = (np.empty_like(part) for part in self.windows)
        tables = _log_chances(self.grid, chances)
        _kernels.narrow(*self._entries, self.grid.log_prior(prior), *tables, self.grid.widest, low, stride, count)
        return replace(self, windows=(low, stride, count))

    def expect(self, chances: Chances, prior: Beta) -> Expected:
        """The likelihood, and what is expected of what is hidden."""
        nodes, moments = self.grid.nodes, np.empty((len(self.first) - 1, 2))
        hidden = _attracted(self.grid, chances)
        tables = (self.grid.log_prior(prior), *_log_chances(self.grid, chances), *hidden, nodes)
        height, attracted, logs = _kernels.expect(*self._entries, *tables, *self.windows, moments)
        return Expected(height, attracted, logs, *moments.T)

    @property
    def _entries(self) -> tuple[Integers, Integers, Floats, Floats]:
        return self.first, self.cell, self.clicked, self.skipped


def _log_chances(grid: Grid, chances: Chances) -> tuple[Floats, Floats]:
    """[cells, nodes] log-probabilities of a click and of none."""
    hit, false, (u, log_u, _), v = *_columns(chances), grid.nodes, np.exp(grid.nodes[2])
    if not chances.false.any():
        return np.log(hit) + log_u, np.log((1 - hit) * u + v)
    return np.log(hit * u + false * v), np.log((1 - hit) * u + (1 - false) * v)


def _attracted(grid: Grid, chances: Chances) -> tuple[Floats, Floats]:
    """[cells, nodes] P(attracted | click), empty where it is one, and P(attracted | no click)."""
    hit, false, u, v = *_columns(chances), grid.nodes[0], np.exp(grid.nodes[2])
    missed = (1 - hit) * u / ((1 - hit) * u + (1 - false) * v)
    if not chances.false.any():
        return np.empty((0, 0)), missed
    return hit * u / (hit * u + false * v), missed


def _columns(chances: Chances) -> tuple[Floats, Floats]:
    return chances.hit[:, None], chances.false[:, None]
