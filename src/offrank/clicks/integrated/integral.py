"""Likelihoods with each document's attraction integrated out, on a grid of logits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...log.batch import Floats, Integers
from ..counts import Counts
from ..priors import Beta
from . import _kernels

_EDGE = 16.0
"""Attractions are between expit(-16) and expit(16)."""
_FINEST = 10
"""The level of the smallest steps: 2^-11."""


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
    """Attractions whose logits are evenly spaced from -16 to 16, at several levels of fineness.

    Sums over them are integrals by the trapezoidal rule: exact to 1e-5 or better for likelihoods of clicks.

    logits, steps: [nodes] of all levels, one behind the other, and the lengths that they stand for.
    """

    logits: Floats
    steps: Floats

    @classmethod
    def of(cls, clicks: float) -> Grid:
        """Fine enough for a document with so many clicks: a posterior's deviation is 1 / sqrt(clicks) or more."""
        levels = range(1 + min(_FINEST, int(np.ceil(np.log2(clicks + 1.0) / 2))))
        logits = [np.linspace(-_EDGE, _EDGE, _kernels.SPAN * 2**level + 1) for level in levels]
        return cls(np.concatenate(logits), np.concatenate([np.gradient(x) * _ends(len(x)) for x in logits]))

    @cached_property
    def nodes(self) -> Floats:
        """[3, nodes] attraction, its logarithm, and that of one less it."""
        log_u, log_v = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)
        return np.stack([np.exp(log_u), log_u, log_v])

    def log_prior(self, prior: Beta) -> Floats:
        """[nodes] log-probabilities, which sum to one over the finest level and nearly so over others."""
        density = prior.a * self.nodes[1] + prior.b * self.nodes[2] + np.log(self.steps)
        finest = density[self._finest]
        top = finest.max()
        return np.asarray(density - top - np.log(np.exp(finest - top).sum()))

    def slopes(self, prior: Beta, logs: Floats) -> tuple[float, float, float]:
        """The expected log-density of a document with expected logs [2], with its derivatives by a and b."""
        log_prior, nodes = self.log_prior(prior), self.nodes[1:]
        by = logs - nodes[:, self._finest] @ np.exp(log_prior[self._finest])
        constant = log_prior[0] - prior.a * nodes[0, 0] - prior.b * nodes[1, 0] - np.log(self.steps[0])
        return float(prior.a * logs[0] + prior.b * logs[1] + constant), float(by[0]), float(by[1])

    @property
    def _finest(self) -> slice:
        return slice(int(np.flatnonzero(self.logits == -_EDGE)[-1]), None)


@dataclass(frozen=True)
class Integral:
    """Counts by document, and the part of the grid where each document's posterior has its mass.

    first: [d + 1]; cell, clicked, skipped: [c]; low, count: [d], which follow the posteriors from pass to pass.
    """

    grid: Grid
    first: Integers
    cell: Integers
    clicked: Floats
    skipped: Floats
    low: Integers
    count: Integers

    @classmethod
    def of(cls, counts: Counts) -> Integral:
        """Counts by document."""
        first = np.searchsorted(counts.document, np.arange(counts.documents + 1))
        low, count = np.zeros((2, counts.documents), np.int64)
        grid = Grid.of(float(counts.by_document()[1].max()))
        return cls(grid, first, counts.cell, counts.clicked, counts.shown - counts.clicked, low, count)

    def expect(self, chances: Chances, prior: Beta, *, cells: bool = True) -> Expected:
        """The likelihood, and what is expected of what is hidden. cells: whether `attracted` is wanted."""
        entries, moments = (self.first, self.cell, self.clicked, self.skipped), np.empty((len(self.low), 2))
        tables = (self.grid.log_prior(prior), *_log_chances(self.grid, chances))
        nothing = np.empty((0, 0))
        hidden = _attracted(self.grid, chances) if cells else (nothing, nothing)
        found = _kernels.expect(entries, tables, *hidden, self.grid.nodes, self.low, self.count, moments)
        return Expected(*found, *moments.T)


def _ends(nodes: int) -> Floats:
    """[nodes] one, and a half at either end."""
    return np.concatenate([[0.5], np.ones(nodes - 2), [0.5]])


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
