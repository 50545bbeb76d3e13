"""Posteriors of attractions for click probabilities that are affine in them: each is integrated out on a grid.

The click probabilities of the cells and the regression of the documents' priors maximise the marginal likelihood. By
Fisher's identity, its gradient is the expected score of complete data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from ...log.batch import Floats, Integers
from ..click_counts import ClickCounts
from . import _kernels
from .design import DOCUMENTS_AT_ONCE, PriorDesign, blocks
from .em import expit, logit
from .maximise import maximise
from .priors import Beta, PriorRegression

EDGE = 16.0
"""Attractions are between expit(-16) and expit(16)."""
_FINEST = 10
"""The level of the smallest steps: 2^-11."""
_LEAST = 1e-3
"""Information that is added to a number's own, which there is none of at its edges."""
_EDGE = 1e-12
_EQUAL = 0.1
"""Differences of log-likelihoods that do not matter: where climbs end, they are some hundredths apart."""
_DOCUMENTS, _ENTRIES = 3_000, 40_000
"""Documents and counts of documents at cells from which priors are fitted, evenly chosen where there are more."""


class Chances(NamedTuple):
    """P(click) = false + (hit - false) attraction: hit [cells] if attracted, false [cells] if not."""

    hit: Floats
    false: Floats


class Curves(Protocol):
    """Chances as functions of numbers x [r], logits that are learnt.

    center: [r] probabilities; each number has a weak prior there, worth one observation, and begins there.
    """

    @property
    def center(self) -> Floats: ...

    @property
    def penalty(self) -> Floats:
        """[r, r] precision of a normal prior of the numbers around the logits of their centers."""
        ...

    def chances(self, x: Floats) -> Chances: ...

    def along(self, x: Floats) -> Floats:
        """[2, cells, r] the derivatives of hit and of false."""
        ...


@dataclass(frozen=True)
class Fixed:
    """Chances that are known."""

    known: Chances
    center: Floats = field(default_factory=lambda: np.empty(0))
    penalty: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def chances(self, x: Floats) -> Chances:
        return self.known

    def along(self, x: Floats) -> Floats:
        return np.empty((2, len(self.known.hit), 0))


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

    def __init__(self, counts: ClickCounts) -> None:
        self.counts = counts
        self._few = _entries(counts) if counts.documents <= DOCUMENTS_AT_ONCE else None
        self.grid = LogitGrid.of(max(float(part.by_document()[1].max()) for part in counts.parts()))
        # The first node and the number of nodes of each posterior at the latest integration.
        self.place = np.zeros((2, counts.documents), np.int32)

    def _tables(self, chances: Chances) -> tuple[Floats, Floats, Floats]:
        """The grid's nodes, and [cells, nodes] log-probabilities of a click and of no click."""
        hit, false, (u, log_u, log_v, _) = chances.hit[:, None], chances.false[:, None], self.grid.nodes
        v = np.exp(log_v)
        on_click = np.log(hit * u + false * v) if chances.false.any() else np.log(hit) + log_u
        return self.grid.nodes, on_click, np.log((1 - hit) * u + (1 - false) * v)

    def scores(
        self, chances: Chances, a: Floats, b: Floats, along: Floats, rows: slice = slice(None)
    ) -> tuple[Floats, Floats]:
        """Posterior means and products of the scores of directions at the latest integration, see `load_attractions`.

        along: [2, cells, r] derivatives of the chances hit and false by each direction. rows: of which documents.
        """
        a, b, r, place = a[rows], b[rows], along.shape[2], np.ascontiguousarray(self.place[:, rows])
        means, products = np.zeros((len(a), r)), np.zeros((len(a), 3, 3 + r))
        tables = np.ascontiguousarray(a), np.ascontiguousarray(b), *self._tables(chances)
        entries = _entries(self.counts, rows)
        _kernels.load_attractions(entries, tables, chances, along, place[0], place[1], means, products)
        return means, products

    def integrals(
        self, chances: Chances, a: Floats, b: Floats, *, cells: bool = False, slopes: bool = True
    ) -> Integrals:
        """All integrals under the priors a, b [d]. cells, slopes: whether `attracted`, by_a and by_b are wanted."""
        tables, nothing = self._tables(chances), np.empty((0, 0))
        hit, u, (on_click, on_skip) = chances.hit[:, None], self.grid.nodes[0], tables[1:]
        missed = (1 - hit) * u / np.exp(on_skip) if cells else nothing
        clicked = hit * u / np.exp(on_click) if cells and chances.false.any() else nothing
        likelihood, attracted, found = 0.0, np.zeros((len(missed), 2)), np.empty((4 if slopes else 2, len(a)))
        for rows in blocks(len(a)):
            entries = self._few or _entries(self.counts, rows)
            moments, place = np.empty((len(a[rows]), 4)), (self.place[0, rows], self.place[1, rows])
            known = (a[rows], b[rows], *tables), clicked, missed
            log_likelihood, of_cells = _kernels.expect_attractions(entries, *known, *place, moments)
            normaliser, *by = log_normaliser(a[rows], b[rows])
            likelihood, attracted = likelihood + (log_likelihood - normaliser.sum()), attracted + of_cells
            found[:, rows] = moments.T[: len(found)]
            for column, one in zip(found[2:], by, strict=False):
                column[rows] -= one
        mean, variance, *each = found
        by_a, by_b = each or 2 * [nothing.ravel()]
        return Integrals(likelihood, attracted, mean, variance, by_a, by_b)


def _entries(counts: ClickCounts, rows: slice = slice(None)) -> tuple[Integers, Integers, Floats, Floats]:
    """Where the entries of each of these documents begin, and of each entry the cell, clicks and skips."""
    begin, end, every = rows.indices(counts.documents)
    if every > 1:
        return _entries(counts.thinned(every))
    some = counts.part(begin, end)
    return some.begin, some.cell, some.clicked, some.shown - some.clicked


@dataclass(frozen=True)
class Attractions:
    """The fitted chances and prior, the attractions at them, and how they were found.

    log_likelihood: of all documents. mean, strength: [documents + 1] of attractions, the last for unseen ones; strength
    is that of a Beta of equal variance.
    numbers: [r] what the chances are functions of. information: of these, then of the prior's table; empty where r = 0.
    prior: None where it was given. betas: the prior of each document [d + 1], the last an unseen one. every: the prior
    was fitted to one document of so many.
    """

    chances: Chances
    numbers: Floats
    information: Floats
    prior: PriorRegression | None
    betas: Beta
    log_likelihood: float
    mean: Floats
    strength: Floats
    posteriors: Posteriors
    every: int = 1
    trace: tuple[float, ...] = ()
    rounds: int = 0
    converged: bool = True

    @property
    def each(self) -> tuple[Floats, Floats]:
        """The prior (a, b) of each seen document [documents]."""
        return self.betas.of_seen(self.posteriors.counts.documents)


def fit_attractions(
    counts: ClickCounts,
    curves: Curves,
    prior: Beta | PriorDesign,
    begin: PriorRegression | None = None,
    *,
    others: Sequence[Floats] = (),
    tolerance: float = 1e-5,
    say: Callable[[str], object],
) -> Attractions:
    """The chances and, unless it is given, the prior that maximise the likelihood of all documents together.

    prior: given, or the design of its regression. begin: initial values of a fitted prior. others: of the
    chances, besides the centers, from each of which the same is learnt; the likeliest end is kept.
    tolerance: learning stops where no number has a slope of more than 300 times this, in units of standard errors.

    Of many documents, some suffice for the prior, and for initial values of the chances.
    """
    learnt, at, known = len(curves.center) > 0, None, None
    every = _every(counts) if learnt or isinstance(prior, PriorDesign) else 1
    if every > 1:
        part = prior.take(np.arange(0, counts.documents, every)) if isinstance(prior, PriorDesign) else prior
        some = _Problem(counts.thinned(every), curves, part, say)
        found = some.likeliest(begin, (at, *others), tolerance)
        if not learnt:
            assert isinstance(prior, PriorDesign)
            assert found.prior is not None
            return replace(_Problem(counts, curves, prior, say).at(found), every=every)
        begin, at, others, known = found.prior, found.numbers, (), found.information * every
    return _Problem(counts, curves, prior, say).likeliest(begin, (at, *others), tolerance, known)


def _every(counts: ClickCounts) -> int:
    """One document of how many takes part in the fit of the prior."""
    return max(1, min(counts.documents // _DOCUMENTS, len(counts.cell) // _ENTRIES))


@dataclass
class _Problem:
    """Maximum marginal likelihood in the numbers of the curves and the table of the prior."""

    counts: ClickCounts
    curves: Curves
    prior: Beta | PriorDesign
    say: Callable[[str], object]
    posteriors: Posteriors = field(init=False)
    totals: Floats = field(init=False)

    def __post_init__(self) -> None:
        shown, clicked = self.counts.by_cell()
        self.totals = np.stack([clicked, shown - clicked])
        self.posteriors = Posteriors(self.counts)

    def likeliest(
        self,
        begin: PriorRegression | None,
        starts: Sequence[Floats | None],
        tolerance: float,
        known: Floats | None = None,
    ) -> Attractions:
        """The likeliest of the ends that these initial values of the chances lead to; the first of equals.

        Later ones count only where they are tops.
        """
        first, *others = (self.solved(begin, at, tolerance, known) for at in starts)
        best = first
        for one in others:
            if one.converged and one.trace[-1] > best.trace[-1] + _EQUAL:
                best = one
        return best

    def solved(
        self, begin: PriorRegression | None, at: Floats | None, tolerance: float, known: Floats | None = None
    ) -> Attractions:
        """known: the information there, where it is known already."""
        x = self._packed(logit(self.curves.center) if at is None else at, begin)
        if not len(x):
            return self.found(x, (), 0, converged=True)
        best = maximise(self._value, self.information, x, tolerance=300 * tolerance, known=known, say=self.say)
        return self.found(best.at, best.trace, best.rounds, converged=best.converged)

    def found(self, x: Floats, trace: tuple[float, ...], rounds: int, *, converged: bool) -> Attractions:
        numbers, prior = self._read(x)
        chances, betas = self.curves.chances(numbers), self._betas(prior)
        integrals = self.posteriors.integrals(chances, *betas.of_seen(self.counts.documents), slopes=False)
        known = self.information(x) if len(numbers) else np.empty((0, 0))
        unseen, strength = betas.of_unseen, np.maximum(integrals.variance, 1e-300)
        for rows in blocks(len(strength)):
            mean = integrals.mean[rows]
            strength[rows] = np.maximum(mean * (1 - mean) / strength[rows] - 1, 1e-3)
        each = integrals.log_likelihood, np.append(integrals.mean, unseen.mean), np.append(strength, unseen.strength)
        return Attractions(chances, numbers, known, prior, betas, *each, self.posteriors, 1, trace, rounds, converged)

    def at(self, found: Attractions) -> Attractions:
        """What was found of some documents, for all of these."""
        x = self._packed(found.numbers, found.prior)
        return self.found(x, found.trace, found.rounds, converged=found.converged)

    def information(self, x: Floats) -> Floats:
        """[x, x] the products of the scores of documents, and the curvature of the weak priors."""
        (numbers, prior), r = self._read(x), len(self.curves.center)
        chances, p = self.curves.chances(numbers), expit(numbers)
        a, b = self._betas(prior).of_seen(self.counts.documents)
        found = self.posteriors.integrals(chances, a, b)
        own = np.zeros((len(x), len(x)))
        own[:r, :r] = np.diag(p * (1 - p) + _LEAST) + self.curves.penalty
        if prior is not None and isinstance(self.prior, PriorDesign):
            own[r:, r:] = prior.curvature(self.prior)
        each, _ = self.posteriors.scores(chances, a, b, self.curves.along(numbers)) if r else (np.empty((len(a), 0)), 0)
        if prior is not None and isinstance(self.prior, PriorDesign):
            each = np.hstack([each, prior.scores(self.prior, found.by_a, found.by_b)])
        return np.asarray(each.T @ each + own)

    def _packed(self, numbers: Floats, prior: PriorRegression | None) -> Floats:
        return numbers if prior is None or isinstance(self.prior, Beta) else np.append(numbers, prior.table)

    def _read(self, x: Floats) -> tuple[Floats, PriorRegression | None]:
        numbers, table = np.split(x, [len(self.curves.center)])
        return numbers, PriorRegression.at(table, self.prior) if isinstance(self.prior, PriorDesign) else None

    def _betas(self, prior: PriorRegression | None) -> Beta:
        if isinstance(self.prior, Beta):
            return self.prior
        assert prior is not None
        return prior.betas(self.prior)

    def _value(self, x: Floats) -> tuple[float, Floats]:
        """The log-posterior, and its derivatives."""
        (numbers, prior), center = self._read(x), self.curves.center
        chances, slopes = self.curves.chances(numbers), np.zeros(len(x))
        a, b = self._betas(prior).of_seen(self.counts.documents)
        found = self.posteriors.integrals(chances, a, b, cells=len(center) > 0)
        value = found.log_likelihood
        if len(center):
            attracted, p = found.attracted.T, expit(numbers)
            hidden = zip(chances, (attracted, self.totals - attracted), strict=True)
            by = [won / np.maximum(one, _EDGE) - lost / np.maximum(1 - one, _EDGE) for one, (won, lost) in hidden]
            off = numbers - logit(center)
            pull = self.curves.penalty @ off
            value += float((center * np.log(p) + (1 - center) * np.log1p(-p)).sum() - 0.5 * off @ pull)
            slopes[: len(p)] = np.einsum("sc,scr->r", np.stack(by), self.curves.along(numbers)) + center - p - pull
        if prior is not None and isinstance(self.prior, PriorDesign):
            density, by_table = prior.hyper(self.prior)
            value += density
            slopes[len(center) :] = prior.scores(self.prior, found.by_a, found.by_b).sum(axis=0) + by_table
        return value, slopes
