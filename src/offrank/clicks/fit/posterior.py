"""Posteriors of attractions for click probabilities that are affine in them: each is integrated out on a grid.

EM finds the click probabilities of the cells and the prior of the attractions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats
from ..counts import Counts
from ..parameters import Parameters
from . import _kernels
from .design import Design
from .em import Climb, climb, expit, logit
from .priors import Beta, PriorRegression, best

_EDGE = 16.0
"""Attractions are between expit(-16) and expit(16)."""
_FINEST = 10
"""The level of the smallest steps: 2^-11."""
_ROUNDS = 1000
_SOME = 4_000
"""Number of evenly chosen documents whose solution is the starting point for all."""


class Chances(NamedTuple):
    """P(click) = false + (hit - false) attraction: hit [cells] if attracted, false [cells] if not."""

    hit: Floats
    false: Floats


class Free(NamedTuple):
    """Which entries of hit [cells] and false [cells] are learnt; the others keep their initial values."""

    hit: NDArray[np.bool_]
    false: NDArray[np.bool_]


class Integrals(NamedTuple):
    """The results of one pass over the documents.

    log_likelihood; attracted: [cells, 2] expected clicks and skips of the attracted. logs: [2] sums over documents of
    the expected log of the attraction and of 1 - attraction. mean, variance: [d] of the attraction.
    """

    log_likelihood: float
    attracted: Floats
    logs: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Attractions:
    """The fitted chances and prior, the integrals at them, and the trace of EM."""

    chances: Chances
    prior: Beta
    integrals: Integrals
    climb: Climb

    def tables(self) -> tuple[Floats, Floats]:
        """(mean, sample size of a Beta of equal variance) of attractions [documents + 1], the last for unseen ones."""
        mean = np.append(self.integrals.mean, self.prior.mean)
        strength = mean[:-1] * (1 - mean[:-1]) / np.maximum(self.integrals.variance, 1e-300) - 1
        return mean, np.append(np.maximum(strength, 1e-3), self.prior.strength)


def fit_attractions(
    counts: Counts,
    start: Chances,
    free: Free | None,
    prior: Beta | None,
    begin: Beta,
    *,
    at: Chances | None = None,
    tolerance: float = 1e-5,
    say: Callable[[str], object],
) -> Attractions:
    """The chances and, unless given, the prior that maximise the likelihood of all documents together.

    start: initial chances; free ones have a weak prior, which decides where nothing was seen: one observation at the
    start. free: None where no chance is learnt. begin, at: initial values of a fitted prior, and of the chances.
    """
    problem = _Problem(counts, start, free, prior)
    if at is None and counts.documents > 2 * _SOME:
        some = fit_attractions(counts.thinned(_SOME), start, free, prior, begin, tolerance=10 * tolerance, say=say)
        begin, at = some.prior, some.chances
    here: Parameters = {} if free is None else (at or start)._asdict()
    if prior is None:
        here = {**here, "prior": _table(begin)}

    def tell(log_posterior: float) -> None:
        say(f"log-likelihood {log_posterior:,.2f}")

    found = climb(problem.step, here, tolerance=tolerance, rounds=_ROUNDS, say=tell)
    chances, at_end = problem.chances(found.parameters), problem.prior(found.parameters)
    return Attractions(chances, at_end, problem.integrals(chances, at_end, cells=False), found)


@dataclass(frozen=True)
class LogitGrid:
    """Attractions whose logits are evenly spaced from -16 to 16, at several levels of fineness.

    Sums over them are integrals by the trapezoidal rule: exact to 1e-5 or better for likelihoods of clicks.

    logits, steps: [nodes] of all consecutive levels, and the lengths that they stand for. finest: the last level.
    """

    logits: Floats
    steps: Floats
    finest: slice

    @classmethod
    def of(cls, clicks: float) -> LogitGrid:
        """A grid fine enough for a document with these clicks: its posterior deviation is 1 / sqrt(clicks) or more."""
        levels = range(1 + min(_FINEST, int(np.ceil(np.log2(clicks + 1.0) / 2))))
        logits = [np.linspace(-_EDGE, _EDGE, _kernels.SPAN * 2**level + 1) for level in levels]
        steps = [np.gradient(x) * np.where(np.abs(x) == _EDGE, 0.5, 1.0) for x in logits]
        return cls(np.concatenate(logits), np.concatenate(steps), slice(-len(logits[-1]), None))

    @cached_property
    def nodes(self) -> Floats:
        """[3, nodes] attraction, its logarithm, and log(1 - attraction)."""
        log_u, log_v = -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)
        return np.stack([np.exp(log_u), log_u, log_v])

    def log_prior(self, prior: Beta) -> Floats:
        """[nodes] log-probabilities, which sum to one over the finest level and nearly so over others."""
        density = prior.a * self.nodes[1] + prior.b * self.nodes[2] + np.log(self.steps)
        finest = density[self.finest]
        top = finest.max()
        return np.asarray(density - top - np.log(np.exp(finest - top).sum()))

    def evidence(self, prior: Beta, logs: Floats) -> tuple[float, float, float]:
        """The expected log-density of a document with expected logs [2], and its derivatives by a and b."""
        log_prior, nodes = self.log_prior(prior), self.nodes[1:]
        by = logs - nodes[:, self.finest] @ np.exp(log_prior[self.finest])
        constant = log_prior[0] - prior.a * nodes[0, 0] - prior.b * nodes[1, 0] - np.log(self.steps[0])
        return float(prior.a * logs[0] + prior.b * logs[1] + constant), float(by[0]), float(by[1])


class _Problem:
    """The counts of documents, and the part of the grid where each document's posterior has its mass.

    low, count: [d], updated with the posteriors at each pass.
    """

    def __init__(self, counts: Counts, start: Chances, free: Free | None, given: Beta | None) -> None:
        self._start, self._free, self._given = start, free, given
        shown, clicked = counts.by_cell()
        self._totals = np.stack([clicked, shown - clicked], axis=1)
        first = np.searchsorted(counts.document, np.arange(counts.documents + 1))
        self._entries = (first, counts.cell, counts.clicked, counts.shown - counts.clicked)
        self._grid = LogitGrid.of(float(counts.by_document()[1].max()))
        self._low, self._count = np.zeros((2, counts.documents), np.int64)

    def chances(self, parameters: Parameters) -> Chances:
        """All chances, the fixed ones unchanged."""
        if self._free is None:
            return self._start
        parts = zip(self._free, Chances._fields, self._start, strict=True)
        return Chances(*(np.where(free, parameters[name], start) for free, name, start in parts))

    def prior(self, parameters: Parameters) -> Beta:
        return self._given or _read(parameters["prior"])

    def step(self, parameters: Parameters) -> tuple[Parameters, float]:
        """One round of EM, and the log-posterior before it."""
        chances, prior, after = self.chances(parameters), self.prior(parameters), dict(parameters)
        found = self.integrals(chances, prior, cells=self._free is not None)
        log_posterior = found.log_likelihood
        if self._free is not None:
            log_posterior += self._log_weak_prior(self._free, chances)
            after |= self.chances(self._shares(found.attracted))._asdict()
        if self._given is None:
            n, common, start = len(found.mean), Design.common(1), PriorRegression.of(prior)

            def evidence(a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
                value, by_a, by_b = self._grid.evidence(Beta(float(a[0]), float(b[0])), found.logs / n)
                return n * value, np.array([n * by_a]), np.array([n * by_b])

            after["prior"] = expit(best(evidence, common, start).table)
            log_posterior += start.hyper(common)[0]
        return after, log_posterior

    def integrals(self, chances: Chances, prior: Beta, *, cells: bool) -> Integrals:
        """The likelihood, and the expected hidden counts. cells: whether `attracted` is wanted."""
        hit, false, (u, log_u, log_v) = chances.hit[:, None], chances.false[:, None], self._grid.nodes
        v, trust = np.exp(log_v), bool(chances.false.any())
        on_click = np.log(hit * u + false * v) if trust else np.log(hit) + log_u
        skipped = (1 - hit) * u + (1 - false) * v
        nothing, moments = np.empty((0, 0)), np.empty((len(self._low), 2))
        missed = (1 - hit) * u / skipped if cells else nothing
        clicked = hit * u / (hit * u + false * v) if cells and trust else nothing
        tables = (self._grid.log_prior(prior), on_click, np.log(skipped))
        found = _kernels.expect_attractions(
            self._entries, tables, clicked, missed, self._grid.nodes, self._low, self._count, moments
        )
        return Integrals(*found, *moments.T)

    def _shares(self, attracted: Floats) -> Parameters:
        """Click rates of the attracted and of the others, each with the observation of the weak prior."""
        both = zip(Chances._fields, (attracted, self._totals - attracted), self._start, strict=True)
        return {name: (found[:, 0] + start) / (np.maximum(found.sum(axis=1), 0.0) + 1) for name, found, start in both}

    def _log_weak_prior(self, free: Free, chances: Chances) -> float:
        """The log-density of the weak priors."""
        m, p = (
            np.concatenate([part[at] for part, at in zip(both, free, strict=True)]) for both in (self._start, chances)
        )
        return float((m * np.log(p) + (1 - m) * np.log1p(-p)).sum())


def _table(prior: Beta) -> Floats:
    return expit(PriorRegression.of(prior).table)


def _read(table: Floats) -> Beta:
    return PriorRegression.at(logit(table)).betas(Design.common(1)).of_unseen
