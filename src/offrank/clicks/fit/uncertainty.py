"""The doubt that documents have in common, and what it does to each.

Of models learnt by EM, estimates solve equations F(theta) = 0, where F is a sum over queries, and documents follow
theta. A bootstrap of queries moves theta, to first order, by a covariance A^-1 V A^-T: A is the derivative of F,
documents following, and V the variance of F between random groups of queries (the sandwich of Huber 1967, by clusters
as Liang and Zeger 1986): `shared`.

Of models learnt from counts, it is the doubt of the chances of cells, and of the documents' prior: `attraction_doubt`.
Attraction is the mean of a posterior, given chances and prior. Its derivative by a chance is its posterior covariance
with the derivative of the log-likelihood; by the prior's (a, b), that with the logarithms of attraction and of its
complement. The fitted prior in turn follows the chances, by the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...log.batch import Floats
from ..base import CERTAIN, Parameters
from .design import PriorDesign, blocks
from .em import logit
from .posterior import Attractions, Chances
from .priors import Beta, PriorRegression

DIRECTIONS_BY_EM = 3
"""Number of directions that are kept of models learnt by EM; the doubt of others counts as each document's own."""
DIRECTIONS_BY_COUNTS = 4
"""The same of models learnt from counts."""
_WIDEST = 4.0
"""Largest standard deviation of a direction of theta, in logits: then nothing is known of it."""
_FEWEST = 8
"""Groups of queries below which their differences say too little."""
_FARTHEST = 1.5
"""Largest loading of a document, in logits: beyond, a normal distribution of the logit is wrong."""

Equations = Callable[[Floats], tuple[Floats, Parameters]]
"""A step of theta [m] from the estimate -> (F there [m], the tables of documents there, which follow)."""


def shared(
    equations: Equations, by_group: Floats, steps: Floats, between: Floats, weak: Floats
) -> tuple[Floats, dict[str, Floats]]:
    """(half [m, m] with half half' the covariance of theta, table of documents -> [d + 1, m] its logits' loadings).

    by_group: [groups, m] F of each random group of queries at the estimate, which sums to about 0. steps: [m] sizes of
    the steps for derivatives. between: [m] a standard deviation of the first entries of theta that comes in addition,
    which the others (0 here) follow. weak: [m, m] information of weak priors of theta, which pull it to where it may
    not be: they err as observations do. Where a log tells nothing, theta has the doubt of its prior.
    """
    m, groups = len(steps), len(by_group)
    rest, here = equations(np.zeros(m))
    derivative, follows = np.empty((m, m)), {name: np.empty((len(table), m)) for name, table in here.items()}
    for place, step in enumerate(steps):
        moved, there = equations(step * np.eye(m)[place])
        derivative[:, place] = (moved - rest) / step
        for name, table in there.items():
            follows[name][:, place] = (logit(table) - logit(here[name])) / step
    spread = by_group - by_group.mean(axis=0)
    push = np.where(between != 0, derivative @ between, 0.0)
    inverse = np.linalg.pinv(derivative)
    variance = spread.T @ spread * groups / (groups - 1)
    if (by_group != 0).any(axis=1).sum() < _FEWEST:
        # Too few queries tell how they differ: the information takes the place of the variance (Fisher's equality).
        values, axes = np.linalg.eigh(-(derivative + derivative.T) / 2)
        variance = (axes * np.maximum(values, 0.0)) @ axes.T
    covariance = inverse @ (variance + np.outer(push, push) + weak) @ inverse.T
    values, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    half = axes * np.sqrt(np.clip(values, 0.0, _WIDEST**2))
    return half, {name: loading @ half for name, loading in follows.items()}


def leading(loadings: Mapping[str, Floats]) -> Floats:
    """[m, m] turns z so that the first of them move the documents most."""
    gram = sum(table.T @ table / max(float((table**2).sum()), 1e-300) for table in loadings.values())
    return np.asarray(np.linalg.eigh(gram)[1][:, ::-1])


def leading_alone(
    loadings: Mapping[str, Floats], tables: Parameters, strength: Parameters
) -> tuple[Parameters, Parameters]:
    """(strength, loadings) with the leading directions alone; others make each entry's own strength smaller.

    All arrays are changed where they are.

    The variance of a Beta of strength s and value v is v (1 - v) / (s + 1); a variance on the logit scale counts
    (v (1 - v))^2 times.
    """
    axes = leading(loadings)
    own = dict(strength)
    for name, rows in [(name, rows) for name, table in loadings.items() for rows in blocks(len(table))]:
        turned, value = loadings[name][rows] @ axes, tables[name][rows]
        size = np.sqrt((turned**2).sum(axis=1, keepdims=True))
        turned *= np.minimum(1.0, _FARTHEST / np.maximum(size, 1e-300))
        rest = value * (1 - value) * (turned[:, DIRECTIONS_BY_EM:] ** 2).sum(axis=1)
        loadings[name][rows] = turned
        own[name][rows] = np.maximum(1 / (1 / (own[name][rows] + 1) + rest) - 1, 1e-3)
    few = len(axes) > DIRECTIONS_BY_EM
    return own, {name: table[:, :DIRECTIONS_BY_EM].copy() if few else table for name, table in loadings.items()}


class Uncertainty(NamedTuple):
    """value: [n] of a table of probabilities. variance: [n] of each entry by itself. loading: [n, q] in logits.

    Both may be functions of some rows that return theirs.
    """

    value: Floats
    variance: Floats | Callable[[slice], Floats]
    loading: Floats | Callable[[slice], Floats]

    def own(self, rows: slice) -> Floats:
        """The variance of some rows."""
        return self.variance(rows) if callable(self.variance) else self.variance[rows]

    def loadings(self, rows: slice) -> Floats:
        """Those of some rows."""
        return self.loading(rows) if callable(self.loading) else self.loading[rows]


def directions(covariance: Floats, weight: Floats, most: int) -> Floats:
    """[cells, r] L with L L' about the covariance: its leading directions, where cells count by their weight."""
    scale = np.sqrt(np.maximum(weight, 1e-12))
    values, axes = np.linalg.eigh(covariance * np.outer(scale, scale))
    kept = np.flatnonzero(values > 1e-12 * max(values[-1], 1e-300))[::-1][:most]
    return np.asarray(axes[:, kept] * np.sqrt(np.maximum(values[kept], 0.0)) / scale[:, None])


def attraction_doubt(
    found: Attractions, along: Floats, prior: PriorDesign | Beta, doubt: Floats | None = None
) -> Uncertainty:
    """The attractions [documents + 1], moved by directions of the chances (`along`), then by those of the prior.

    prior: given, or the design of its regression. doubt: [p + 2, q] how the prior's table moves along further
    directions, where it was learnt together with the chances; by default it follows the chances, and has a doubt of
    its own.
    """
    if found.prior is not None and isinstance(prior, PriorDesign) and doubt is None:
        doubt = _prior_uncertainty(found, found.prior, prior, along)

    def moved(rows: slice) -> tuple[Floats, Floats, Floats]:
        _, products = found.posteriors.scores(found.chances, *found.each, along, rows)
        return products[:, 0, 3:], products[:, 0, 1], products[:, 0, 2]

    return following(found.mean, found.strength, moved, found.prior, prior, doubt)


def following(
    value: Floats,
    strength: Floats,
    moved: Callable[[slice], tuple[Floats, Floats, Floats]],
    prior: PriorRegression | None,
    design: PriorDesign | Beta,
    doubt: Floats | None,
) -> Uncertainty:
    """The doubt of documents, and last of an unseen one, that follow the prior's table, which moves by `doubt` [p, q].

    value, strength: [documents + 1]. moved: of some documents, how far their values move along directions, and with
    the a and b of their priors.
    """
    documents = len(value) - 1

    def loading(rows: slice) -> Floats:
        seen = slice(rows.start, min(rows.stop, documents))
        found, by_a, by_b = moved(seen)
        if prior is not None and isinstance(design, PriorDesign) and doubt is not None:
            by_table = prior.scores(design.take(seen), by_a, by_b)
            found = np.pad(found, ((0, 0), (0, doubt.shape[1] - found.shape[1]))) + by_table @ doubt
        if rows.stop > documents:  # an unseen one has the mean of all priors
            found = np.vstack([found, np.zeros(found.shape[1]) if doubt is None else unseen @ doubt[: len(unseen)]])
        return np.asarray(found / np.maximum(value[rows] * (1 - value[rows]), 1e-300)[:, None])

    unseen = np.zeros(0)
    if prior is not None and isinstance(design, PriorDesign):
        each = ((prior.means(part), part.rows) for part in design.parts())
        unseen = np.asarray(sum((means * (1 - means)) @ rows for means, rows in each)) / documents
    return Uncertainty(value, lambda rows: value[rows] * (1 - value[rows]) / (strength[rows] + 1), loading)


def _prior_uncertainty(found: Attractions, prior: PriorRegression, design: PriorDesign, along: Floats) -> Floats:
    """[p + 2, r + p + 2] how the prior's table follows each direction, and its own doubt."""
    part, (a, b) = design.take(slice(None, None, found.every)), (one[:: found.every] for one in found.each)
    _, products = found.posteriors.scores(found.chances, *found.each, along, slice(None, None, found.every))
    # Louis 1982: information of complete data less that of what is hidden.
    known = beta_covariance(Beta(a, b)) - products[:, 1:, 1:3]
    by_a, by_b = (prior.scores(part, known[:, 0, column], known[:, 1, column]) for column in range(2))
    information = _gram(prior, part, by_a, by_b)
    values, axes = np.linalg.eigh(information)
    half = (axes * np.sqrt(np.maximum(values, 0.0))).T
    covariance = prior.covariance(part, half, len(half))
    columns = (products[:, 1:, column].T for column in range(3, products.shape[2]))
    moved = [prior.scores(part, *one).sum(axis=0) for one in columns]
    follows = np.column_stack(moved or [np.empty((len(covariance), 0))])
    values, axes = np.linalg.eigh(covariance)
    return np.hstack([covariance @ follows, axes * np.sqrt(np.maximum(values, 0.0))])


def _gram(prior: PriorRegression, design: PriorDesign, by_a: Floats, by_b: Floats) -> Floats:
    """[p + 2, p + 2] sum over documents of J' K J, given both columns of K as derivatives by the table."""
    ones, nothing = np.ones(len(design)), np.zeros(len(design))
    found = prior.scores(design, ones, nothing).T @ by_a + prior.scores(design, nothing, ones).T @ by_b
    return np.asarray((found + found.T) / 2)


def beta_covariance(prior: Beta) -> Floats:
    """[d, 2, 2] covariance of the logarithms of a Beta variable and of its complement."""
    from scipy.special import polygamma  # slow to import

    a, b, both = (polygamma(1, np.asarray(part)) for part in (prior.a, prior.b, prior.strength))
    return np.moveaxis(np.array([[a - both, -both], [-both, b - both]]), 2, 0)


def leading_and_own(doubts: Mapping[str, Uncertainty]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """(strength, loadings) of tables with common directions: the leading ones, the rest as each entry's own doubt."""
    parts = [(name, rows) for name, one in doubts.items() for rows in blocks(len(one.value))]
    grams, squares = dict[str, Any](), dict[str, float]()
    for name, rows in parts:
        loading = doubts[name].loadings(rows)
        grams[name] = grams.get(name, 0.0) + loading.T @ loading
        squares[name] = squares.get(name, 0.0) + float((loading**2).sum())
    size = max(map(len, grams.values()))
    each = (np.pad(gram / max(squares[name], 1e-300), (0, size - len(gram))) for name, gram in grams.items())
    axes = np.linalg.eigh(sum(each))[1][:, ::-1][:, :DIRECTIONS_BY_COUNTS]
    strength = {name: np.empty(len(one.value)) for name, one in doubts.items()}
    loadings = {name: np.empty((len(one.value), axes.shape[1])) for name, one in doubts.items()}
    for name, rows in parts:
        whole, value = doubts[name].loadings(rows), doubts[name].value[rows]
        loading = whole @ axes[: whole.shape[1]]
        length = np.sqrt((loading**2).sum(axis=1))
        loading *= np.minimum(1.0, _FARTHEST / np.maximum(length, 1e-300))[:, None]
        spread = value * (1 - value)
        rest = np.maximum((whole**2).sum(axis=1) - (loading**2).sum(axis=1), 0.0)
        variance = doubts[name].own(rows) + spread**2 * rest
        known = np.clip(spread / np.maximum(variance, spread / CERTAIN + 1e-300) - 1, 1e-3, CERTAIN)
        strength[name][rows], loadings[name][rows] = np.where(spread == 0, CERTAIN, known), loading
    return strength, loadings


def of_logarithms(chances: Chances, directions: Floats) -> Floats:
    """[2, cells, r] how chances move where the logarithms of `hit` move along directions [cells, r]."""
    return np.stack([chances.hit[:, None] * directions, np.zeros_like(directions)])
