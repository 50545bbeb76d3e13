"""Posteriors of attractions for click probabilities that are affine in them: each is integrated out on a grid.

The click probabilities of the cells and the regression of the documents' priors maximise the marginal likelihood. By
Fisher's identity, its gradient is the expected score of complete data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from ..counts import Counts
from . import _kernels
from .design import PriorDesign
from .em import expit, logit
from .priors import Beta, PriorRegression

EDGE = 16.0
"""Attractions are between expit(-16) and expit(16)."""
_FINEST = 10
"""The level of the smallest steps: 2^-11."""
_ROUNDS = 500
_DOCUMENTS, _ENTRIES = 3_000, 40_000
"""Documents and counts of documents at cells from which priors are fitted, evenly chosen where there are more."""


class Chances(NamedTuple):
    """P(click) = false + (hit - false) attraction: hit [cells] if attracted, false [cells] if not."""

    hit: Floats
    false: Floats


class Free(NamedTuple):
    """Which entries of hit [cells] and false [cells] are learnt; the others keep their initial values."""

    hit: NDArray[np.bool_]
    false: NDArray[np.bool_]


@dataclass(frozen=True)
class LogitGrid:
    """Attractions whose logits are evenly spaced from -16 to 16, at several levels of fineness.

    Sums over them are integrals by the trapezoidal rule: exact to 1e-5 or better for likelihoods of clicks.

    nodes: [4, nodes] of all consecutive levels: attraction u, log u, log(1 - u), and the logarithm of the length of
    logits that the node stands for.
    """

    nodes: Floats

    @classmethod
    def of(cls, clicks: float) -> LogitGrid:
        """A grid fine enough for a document with these clicks: its posterior deviation is 1 / sqrt(clicks) or more."""
        levels = range(1 + min(_FINEST, int(np.ceil(np.log2(clicks + 1.0) / 2))))
        each = [np.linspace(-EDGE, EDGE, _kernels.SPAN * 2**level + 1) for level in levels]
        steps = np.concatenate([np.gradient(x) * np.where(np.abs(x) == EDGE, 0.5, 1.0) for x in each])
        logits = np.concatenate(each)
        log_u = -np.logaddexp(0, -logits)
        return cls(np.stack([np.exp(log_u), log_u, -np.logaddexp(0, logits), np.log(steps)]))


def log_normaliser(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """[d] the logarithm of the integral of u^a (1 - u)^b over logits from -16 to 16; its derivatives by a and by b.

    The complete integral is the beta function; beyond the edges it is exp(-16 a) / a and exp(-16 b) / b.
    """
    from scipy.special import betaln, digamma  # slow to import

    whole = betaln(a, b)
    below, above = (np.exp(-EDGE * part - np.log(part) - whole) for part in (a, b))
    inside, both = 1.0 - below - above, digamma(a + b)
    by_a, by_b = ((digamma(part) - both + out * (EDGE + 1 / part)) / inside for part, out in ((a, below), (b, above)))
    return whole + np.log(inside), by_a, by_b


class Integrals(NamedTuple):
    """The results of one pass over the documents.

    log_likelihood: of all documents. attracted: [cells, 2] expected clicks and skips of the attracted. mean, variance:
    [d] of the attraction. by_a, by_b: [d] derivatives of the log-likelihood by the document's prior.
    """

    log_likelihood: float
    attracted: Floats
    mean: Floats
    variance: Floats
    by_a: Floats
    by_b: Floats


class Posteriors:
    """The counts of documents, and the part of the grid where each document's posterior has its mass."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts
        first = np.searchsorted(counts.document, np.arange(counts.documents + 1))
        self.entries = (first, counts.cell, counts.clicked, counts.shown - counts.clicked)
        self.grid = LogitGrid.of(float(counts.by_document()[1].max(initial=0.0)))
        self._low, self._count = np.zeros((2, counts.documents), np.int64)

    @property
    def place(self) -> tuple[Integers, Integers]:
        """[d] the first node and the number of nodes of each posterior at the latest integration."""
        return self._low, self._count

    def tables(self, chances: Chances, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The priors, the grid's nodes, and [cells, nodes] log-probabilities of a click and of no click."""
        hit, false, (u, log_u, log_v, _) = chances.hit[:, None], chances.false[:, None], self.grid.nodes
        v = np.exp(log_v)
        on_click = np.log(hit * u + false * v) if chances.false.any() else np.log(hit) + log_u
        return a, b, self.grid.nodes, on_click, np.log((1 - hit) * u + (1 - false) * v)

    def integrals(self, chances: Chances, a: Floats, b: Floats, *, cells: bool = False) -> Integrals:
        """All integrals under the priors a, b [d]. cells: whether `attracted` is wanted."""
        tables, moments, nothing = self.tables(chances, a, b), np.empty((len(a), 4)), np.empty((0, 0))
        hit, u, (on_click, on_skip) = chances.hit[:, None], self.grid.nodes[0], tables[3:]
        missed = (1 - hit) * u / np.exp(on_skip) if cells else nothing
        clicked = hit * u / np.exp(on_click) if cells and chances.false.any() else nothing
        log_likelihood, attracted = _kernels.expect_attractions(
            self.entries, tables, clicked, missed, *self.place, moments
        )
        normaliser, by_a, by_b = log_normaliser(a, b)
        mean, variance, log_u, log_v = moments.T
        return Integrals(log_likelihood - normaliser.sum(), attracted, mean, variance, log_u - by_a, log_v - by_b)


@dataclass(frozen=True)
class Attractions:
    """The fitted chances and prior, the integrals at them, and how they were found.

    prior: None where it was given. betas: the prior of each document [d + 1], the last an unseen one. every: the prior
    was fitted to one document of so many.
    """

    chances: Chances
    prior: PriorRegression | None
    betas: Beta
    integrals: Integrals
    posteriors: Posteriors
    every: int = 1
    trace: tuple[float, ...] = ()
    rounds: int = 0
    converged: bool = True

    @property
    def each(self) -> tuple[Floats, Floats]:
        """The prior (a, b) of each seen document [documents]."""
        return self.betas.of_seen(self.posteriors.counts.documents)

    def tables(self) -> tuple[Floats, Floats]:
        """(mean, sample size of a Beta of equal variance) of attractions [documents + 1], the last for unseen ones."""
        unseen = self.betas.of_unseen
        mean = np.append(self.integrals.mean, unseen.mean)
        strength = mean[:-1] * (1 - mean[:-1]) / np.maximum(self.integrals.variance, 1e-300) - 1
        return mean, np.append(np.maximum(strength, 1e-3), unseen.strength)


def fit_attractions(
    counts: Counts,
    start: Chances,
    free: Free | None,
    prior: Beta | PriorDesign,
    begin: PriorRegression | None = None,
    *,
    at: Chances | None = None,
    tolerance: float = 1e-5,
    say: Callable[[str], object],
) -> Attractions:
    """The chances and, unless it is given, the prior that maximise the likelihood of all documents together.

    start: initial chances; free ones have a weak prior, which decides where nothing was seen: one observation at the
    start. free: None where no chance is learnt. prior: given, or the design of its regression. begin, at: initial
    values of a fitted prior, and of the chances.

    Of many documents, some suffice for the prior, and for initial values of the chances.
    """
    every = _every(counts) if free is not None or isinstance(prior, PriorDesign) else 1
    if every > 1:
        part = prior.take(np.arange(0, counts.documents, every)) if isinstance(prior, PriorDesign) else prior
        some = _Problem(counts.thinned(-(-counts.documents // every)), start, free, part, say)
        found = some.solved(begin, at, tolerance)
        if free is None:
            assert isinstance(prior, PriorDesign)
            assert found.prior is not None
            betas, how = found.prior.betas(prior), (found.trace, found.rounds, found.converged)
            return _at(Posteriors(counts), found.chances, found.prior, betas, *how, every)
        begin, at = found.prior, found.chances
    return _Problem(counts, start, free, prior, say).solved(begin, at, tolerance)


def _every(counts: Counts) -> int:
    """One document of how many takes part in the fit of the prior."""
    return max(1, min(counts.documents // _DOCUMENTS, len(counts.cell) // _ENTRIES))


def _at(
    posteriors: Posteriors,
    chances: Chances,
    prior: PriorRegression | None,
    betas: Beta,
    trace: tuple[float, ...],
    rounds: int,
    converged: bool,
    every: int = 1,
) -> Attractions:
    integrals = posteriors.integrals(chances, *betas.of_seen(posteriors.counts.documents))
    return Attractions(chances, prior, betas, integrals, posteriors, every, trace, rounds, converged)


@dataclass
class _Problem:
    """Maximum marginal likelihood by L-BFGS in the logits of free chances and the coefficients of the prior."""

    counts: Counts
    start: Chances
    free: Free | None
    prior: Beta | PriorDesign
    say: Callable[[str], object]
    posteriors: Posteriors = field(init=False)
    totals: Floats = field(init=False)

    def __post_init__(self) -> None:
        shown, clicked = self.counts.by_cell()
        self.totals = np.stack([clicked, shown - clicked], axis=1)
        self.posteriors = Posteriors(self.counts)

    def solved(self, begin: PriorRegression | None, at: Chances | None, tolerance: float) -> Attractions:
        from scipy.optimize import minimize  # slow to import

        size, trace = max(self.counts.documents, 1), []

        def loss(x: Floats) -> tuple[float, Floats]:
            value, slopes = self._value(x)
            return -value / size, -slopes / size

        def tell(intermediate_result: object) -> None:
            trace.append(-float(intermediate_result.fun) * size)  # type: ignore[attr-defined]
            self.say(f"log-likelihood {trace[-1]:,.2f}")

        x = self._packed(at or self.start, begin)
        if len(x):
            options = {"maxiter": _ROUNDS, "ftol": 1e-14, "gtol": 0.5 * tolerance}
            trace.append(-loss(x)[0] * size)
            found = minimize(loss, x, jac=True, method="L-BFGS-B", callback=tell, options=options)
            x, rounds, converged = found.x, int(found.nit), bool(found.success)
        else:
            rounds, converged = 0, True
        chances, prior = self._read(x)
        return _at(self.posteriors, chances, prior, self._betas(prior), tuple(trace), rounds, converged)

    def _packed(self, chances: Chances, prior: PriorRegression | None) -> Floats:
        parts = [logit(part[at]) for part, at in zip(chances, self.free or (), strict=False)]
        if isinstance(self.prior, PriorDesign):
            assert prior is not None
            parts.append(prior.table)
        return np.concatenate([np.empty(0), *parts])

    def _read(self, x: Floats) -> tuple[Chances, PriorRegression | None]:
        parts = [part.copy() for part in self.start]
        for part, at in zip(parts, self.free or (), strict=False):
            part[at], x = expit(x[: at.sum()]), x[at.sum() :]
        return Chances(*parts), PriorRegression.at(x, self.prior) if isinstance(self.prior, PriorDesign) else None

    def _betas(self, prior: PriorRegression | None) -> Beta:
        if isinstance(self.prior, Beta):
            return self.prior
        assert prior is not None
        return prior.betas(self.prior)

    def _value(self, x: Floats) -> tuple[float, Floats]:
        """The log-posterior, and its derivatives."""
        chances, prior = self._read(x)
        a, b = self._betas(prior).of_seen(self.counts.documents)
        found = self.posteriors.integrals(chances, a, b, cells=self.free is not None)
        value, slopes = found.log_likelihood, [np.empty(0)]
        if self.free is not None:
            hidden = (found.attracted, self.totals - found.attracted)
            for at, *parts in zip(self.free, chances, self.start, hidden, strict=True):
                p, m, (won, lost) = parts[0][at], parts[1][at], parts[2][at].T
                value += float((m * np.log(p) + (1 - m) * np.log1p(-p)).sum())
                slopes.append(won + m - p * (won + lost + 1))
        if isinstance(self.prior, PriorDesign):
            assert prior is not None
            density, by = prior.hyper(self.prior)
            value += density
            slopes.append(prior.scores(self.prior, found.by_a, found.by_b).sum(axis=0) + by)
        return value, np.concatenate(slopes)
