"""The examination of cells: an estimate from which the attractions of documents cancel, blended with click rates.

E[clicks of d in c] = shown[d, c] examination[c] attraction[d]. Given how often a document is clicked in all, where it
is clicked does not depend on its attraction, whether clicks are rare or not:

    sum_d clicked[d, c] - clicked[d] shown[d, c] examination[c] / sum_c' shown[d, c'] examination[c'] = 0 for each c

has expectation zero at the true examination, however few views a document has and however attraction and rank
correlate in the log. (It is the score of Poisson counts with fixed effects: Hausman, Hall and Griliches 1984; for
consistency only the means need be right: Wooldridge 1999.)

The click rates of cells, in contrast, are precise, and biased where documents differ between cells. Their bias, on the
logarithmic scale, is taken to be N(0, tau^2 shape), with tau^2 estimated from the distance between the two estimates
beyond their sampling error (empirical Bayes). The examination is the posterior mode: where the conditional likelihood
is precise it decides; where it is silent, click rates do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ...log.batch import Floats, Integers
from ..click_counts import ClickCounts, SomeDocuments
from . import _kernels
from .click_rates import ClickRates

_WEAK = 0.05
"""Information, in clicks, that is added where the log has none, so that standard errors are finite."""
_FEW = 10.0
"""Clicks a cell for which the expectation of the products of scores counts beside those of the log."""
_MOST = 500
"""Largest number of cells with a joint covariance; with more, each is treated separately."""
_TAUS = np.geomspace(0.003, 2.0, 27)
"""Standard deviations of the bias of click rates over which is integrated."""
_SCALE = 0.2
"""Scale of the half-Cauchy prior of that standard deviation (Gelman 2006)."""
_LITTLE = 1e-3
"""Probabilities of tau that are left out."""
_ROUNDS = 100
_FAR = 1.0
"""The largest step, in logarithms."""


@dataclass(frozen=True)
class Pooled:
    """Click rates: what examination would be if the documents of all cells were alike.

    - rates: of the cells.
    - shape: [cells, cells] of the covariance of the bias of their logarithms, up to the factor tau^2.
    """

    rates: ClickRates
    shape: Floats

    @property
    def log(self) -> Floats:
        """[cells] the logarithms relative to the first cell's."""
        return np.log(self.rates.value / self.rates.value[0])


@dataclass(frozen=True)
class ExaminationCurve:
    """A fitted examination curve.

    - value: [cells], 1 in the first cell.
    - covariance: [cells, cells] of its logarithm: sampling error, robust to how clicks vary around their means, and the
      possible bias of click rates.
    - alone: [cells] standard errors of the logarithm by the conditional likelihood alone.
    - information: [cells, cells] on the logarithm, of that likelihood alone.
    - tau: the estimated standard deviation of the bias of click rates.
    """

    value: Floats
    covariance: Floats
    alone: Floats
    information: Floats
    tau: float
    rounds: int
    converged: bool

    @property
    def deviation(self) -> Floats:
        """[cells] standard errors of the logarithm of the examination."""
        return np.sqrt(np.diag(self.covariance))

    def over(self, cell: int) -> ExaminationCurve:
        """The same curve relative to another cell, with the covariance to match."""
        shared = self.covariance[:, cell]
        covariance = self.covariance - shared[:, None] - shared + shared[cell]
        np.fill_diagonal(covariance, np.maximum(np.diag(covariance), 0.0))
        value = self.value / self.value[cell]
        return replace(self, value=value, covariance=covariance)


class _Moments(NamedTuple):
    """At one curve, for the logarithms of all cells but the first: those to which it is relative.

    likelihood: the conditional log-likelihood. score [c]; information [c, c] of the multinomial likelihood.
    products: [c, c] sums over documents of products of scores, cross: of scores and influences on the pooled estimate,
    error: of products of these influences.
    """

    likelihood: float
    score: Floats
    information: Floats
    products: Floats
    cross: Floats
    error: Floats


def _moments(counts: ClickCounts, by_cell: tuple[Floats, Floats], pooled: Pooled, log: Floats) -> _Moments:
    """by_cell: of the counts. log: [cells - 1]."""
    rest, curve = slice(1, None), np.exp(np.append(0.0, log))
    each = (_expected(part, curve, pooled.rates.value) for part in counts.parts(1 << 17))
    likelihood, score, *tables = reduce(lambda one, other: list(map(add, one, other)), each)
    if len(curve) > _MOST:
        tables = [np.diag(np.diag(table)) for table in tables]
    information, products, cross, error = tables
    # What the products of few clicks are may be small by chance: they are drawn to what they are of Poisson's law.
    (shown, clicked), few = by_cell, _FEW * len(curve)
    clicks = clicked.sum()
    expected = (information, information, np.diag(pooled.rates.value * shown))
    empirical = (products, cross, error)
    pairs = zip(empirical, expected, strict=True)
    products, cross, error = ((clicks * one + few * other) / (clicks + few) for one, other in pairs)
    influence, own = pooled.rates.over(0)
    by = influence[rest].T
    cross, error = cross[rest] @ by, by.T @ error @ by + own[rest, rest]
    return _Moments(likelihood, score[rest], information[rest, rest], products[rest, rest], cross, error)


def _expected(part: SomeDocuments, curve: Floats, rates: Floats) -> list[Any]:
    """What `expect_scores` finds of some documents."""
    return list(_kernels.expect_scores(part.begin, part.cell, part.shown, part.clicked, curve, rates))


def fit_curve(
    counts: ClickCounts,
    pooled: Pooled,
    *,
    tolerance: float = 1e-6,
    say: Callable[[float], object] = lambda _: None,
) -> ExaminationCurve:
    """The examination of each cell relative to that of the first.

    tolerance: of the logarithm.
    """
    cells = len(pooled.log)
    if cells == 1:
        return ExaminationCurve(np.ones(1), np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1)), 0.0, 0, converged=True)
    by_cell = counts.by_cell()
    target, shape = pooled.log[1:], pooled.shape[1:, 1:]
    log = target
    share, variance, converged, taken = np.empty(0), 0.0, False, 0
    for taken in range(1, _ROUNDS + 1):
        here = _moments(counts, by_cell, pooled, log)
        say(here.likelihood)
        if taken < 20:
            share = _bias(here, log - target, shape)
            # Not the mean of tau^2: a short log does not rule out a tau that is far too large.
            variance = float(np.exp(share @ np.log(_TAUS**2)))
        precision = np.linalg.inv(variance * shape + here.error)
        step = np.linalg.solve(here.information + precision, here.score - precision @ (log - target))
        log = log + step * min(1.0, _FAR / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < tolerance:
            converged = True
            break
    covariance = _covariance(here, log - target, shape, share)
    # By the information, as the products of the scores of a few clicks may be small by chance.
    alone = np.sqrt(np.diag(np.linalg.inv(here.information + _WEAK * np.eye(len(log)))))
    found = (np.exp(np.append(0.0, log)), _bordered(covariance), np.append(0.0, alone), _bordered(here.information))
    return ExaminationCurve(*found, float(np.sqrt(variance)), taken, converged)


def _bias(here: _Moments, distance: Floats, shape: Floats) -> Floats:
    """The posterior probabilities of `_TAUS`, standard deviations of the pooled estimate's bias.

    distance: [c] of the current from the pooled logarithms. Were the likelihood quadratic, information x (conditional
    - pooled estimate) were N(0, sampling error + tau^2 information shape information).
    """
    information = here.information
    found = here.score + information @ distance
    both = information @ here.cross
    error = here.products - both - both.T + information @ here.error @ information
    error[np.diag_indices_from(error)] += _WEAK
    spread = information @ shape @ information
    logs = np.empty(len(_TAUS))
    # One decomposition serves all: error = half half', and half^-1 spread half^-T = axes diag(values) axes'.
    values, axes = np.linalg.eigh(error)
    half = axes / np.sqrt(np.maximum(values, _WEAK / 10))
    values, axes = np.linalg.eigh(half.T @ spread @ half)
    squares = (axes.T @ (half.T @ found)) ** 2
    for place, tau in enumerate(_TAUS):
        variances = 1.0 + tau**2 * np.maximum(values, 0.0)
        logs[place] = -0.5 * (np.log(variances) + squares / variances).sum()
    logs += np.log(_TAUS) - np.log1p((_TAUS / _SCALE) ** 2)
    share = np.exp(logs - logs.max())
    return np.asarray(share / share.sum())


def _covariance(here: _Moments, distance: Floats, shape: Floats, share: Floats) -> Floats:
    """[c, c] of the logarithms: sampling error, the bias of click rates, and that tau is not known.

    Each tau has an estimate of its own, one step from here: how far it is from here counts as error.
    """
    found = np.zeros_like(shape)
    for tau, weight in zip(_TAUS, share, strict=True):
        if weight < _LITTLE:
            continue
        bias = tau**2 * shape
        precision = np.linalg.inv(bias + here.error)
        weigh = np.linalg.inv(here.information + precision)
        both = here.cross @ precision
        sampling = here.products + both + both.T + precision @ here.error @ precision
        step = weigh @ (here.score - precision @ distance)
        found += weight * (weigh @ (sampling + precision @ bias @ precision) @ weigh + np.outer(step, step))
    return (found + found.T) / 2


def _bordered(covariance: Floats) -> Floats:
    """With zeros for the first cell, to which the others are relative."""
    return np.pad(covariance, ((1, 0), (1, 0)))


def walk(rank: Integers, kept: float) -> Floats:
    """[cells, cells] covariance of a bias that adds up from rank to rank: a random walk around a slope in log rank.

    kept: the correlation of the ranks of two views of a document: where they are by chance, click rates have no bias.
    """
    slope = np.log1p(rank)
    return kept * np.asarray(np.minimum(rank[:, None], rank) + 16 * np.outer(slope, slope))
