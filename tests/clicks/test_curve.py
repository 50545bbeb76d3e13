"""The blended examination curve, and what its doubt does to documents: against numerical derivatives and refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from offrank.clicks import PBM, TrustBias
from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.examined import mean_attraction, prior_of
from offrank.clicks.fit.curve import ExaminationCurve, Pooled, fit_curve, walk
from offrank.clicks.fit.em import expit, logit
from offrank.clicks.fit.posterior import Attractions, Chances, Fixed, fit_attractions, log_normaliser
from offrank.clicks.fit.priors import Beta, PriorRegression
from offrank.clicks.fit.uncertainty import (
    Uncertainty,
    attraction_doubt,
    beta_covariance,
    directions,
    leading_and_own,
    of_logarithms,
)
from offrank.clicks.pbm import pooled_rank_rates
from offrank.clicks.trust import Trusting
from tests.clicks.examined import RANKS, World

CURVE = 1 / np.arange(1, RANKS + 1)
WORLD = World(PBM(), {"examination": CURVE}, queries=40)


@pytest.fixture(scope="module")
def counts() -> ClickCounts:
    return PBM().from_sessions(WORLD.sessions(3000, 0))


def tables(counts: ClickCounts) -> tuple[np.ndarray, np.ndarray]:
    """[documents, cells] shown and clicked."""
    shown, clicked = np.zeros((2, counts.documents, counts.cells))
    shown[counts.document, counts.cell] = counts.shown
    clicked[counts.document, counts.cell] = counts.clicked
    return shown, clicked


def document_scores(logs: np.ndarray, counts: ClickCounts) -> np.ndarray:
    """[documents, cells - 1] of the multinomial of where each document's clicks are."""
    shown, clicked = tables(counts)
    share = shown * np.exp(np.append(0.0, logs))
    share /= share.sum(axis=1, keepdims=True)
    return (clicked - clicked.sum(axis=1, keepdims=True) * share)[:, 1:]


def test_where_click_rates_may_be_wrong_by_anything_it_is_the_conditional_estimate(counts: ClickCounts) -> None:
    shown, clicked = tables(counts)

    def loss(logs: np.ndarray) -> float:
        weight = shown * np.exp(np.append(0.0, logs))
        return -float((clicked * np.log(np.where(clicked > 0, weight, 1) / weight.sum(axis=1, keepdims=True))).sum())

    best = minimize(loss, np.zeros(RANKS - 1), method="BFGS").x
    pooled = pooled_rank_rates(counts)
    found = fit_curve(counts, replace(pooled, shape=1e6 * pooled.shape))
    assert found.converged
    assert np.log(found.value[1:]) == pytest.approx(best, abs=1e-3)
    # The sandwich, from numerical derivatives; the inverse information alone would be up to a fifth larger.
    step = 1e-5
    slopes = [document_scores(best + step * e, counts).sum(axis=0) for e in np.eye(RANKS - 1)]
    back = [document_scores(best - step * e, counts).sum(axis=0) for e in np.eye(RANKS - 1)]
    bread = np.linalg.inv((np.array(back) - np.array(slopes)) / (2 * step))
    scores = document_scores(best, counts)
    sandwich = bread @ (scores.T @ scores) @ bread
    assert found.deviation[1:] == pytest.approx(np.sqrt(np.diag(sandwich)), rel=0.01)
    assert found.alone[1:] == pytest.approx(np.sqrt(np.diag(bread)), rel=0.01)
    assert (np.sqrt(np.diag(bread)) / np.sqrt(np.diag(sandwich))).max() > 1.1


def test_a_curve_relative_to_another_rank(counts: ClickCounts) -> None:
    found = fit_curve(counts, pooled_rank_rates(counts))
    other = found.over(2)
    assert other.value == pytest.approx(found.value / found.value[2])
    log = np.array([0, 0, 0, 1.0, 0, 0]) - np.array([0, 0, 1.0, 0, 0, 0])
    assert other.covariance[3, 3] == pytest.approx(log @ found.covariance @ log)
    assert other.deviation[2] == 0


def bias(curve: ExaminationCurve, rates: Pooled) -> float:
    """The standard deviation of the bias of the second rank's click rate, in that of documents that keep their rank."""
    ranks = np.arange(RANKS)
    return curve.tau * float(np.sqrt(rates.shape[1, 1] / walk(ranks, 1.0)[1, 1]))


def biased(order: float, n: int, seed: int = 1) -> tuple[ExaminationCurve, Pooled]:
    """The curve of a log whose first ranks have the better documents, the more so the larger `order`."""
    counts = PBM().from_sessions(WORLD.sessions(n, seed, order))
    return fit_curve(counts, pooled_rank_rates(counts)), pooled_rank_rates(counts)


def test_click_rates_count_the_more_the_less_they_contradict() -> None:
    alike = biased(0.0, 20_000)
    good, rates = biased(8.0, 20_000)
    assert bias(*alike) < 0.02
    assert bias(good, rates) > 0.14  # a median of what is likely, not the root mean square, of which the tail is heavy
    assert np.abs(np.log(good.value / CURVE)).max() < 0.35 < np.abs(rates.log - np.log(CURVE)).max()
    # Where documents are alike, click rates make the curve more certain than the conditional likelihood alone.
    few, _ = biased(0.0, 150)
    assert few.deviation.mean() < 0.97 * few.alone.mean()


def test_a_sparse_log_falls_back_to_click_rates() -> None:
    """Every document at one rank but three, of which one was clicked once, at its lower rank."""
    rank = np.repeat(np.arange(4), 500)
    clicks = np.random.default_rng(0).random(len(rank)) < 0.4 / (1 + rank)
    document = np.append(np.arange(len(rank)), [0, 1, 2])
    cell, clicked = np.append(rank, [1, 2, 3]), np.append(clicks, [0, 1, 0]).astype(float)
    order = np.lexsort([cell, document])
    sparse = ClickCounts(document[order], cell[order], np.ones(len(cell)), clicked[order], len(rank), 4)
    learnt = PBM().learn(sparse)
    assert learnt.parameters["examination"] == pytest.approx(np.exp(pooled_rank_rates(sparse).log), rel=0.1)
    assert [caution.code for caution in learnt.cautions] == ["examination-unknown"]
    assert "75 %" in learnt.cautions[0].message


@pytest.mark.parametrize(("a", "b"), [(0.05, 3.0), (2.0, 0.01), (1.5, 7.0), (300.0, 4000.0)])
def test_normalisers_and_their_slopes(a: float, b: float) -> None:
    x = np.linspace(-16, 16, 200_001)
    log_u, log_v = -np.logaddexp(0, -x), -np.logaddexp(0, x)
    value, by_a, by_b = (float(part[0]) for part in log_normaliser(np.array([a]), np.array([b])))
    density = np.exp(a * log_u + b * log_v - value)
    assert np.trapezoid(density, x) == pytest.approx(1, rel=1e-6)
    assert by_a == pytest.approx(np.trapezoid(density * log_u, x), rel=1e-6)
    assert by_b == pytest.approx(np.trapezoid(density * log_v, x), rel=1e-6)


def fitted(counts: ClickCounts, chances: Chances, prior: str | tuple[float, float]) -> Attractions:
    of = prior_of(prior, counts)
    begin = None if isinstance(of, Beta) else PriorRegression.flat(of, 0.2, 4.0)
    return fit_attractions(counts, Fixed(chances), of, begin, tolerance=1e-8, say=len)


@pytest.mark.parametrize("prior", [(1.0, 4.0), "common", "fit"])
def test_what_the_curve_does_to_documents(counts: ClickCounts, prior: str | tuple[float, float]) -> None:
    """The loadings against refits of prior and documents with another curve."""
    step, along = 1e-3, np.zeros((RANKS, 2))
    along[1, 0], along[2:, 1] = 1.0, 0.5
    chances = Chances(0.9 * CURVE, np.zeros(RANKS))
    design = prior_of(prior, counts)
    found = attraction_doubt(fitted(counts, chances, prior), of_logarithms(chances, along), design)
    for direction in range(2):
        more, less = (
            fitted(counts, Chances(chances.hit * np.exp(sign * along[:, direction]), chances.false), prior)
            for sign in (step, -step)
        )
        slope = (more.mean - less.mean) / (2 * step) / (found.value * (1 - found.value))
        loading = found.loadings(slice(0, len(found.value)))
        assert loading[:, direction] == pytest.approx(slope, rel=1e-3, abs=1e-6 if prior == (1.0, 4.0) else 0.1)


def test_the_prior_s_own_doubt_moves_documents(counts: ClickCounts) -> None:
    """Its size by refits to halves of the documents: that of the mean of all attractions."""
    chances = Chances(CURVE, np.zeros(RANKS))
    design = prior_of("common", counts)
    assert not isinstance(design, Beta)
    found = attraction_doubt(fitted(counts, chances, "common"), np.zeros((2, RANKS, 0)), design)
    means = []
    for seed in range(6):
        other = PBM().from_sessions(replace(WORLD, queries=41 + seed).sessions(3000, seed))
        means.append(fitted(other, chances, "common").mean[-1])
    unseen = (
        found.value[-1] * (1 - found.value[-1]) * np.sqrt((found.loadings(slice(0, len(found.value)))[-1] ** 2).sum())
    )
    assert 0.4 < unseen / np.std(means, ddof=1) < 2.5


def test_covariance_of_logarithms() -> None:
    drawn = np.random.default_rng(0).beta(2.0, 5.0, 400_000)
    logs = np.cov(np.log(drawn), np.log1p(-drawn))
    assert beta_covariance(Beta(np.array([2.0]), np.array([5.0])))[0] == pytest.approx(logs, rel=0.02)


def test_what_is_kept_of_doubts_has_all_of_their_variance() -> None:
    rng = np.random.default_rng(0)
    value, variance = rng.uniform(0.05, 0.9, 30), rng.uniform(1e-4, 1e-2, 30)
    loading = rng.normal(size=(30, 7)) * np.linspace(0.6, 0.01, 7)
    strength, loadings = leading_and_own({"attraction": Uncertainty(value, variance, loading)})
    assert loadings["attraction"].shape == (30, 4)
    spread = value * (1 - value)
    total = spread / (strength["attraction"] + 1) + spread**2 * (loadings["attraction"] ** 2).sum(axis=1)
    assert total == pytest.approx(variance + spread**2 * (loading**2).sum(axis=1))


def test_directions_of_a_covariance() -> None:
    half = np.random.default_rng(1).normal(size=(5, 5))
    covariance, weight = half @ half.T, np.arange(1.0, 6.0)
    every = directions(covariance, weight, 5)
    assert every @ every.T == pytest.approx(covariance)
    leading = directions(covariance, weight, 2)
    assert leading == pytest.approx(every[:, :2])


def test_draws_have_the_doubt_of_curve_and_documents(counts: ClickCounts) -> None:
    fitted = WORLD.fitted(PBM().learn(counts))
    rng = np.random.default_rng(0)
    drawn = [fitted.draw(rng).learnt.parameters for _ in range(400)]
    curves, documents = (np.array([one[name] for one in drawn]) for name in ("examination", "attraction"))
    low, high = fitted.interval("examination", 0.95)
    inside = ((low <= curves) & (curves <= high))[:, 1:].mean()
    assert 0.92 < inside < 0.98
    # If less is examined, documents are better: what is clicked is known better than its factors.
    clicks = curves[:, 1:] * documents[:, :-1].mean(axis=1, keepdims=True)
    assert np.corrcoef(curves[:, 3], documents[:, :-1].mean(axis=1))[0, 1] < -0.2
    assert (clicks.std(axis=0) / clicks.mean(axis=0) < curves[:, 1:].std(axis=0) / curves[:, 1:].mean(axis=0)).all()


@pytest.mark.turns(3)
def test_scores_of_trust_bias_are_slopes_of_the_likelihood(counts: ClickCounts) -> None:
    """By Fisher's identity; at the maximum they add up to the weak priors'."""
    curve = fit_curve(counts, pooled_rank_rates(counts), tolerance=1e-4).value
    for prior in ((1.0, 4.0), "common"):
        learnt = TrustBias(prior, tolerance=1e-7).learn(counts)
        curves = Trusting.of(curve, mean_attraction(counts, curve), shifted=prior == "common")
        hit, false, table = (learnt.parameters[name] for name in ("hit", "false", "attraction_regression"))
        x, step = logit(np.concatenate([hit[1:], false[:-1] / hit[:-1]])), 1e-4
        x = np.append(x, table[-1:]) if curves.shifted else x
        for place in (2, RANKS + 1, len(x) - 1):
            moved = [fitted(counts, curves.chances(x + sign * np.eye(len(x))[place]), prior) for sign in (step, -step)]
            values = [found.trace[-1] if found.trace else found.log_likelihood for found in moved]
            slope = (values[0] - values[1]) / (2 * step)
            pull = expit(x) - curves.center + curves.penalty @ (x - logit(curves.center))
            assert slope == pytest.approx(pull[place], abs=0.02)


def test_slopes_of_the_chances_of_trust_bias() -> None:
    curves = Trusting(4, np.full(7, 0.5), shifted=True)
    x = np.random.default_rng(0).normal(size=7)
    slopes, step = curves.along(x), 1e-6
    for place, one in enumerate(np.eye(7)):
        both = [np.stack(curves.chances(x + sign * one)) for sign in (step, -step)]
        assert (both[0] - both[1]) / (2 * step) == pytest.approx(slopes[:, :, place], abs=1e-8)
