"""Priors of documents: each one's Beta by regression on what is known of it, fitted by marginal likelihood.

Good documents are shown high: a prior that all documents share judges those at the bottom too well. So the mean of a
document's prior depends on its mean logged rank, and on further covariates where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...log.batch import Floats, Integers
from . import _kernels
from .compressed_sessions import Trials
from .design import PriorDesign, blocks
from .em import expit, logit
from .maximise import maximise

Prior = Literal["fit", "common"] | tuple[float, float]
"""The prior of a document's probability: by regression, fitted and common to all documents, or a given Beta(a, b)."""


@dataclass(frozen=True)
class Beta:
    """Beta(a, b): equivalent to a earlier clicks and b earlier views without a click.

    Numbers where all documents share it, else arrays [documents + 1], the last entry for an unseen document; or arrays
    of which each document has the entry `which` [documents + 1].
    """

    a: float | Floats
    b: float | Floats
    which: Integers | None = None

    @property
    def strength(self) -> float | Floats:
        return self.a + self.b

    @property
    def mean(self) -> float | Floats:
        return self.a / self.strength

    @property
    def table(self) -> Floats:
        """[..., 2] the prior as an array, to store with its table."""
        return np.stack([np.asarray(self.a), np.asarray(self.b)], axis=-1)

    @property
    def of_unseen(self) -> Beta:
        """The prior of an unseen document."""
        a, b = (float(np.atleast_1d(one)[-1]) for one in (self.a, self.b))
        return Beta(a, b)

    def of_seen(self, documents: int) -> tuple[Floats, Floats]:
        """a and b [documents] of each seen document."""
        a, b = (np.asarray(part, np.float64) for part in (self.a, self.b))
        return (a[:-1], b[:-1]) if a.ndim else (np.full(documents, a), np.full(documents, b))

    def of(self, documents: Integers | slice) -> Beta:
        """The priors of some documents."""
        documents = documents if self.which is None else self.which[documents]
        return Beta(np.asarray(self.a)[documents], np.asarray(self.b)[documents]) if np.ndim(self.a) else self

    def posterior_mean(self, successes: Floats, trials: Floats) -> Floats:
        """The posterior mean, which is the posterior mode on the logit scale."""
        return np.asarray((successes + self.a) / (trials + self.strength))

    def log_density(self, value: Floats) -> float:
        """The summed log-density of the logits, up to a constant."""
        return float((self.a * np.log(value) + self.b * np.log1p(-value)).sum())


UNIFORM = Beta(1.0, 1.0)
"""The uniform prior."""


def given(prior: object) -> Beta | None:
    """The prior given by a setting; None where it is to be fitted.

    Raises:
        UsageError: neither "fit", "common" nor two positive numbers.
    """
    if isinstance(prior, str) and prior in ("fit", "common"):
        return None
    if isinstance(prior, Sequence) and len(prior) == 2 and all(isinstance(x, int | float) and x > 0 for x in prior):
        return Beta(float(prior[0]), float(prior[1]))
    raise UsageError(f"prior={prior!r} is not a prior", "use fit, common, or two positive numbers such as [1, 5]")


Evidence = Callable[[Floats, Floats], tuple[float, Floats, Floats]]
"""Beta parameters a, b [d] of documents -> (log-evidence of all of them, its derivatives by a [d] and by b [d])."""

_FARTHEST = 14.0
"""Largest absolute logit of a prior's mean, and logarithm of its strength."""
_DOUBTED = 2.0
"""Largest standard deviation of the logarithm of a strength: beyond, a normal distribution of it is wrong."""


@dataclass(frozen=True)
class PriorRegression:
    """Document d has the prior Beta(m s, (1 - m) s) with logit m = design[d] @ coefficients [p].

    Its strength s is in harmonic sum of the design's strongest and of a curve by mean logged rank: what is left at the
    bottom of good rankings is more alike than what is at their top. log_strength: [design.curve] at its knots.
    """

    coefficients: Floats
    log_strength: Floats

    @classmethod
    def flat(cls, design: PriorDesign, mean: float = 0.5, strength: float = 2.0) -> PriorRegression:
        """The same prior for every document."""
        return cls(design.level(float(logit(np.array(mean)))), np.full(design.curve, np.log(strength)))

    @classmethod
    def of(cls, prior: Beta) -> PriorRegression:
        """One prior for all documents."""
        return cls(np.atleast_1d(logit(np.asarray(prior.mean))), np.atleast_1d(np.log(prior.strength)))

    @classmethod
    def at(cls, table: Floats, design: PriorDesign) -> PriorRegression:
        """The regression on a design that `table` wrote."""
        p = len(design.center)
        return cls(np.array(table[:p]), np.array(table[p:]))

    @property
    def table(self) -> Floats:
        """[p + design.curve] coefficients and logarithms of the strengths, to store with a model."""
        return np.concatenate([self.coefficients, self.log_strength])

    def moved(self, table: Floats) -> PriorRegression:
        """One of the same design with another table."""
        p = len(self.coefficients)
        return PriorRegression(table[:p], table[p:])

    def strengths(self, design: PriorDesign) -> Floats:
        """[d] the strength of each document's prior."""
        logs = np.clip(design.along(self.log_strength), -_FARTHEST, _FARTHEST)
        return np.asarray(1.0 / (np.exp(-logs) + 1.0 / design.strongest))

    def doubted(self, design: PriorDesign, covariance: Floats) -> Floats:
        """[d] the strengths that say how wide priors are if their strengths have a doubt: 1 / the mean of 1 / strength.

        covariance: [p + curve, p + curve] of `table`. A log that hardly tells how much documents differ would else make
        them as alike as those of other ranks.
        """
        rows, p = design.rows[:, : design.curve], len(self.coefficients)
        logs = np.clip(design.along(self.log_strength), -_FARTHEST, _FARTHEST)
        variance = np.minimum(np.einsum("dp,pq,dq->d", rows, covariance[p:, p:], rows), _DOUBTED**2)
        return np.asarray(1.0 / (np.exp(variance / 2 - logs) + 1.0 / design.strongest))

    def means(self, design: PriorDesign) -> Floats:
        """[d] the prior mean of each document of the design."""
        logits = np.clip(design.along(self.coefficients), -_FARTHEST, _FARTHEST)
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))

    def betas(self, design: PriorDesign) -> Beta:
        """[d + 1] the prior of each document; the last, of an unseen one, has the mean and variance of all of them."""
        a, b = np.append(self.means(design), 0.0), np.append(self.strengths(design), 0.0)
        times = np.broadcast_to(np.ones(1), len(a)) if design.which is None else np.bincount(design.which) * 1.0
        documents, own = float(times[:-1].sum()), 0.0
        level = float((times[:-1] * a[:-1]).sum()) / documents
        variance = float((times[:-1] * (a[:-1] - level) ** 2).sum()) / documents
        for rows in blocks(len(a) - 1):
            mean, strength = a[:-1][rows], b[:-1][rows].copy()
            own += float((times[:-1][rows] * mean * (1 - mean) / (strength + 1)).sum())
            b[:-1][rows] = (1 - mean) * strength
            a[:-1][rows] = mean * strength
        of_unseen = max(level * (1 - level) / max(variance + own / documents, 1e-300) - 1, 1e-3)
        a[-1], b[-1] = level * of_unseen, (1 - level) * of_unseen
        return Beta(a, b, design.which)

    def scores(self, design: PriorDesign, by_a: Floats, by_b: Floats) -> Floats:
        """[d, p + 1] derivatives of each document's log-evidence by `table`, from those by its a and b [d]."""
        mean, strength = self.means(design), self.strengths(design)
        by_mean = strength * mean * (1 - mean) * (by_a - by_b)
        by_strength = strength * (1 - strength / design.strongest) * (mean * by_a + (1 - mean) * by_b)
        return np.column_stack([by_mean[:, None] * design.rows, by_strength[:, None] * design.rows[:, : design.curve]])

    def hyper(self, design: PriorDesign) -> tuple[float, Floats]:
        """(log-density of the weak hyperprior that keeps fits off the edges, its derivatives [p + curve] by `table`).

        Beta(2, 2) for the mean of an average document and for 1 / (1 + strength), worth one observation of either kind
        each, and the design's own penalty; that of the curve for the strengths as well.
        """
        logs, (center, penalty) = self.log_strength, design.of_strengths
        mean = float(expit(np.asarray(design.center @ self.coefficients)))
        share = float(expit(np.asarray(-center @ logs)))
        density = float(np.log([mean, 1 - mean, share, 1 - share]).sum())
        pull, steadied = design.penalty @ self.coefficients, penalty @ logs
        slopes = np.append((1 - 2 * mean) * design.center - pull, -(1 - 2 * share) * center - steadied)
        return density - 0.5 * float(self.coefficients @ pull + logs @ steadied), slopes

    def covariance(self, design: PriorDesign, scores: Floats, documents: int) -> Floats:
        """[p + curve, p + 1] of `table`, from the products of the scores [d, p + 1] of a sample of the documents.

        The weak hyperprior counts as one more document would.
        """
        information = scores.T @ scores * (documents / max(len(scores), 1))
        return np.asarray(np.linalg.pinv(information + self.curvature(design), hermitian=True))

    def curvature(self, design: PriorDesign) -> Floats:
        """[p + curve, p + curve] about the information of the weak hyperprior."""
        p, (center, penalty) = len(self.coefficients), design.of_strengths
        own = np.zeros((p + design.curve, p + design.curve))
        own[:p, :p] = design.penalty + 0.5 * np.outer(design.center, design.center)
        own[p:, p:] = penalty + 0.5 * np.outer(center, center)
        return own


def evidence_slopes(evidence: Evidence, prior: PriorRegression, design: PriorDesign) -> tuple[float, Floats, Floats]:
    """(log-evidence with hyperprior, [d, p + curve] each document's derivatives by the prior's table, those of all)."""
    found, by_a, by_b = evidence(*prior.betas(design).of_seen(len(design)))
    (density, slopes), scores = prior.hyper(design), prior.scores(design, by_a, by_b)
    return found + density, scores, scores.sum(axis=0) + slopes


def best(
    evidence: Evidence, design: PriorDesign, start: PriorRegression, *, tolerance: float = 1e-5
) -> PriorRegression:
    """The regression with the largest evidence of the documents times weak hyperprior; never worse than the start.

    tolerance: largest slope there, in units of standard errors.
    """

    def value(table: Floats) -> tuple[float, Floats]:
        reached, _, slopes = evidence_slopes(evidence, start.moved(table), design)
        return reached, slopes

    def information(table: Floats) -> Floats:
        prior = start.moved(table)
        _, scores, _ = evidence_slopes(evidence, prior, design)
        return np.asarray(scores.T @ scores + prior.curvature(design))

    return start.moved(maximise(value, information, start.table, tolerance=tolerance).at)


def fit_rates(shown: Floats, clicked: Floats, design: PriorDesign | None = None) -> PriorRegression:
    """The prior of click rates by the beta-binomial likelihood; shown and clicked [d], one entry per document.

    design: by default one prior for all.
    """
    rate, start = float((clicked.sum() + 1) / (shown.sum() + 2)), 4.0
    if design is not None:
        flat = PriorRegression.flat(design, rate, start)
        return best(partial(beta_binomial, shown, clicked), design, flat)
    pairs, times = np.unique(shown + 1j * clicked, return_counts=True)
    common = PriorDesign.common(len(pairs))
    evidence = partial(beta_binomial, pairs.real, pairs.imag, times=times)
    return best(evidence, common, PriorRegression.flat(common, rate, start))


def beta_binomial(
    n: Floats, y: Floats, a: Floats, b: Floats, times: float | NDArray[np.int64] = 1.0
) -> tuple[float, Floats, Floats]:
    """The `Evidence` of documents with y clicks of n views, all [d]; times: how many documents are like each."""
    from scipy.special import betaln, digamma  # slow to import

    both = digamma(a + b) - digamma(a + b + n)
    by_a, by_b = digamma(a + y) - digamma(a) + both, digamma(b + n - y) - digamma(b) + both
    value = times * (betaln(a + y, b + n - y) - betaln(a, b))
    return float(value.sum()), times * by_a, times * by_b


_DOCUMENTS = 1_000
_CLOSE = 0.03
"""Largest slope of the evidence on a grid where a fit ends, in units of standard errors."""
_NODES = np.linspace(-6.0, 6.0, 21)


@dataclass(frozen=True)
class EvidenceGrid:
    """Likelihoods of documents' probabilities on 21 logits around each: six standard deviations either way.

    More than 1,000 documents are thinned evenly: that many are enough to fit a few numbers.

    row: [documents + 1] index among those kept, -1 where thinned out. logits, logs: [kept, 21].
    """

    value: Floats
    row: NDArray[np.int64]
    logits: Floats
    logs: Floats

    @classmethod
    def around(cls, value: Floats, strength: Floats) -> EvidenceGrid:
        """A grid around value, with effective sample size strength: [documents + 1] each, the last for unseen ones."""
        kept = np.arange(0, len(value) - 1, -(-(len(value) - 1) // _DOCUMENTS))
        row = np.full(len(value), -1)
        row[kept] = np.arange(len(kept))
        p = value[kept]
        spread = 1.0 / np.sqrt(strength[kept] * p * (1.0 - p))
        logits = np.clip(logit(p)[:, None] + spread[:, None] * _NODES, -30.0, 30.0)
        return cls(value, row, logits, np.zeros_like(logits))

    def add(self, trials: Trials) -> None:
        """Multiply the likelihoods by those of these trials."""
        _kernels.add_logs(*trials, self.row, self._odds, self.logs)

    def fit(self, start: PriorRegression, design: PriorDesign) -> PriorRegression:
        """The prior with the largest evidence, each document's probability integrated out; design: of all documents."""
        return best(self.evidence, design.take(self.kept), start, tolerance=_CLOSE)

    @property
    def kept(self) -> NDArray[np.int64]:
        """[kept] the documents that were not thinned out."""
        return np.flatnonzero(self.row >= 0)

    def evidence(self, a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        """The `Evidence` of the documents that were kept; steps of the grid do not depend on the prior: left out."""
        from scipy.special import betaln, digamma  # slow to import

        log_p, log_q = self._chances
        logs = self.logs + a[:, None] * log_p + b[:, None] * log_q
        largest = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - largest)
        total = share.sum(axis=1)
        value = largest.sum() + np.log(total).sum() - betaln(a, b).sum()
        both = digamma(a + b)
        by_a, by_b = (
            np.einsum("dg,dg->d", share, log) / total - digamma(part) + both for log, part in ((log_p, a), (log_q, b))
        )
        return float(value), by_a, by_b

    @cached_property
    def _chances(self) -> tuple[Floats, Floats]:
        """[kept, 21] the logarithms of the probabilities, and of their complements."""
        return -np.logaddexp(0, -self.logits), -np.logaddexp(0, self.logits)

    @cached_property
    def _odds(self) -> Floats:
        """[kept, 21, 2] the probabilities over the current one, and the same of their complements."""
        p = self.value[self.kept][:, None]
        return np.asarray(np.exp(np.stack(self._chances, axis=2)) / np.stack([p, 1.0 - p], axis=2))
