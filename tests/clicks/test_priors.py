"""Priors: fitted ones against the likelihood written out, and what cannot be one."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest

from offrank.clicks import DCTR, PBM, click_model
from offrank.clicks.fit.design import PriorDesign
from offrank.clicks.fit.priors import Beta, PriorRegression, beta_binomial, fit_rates
from offrank.errors import UsageError


def common(shown: np.ndarray, clicked: np.ndarray) -> Beta:
    """The prior that all documents share."""
    return fit_rates(shown, clicked).betas(PriorDesign.common(len(shown))).of_unseen


def evidence(a: float, b: float, pairs: list[tuple[float, float]]) -> float:
    """Log-likelihood of the beta-binomial, and the faint belief."""

    def beta(x: float, y: float) -> float:
        return lgamma(x) + lgamma(y) - lgamma(x + y)

    total = a + b
    faint = log(a / total) + log(b / total) + log(1 / (1 + total)) + log(total / (1 + total))
    return sum(beta(a + y, b + n - y) - beta(a, b) for n, y in pairs) + faint


@pytest.mark.parametrize(
    "pairs",
    [
        [(10, 3), (4, 0), (7, 7), (20, 2), (3, 1)],
        [(5, 5)],
        [(8, 0)],
        [(100, 20)] * 30,
        [(2.5, 0.5), (1e6, 1e5), (1, 0)],
        [(1, 0)] * 50 + [(1, 1)] * 50,
    ],
    ids=["a few", "all clicked", "never clicked", "all alike", "weights", "single views"],
)
def test_no_other_prior_is_better(pairs: list[tuple[float, float]]) -> None:
    prior = common(*np.array(pairs, float).T)
    best = evidence(prior.a, prior.b, pairs)
    for factor in (0.5, 0.97, 1.03, 2.0):
        assert evidence(prior.a * factor, prior.b, pairs) < best + 1e-9
        assert evidence(prior.a, prior.b * factor, pairs) < best + 1e-9
        assert evidence(prior.a * factor, prior.b * factor, pairs) < best + 1e-9


def test_the_prior_of_drawn_documents_is_found() -> None:
    rng = np.random.default_rng(0)
    shown = rng.integers(1, 40, 20_000)
    clicked = rng.binomial(shown, rng.beta(1.5, 6, len(shown)))
    prior = common(shown.astype(float), clicked.astype(float))
    assert (prior.a, prior.b) == (pytest.approx(1.5, rel=0.05), pytest.approx(6, rel=0.05))


@pytest.mark.parametrize("table", [[-2.0, 0.5], [0.3, -1.0, 2.0, 0.4, 1.2, -0.7]])
def test_slopes_of_the_hyperprior_and_of_the_evidence(table: list[float]) -> None:
    rng = np.random.default_rng(1)
    rank = rng.uniform(1, 8, 60)
    ranked = PriorDesign.of_ranks(rank, 2).with_covariates(rng.normal(size=(60, 2)))
    design = PriorDesign.common(60) if len(table) == 2 else ranked
    n = rng.integers(1, 9, 60).astype(float)
    y = np.floor(n * rng.random(60))

    def value(at: np.ndarray) -> tuple[float, np.ndarray]:
        prior = PriorRegression.at(at, design)
        betas = prior.betas(design)
        found, by_a, by_b = beta_binomial(n, y, np.asarray(betas.a)[:-1], np.asarray(betas.b)[:-1])
        density, slopes = prior.hyper(design)
        return found + density, prior.scores(design, by_a, by_b).sum(axis=0) + slopes

    at = np.array(table)
    _, slopes = value(at)
    for place, step in enumerate(1e-6 * np.eye(len(at))):
        assert slopes[place] == pytest.approx((value(at + step)[0] - value(at - step)[0]) / 2e-6, rel=1e-5, abs=1e-6)


def test_a_regression_finds_how_priors_depend_on_rank_and_covariates() -> None:
    rng = np.random.default_rng(2)
    d = 6_000
    rank, x = rng.uniform(1, 10, d), rng.normal(size=(d, 1))
    mean = 1 / (1 + np.exp(-(0.5 - 0.4 * rank + 0.7 * x[:, 0])))
    shown = rng.integers(1, 30, d).astype(float)
    clicked = rng.binomial(shown.astype(int), rng.beta(8 * mean, 8 * (1 - mean))).astype(float)
    design = PriorDesign.of_ranks(rank).with_covariates(x)
    prior = fit_rates(shown, clicked, design)
    assert np.abs(prior.means(design) - mean).mean() < 0.01
    assert prior.coefficients[-1] == pytest.approx(0.7, abs=0.05)
    assert prior.strengths(design) == pytest.approx(np.full(d, 8.0), rel=0.25)
    assert prior.strengths(design).mean() == pytest.approx(8, rel=0.1)
    # What is known of an unseen document: the mean and the variance of all priors together.
    unseen = prior.betas(design).of_unseen
    drawn = rng.beta(8 * mean, 8 * (1 - mean))
    assert float(unseen.mean) == pytest.approx(drawn.mean(), abs=0.01)
    assert float(unseen.mean * (1 - unseen.mean) / (unseen.strength + 1)) == pytest.approx(drawn.var(), rel=0.05)
    # Standard errors: six of the seven coefficients of other samples are within two of them.
    betas = prior.betas(design)
    scores = prior.scores(
        design, *beta_binomial(shown, clicked, np.asarray(betas.a)[:-1], np.asarray(betas.b)[:-1])[1:]
    )
    error = np.sqrt(np.diag(prior.covariance(design, scores, d)))
    assert 0.01 < error[len(design.center) - 1] < 0.03
    assert abs(prior.coefficients[-1] - 0.7) < 3 * error[len(design.center) - 1]


def test_few_documents_have_one_prior() -> None:
    assert PriorDesign.of_ranks(np.arange(1.0, 30.0)).rows.shape == (29, 1)
    assert PriorDesign.of_ranks(np.full(1000, 3.0)).rows.shape == (1000, 1)


def test_a_prior_is_stored_as_a_table() -> None:
    prior = Beta(2.0, 6.0)
    assert (prior.mean, prior.strength) == (0.25, 8.0)
    assert Beta(*prior.table) == prior
    again = PriorRegression.of(prior).betas(PriorDesign.common(1)).of_unseen
    assert (again.a, again.b) == (pytest.approx(2), pytest.approx(6))


@pytest.mark.parametrize("prior", ["fitted", (1, 0), (1,), (1, 2, 3), 5, None])
def test_what_is_no_prior(prior: object) -> None:
    with pytest.raises(UsageError, match="is not a prior"):
        PBM(prior=prior)  # type: ignore[arg-type]


def test_spellings() -> None:
    assert repr(DCTR()) == "dctr"
    assert click_model("dctr([1, 5])").prior == (1, 5)  # type: ignore[attr-defined]
    assert repr(click_model("pbm([1, 5], 1e-5)")) == "pbm([1, 5], 1e-05)"
