"""Click rates: overall, by rank, by document, and by document and rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..language import Say, silent
from ..log.batch import Floats, Integers
from .base import FitResult, Parameters, Role, Roles
from .click_counts import ClickCounts
from .documents import SlateDocuments
from .examined import prior_of
from .fit.design import PriorDesign
from .fit.priors import UNIFORM, Beta, PriorRegression, beta_binomial, fit_rates, given
from .fit.uncertainty import Uncertainty, following, leading_and_own
from .laws import ClickLaw, Independent
from .model import CountModel, WithPrior, of_documents, of_ranks, rank_rates

_LEAST = 1e-3
"""The lowest probability of a click, as a document that was never clicked may be clicked."""
_DOCUMENTS = 20_000
"""Evenly chosen documents that are enough for the prior of all."""


@dataclass(frozen=True, repr=False)
class GCTR(CountModel):
    """The global click rate: every document is clicked with the same probability at every rank.

    The simplest baseline. Its relevance is uninformative: the same for every document. The rate is the posterior
    mean under a uniform prior.

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
        >>> round(offrank.clicks.GCTR().fit(rows).score(rows), 1) <= 0
        True
    """

    name: ClassVar[str] = "gctr"
    learns_examination: ClassVar[bool] = False

    def roles(self) -> Roles:
        return {"rate": Role.SHARED}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        shown, clicked = data.shown.sum(), data.clicked.sum()
        rate, strength = np.array([(clicked + 1) / (shown + 2)]), np.array([shown + 2.0])
        return FitResult({"rate": rate}, {"rate": strength})

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        return Independent(np.where(slots.shown, parameters["rate"][0], 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return np.full(document.shape, parameters["rate"][0])


@dataclass(frozen=True, repr=False)
class RCTR(CountModel):
    """The click rate of each rank, whichever document is shown there.

    Its relevance is uninformative: the same for every document. It is not an examination curve: good documents
    are shown high. Rates are posterior means under a uniform prior; ranks below the lowest one seen have its rate.

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
        >>> round(offrank.clicks.RCTR().fit(rows).score(rows), 1) <= 0
        True
    """

    name: ClassVar[str] = "rctr"
    learns_examination: ClassVar[bool] = False

    def roles(self) -> Roles:
        return {"rate": Role.RANK}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        shown, _ = data.by_position()
        return FitResult({"rate": rank_rates(data)}, {"rate": shown + 2})

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        rates = of_ranks(parameters["rate"], slots.shown.shape[1])
        return Independent(np.where(slots.shown, rates, 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return np.full(document.shape, parameters["rate"].mean())


@dataclass(frozen=True, repr=False)
class DCTR(WithPrior):
    """The click rate of each document, at whichever rank it is shown, which is its relevance.

    A rate is the posterior mean (clicked + a) / (shown + a + b) under a prior Beta(a, b), which depends on the mean
    logged rank of the document (`prior="common"`: on nothing) and is fitted to all documents by the likelihood of the
    beta-binomial, unless it is given. Unseen documents have the mean of all priors.

    Parameters:
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
        >>> round(offrank.clicks.DCTR().fit(rows).score(rows), 1) <= 0
        True
    """

    name: ClassVar[str] = "dctr"
    learns_examination: ClassVar[bool] = False

    def roles(self) -> Roles:
        return {"rate": Role.DOCUMENT, "rate_prior": Role.PRIOR, "rate_regression": Role.REGRESSION}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        setting, loadings = prior_of(self.prior, data), dict[str, Floats]()
        some = np.arange(0, data.documents, -(-data.documents // _DOCUMENTS))
        if isinstance(setting, PriorDesign):
            shown, clicked = (one[some] for one in data.by_document())
            regression = fit_rates(shown, clicked, setting.take(some))
            betas = regression.betas(setting)
        else:
            regression, betas = PriorRegression.of(setting), setting
        rate, strength, unseen = np.empty(data.documents + 1), np.empty(data.documents + 1), betas.of_unseen
        rate[-1], strength[-1] = unseen.mean, unseen.strength
        for part in data.parts():
            each, (views, clicks) = betas.of(part.rows), part.by_document()
            rate[part.rows], strength[part.rows] = each.posterior_mean(clicks, views), views + each.strength
        if isinstance(setting, PriorDesign):
            a, b = betas.of_seen(data.documents)
            evidence = shown, clicked, a[some], b[some]
            del betas, a, b  # of all documents: there is less in memory
            doubt = _doubt(rate, strength, regression, setting, evidence, some)
            known, loadings = leading_and_own({"rate": doubt})
            strength = known["rate"]
        tables = {"rate": rate, "rate_prior": unseen.table, "rate_regression": regression.table}
        return FitResult(tables, {"rate": strength}, info={"rate_prior": unseen.table.tolist()}, loadings=loadings)

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        return Independent(of_documents(parameters["rate"], slots))


@dataclass(frozen=True, repr=False)
class COEC(CountModel):
    """Clicks over expected clicks, which search engines judge documents by: a baseline.

    Relevance is clicked[d] / sum_k shown[d, k] rate[k], with the click rates of the ranks: 1 for a document that is
    clicked as often as others at its ranks. Good documents stand high and raise the rates there, so that it is too low
    for them. There is no prior and no interval; `dctr` and `pbm` have both. Rates are posterior means under a uniform
    prior; an unseen document has 1; probabilities of clicks are kept between .001 and .999.

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
        >>> round(offrank.clicks.COEC().fit(rows).score(rows), 1) <= 0
        True
    """

    name: ClassVar[str] = "coec"
    learns_examination: ClassVar[bool] = False

    def roles(self) -> Roles:
        return {"least": Role.DOCUMENT, "rate": Role.RANK}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        rates, ratio = rank_rates(data), np.ones(data.documents + 1)
        for part in data.parts():
            expected = np.bincount(part.document, part.shown * rates[data.rank(part.cell)], part.documents)
            ratio[part.rows] = part.by_document()[1] / expected
        # Its rate at the rank that is clicked least is a probability, as no table's entry may be above 1.
        return FitResult({"least": np.minimum(ratio * rates.min(), 1.0), "rate": rates})

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        expected = of_ranks(parameters["rate"], slots.shown.shape[1]) * self.relevance(parameters, slots.document)
        return Independent(np.where(slots.shown, np.clip(expected, _LEAST, 1 - _LEAST), 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return np.asarray(parameters["least"][document] / parameters["rate"].min())


@dataclass(frozen=True, repr=False)
class RDCTR(WithPrior):
    """The click rate of each document at each rank.

    A rate is the posterior mean under a prior Beta(a_k, b_k) of its rank, fitted to all documents that were shown
    there; a document that was not has the mean of that prior. Ranks below the lowest one seen have its rates.
    Relevance is sum_k ctr[d, k] / ctr[k] (Eq. 3 of reference [17] of paper cmip-debiasedness) over the ranks where
    anything was clicked. Parameters take documents x ranks.

    Parameters:
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]
        >>> round(offrank.clicks.RDCTR().fit(rows).score(rows), 1) <= 0
        True
    """

    name: ClassVar[str] = "rdctr"
    learns_examination: ClassVar[bool] = False

    def roles(self) -> Roles:
        return {"rate": Role.DOCUMENT_AND_RANK, "rate_prior": Role.PRIOR, "rank_rate": Role.RANK}

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        data = data.by_rank()
        priors = self._priors(data)
        strength = np.tile(priors.sum(axis=1), (data.documents + 1, 1))
        rate = priors[:, 0] / strength
        before, at = strength[0, data.cell], (data.document, data.cell)
        rate[at] = (data.clicked + rate[at] * before) / (data.shown + before)
        strength[at] += data.shown
        shown, clicked = data.by_cell()
        ranks = np.divide(clicked, shown, out=np.zeros_like(shown), where=shown > 0)
        tables = {"rate": rate, "rate_prior": priors, "rank_rate": ranks}
        return FitResult(tables, {"rate": strength}, info={"rate_prior": priors.tolist()})

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        rate, ranks = parameters["rate"], np.arange(slots.shown.shape[1])
        return Independent(np.where(slots.shown, rate[slots.document, np.minimum(ranks, rate.shape[1] - 1)], 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        clicked = parameters["rank_rate"] > 0
        found = parameters["rate"][:, clicked] @ (1.0 / parameters["rank_rate"][clicked])
        return np.asarray(found[document])

    def _priors(self, data: ClickCounts) -> Floats:
        """[ranks, 2] the prior of each rank."""
        ranks = [data.cell == rank for rank in range(data.ranks)]
        fitted = (
            given(self.prior) or (_common(data.shown[at], data.clicked[at]) if at.any() else UNIFORM) for at in ranks
        )
        return np.stack([prior.table for prior in fitted])


def _common(shown: Floats, clicked: Floats) -> Beta:
    """The prior that all documents share."""
    return fit_rates(shown, clicked).betas(PriorDesign.common(1)).of_unseen


def _doubt(
    rate: Floats,
    strength: Floats,
    prior: PriorRegression,
    design: PriorDesign,
    evidence: tuple[Floats, Floats, Floats, Floats],
    some: Integers,
) -> Uncertainty:
    """The rates [documents + 1], which move with the doubt of the prior, which `some` documents gave.

    evidence: their counts and their priors' a and b.
    """
    _, *slopes = beta_binomial(*evidence)
    covariance = prior.covariance(design, prior.scores(design.take(some), *slopes), len(some))
    values, axes = np.linalg.eigh(covariance)

    def moved(rows: slice) -> tuple[Floats, Floats, Floats]:
        value, size = rate[rows], strength[rows]
        return np.empty((len(value), 0)), (1 - value) / size, -value / size

    return following(rate, strength, moved, prior, design, axes * np.sqrt(np.maximum(values, 0.0)))
