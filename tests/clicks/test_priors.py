"""Priors: fitted ones against the likelihood written out, and what cannot be one."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest

from offrank.clicks import DCTR, PBM, click_model
from offrank.clicks.fit.priors import Beta, fit_rates
from offrank.errors import UsageError


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
    prior = fit_rates(*np.array(pairs, float).T)
    best = evidence(prior.a, prior.b, pairs)
    for factor in (0.5, 0.97, 1.03, 2.0):
        assert evidence(prior.a * factor, prior.b, pairs) < best + 1e-9
        assert evidence(prior.a, prior.b * factor, pairs) < best + 1e-9
        assert evidence(prior.a * factor, prior.b * factor, pairs) < best + 1e-9


def test_the_prior_of_drawn_documents_is_found() -> None:
    rng = np.random.default_rng(0)
    shown = rng.integers(1, 40, 20_000)
    clicked = rng.binomial(shown, rng.beta(1.5, 6, len(shown)))
    prior = fit_rates(shown.astype(float), clicked.astype(float))
    assert (prior.a, prior.b) == (pytest.approx(1.5, rel=0.05), pytest.approx(6, rel=0.05))


@pytest.mark.parametrize(("a", "b"), [(0.3, 2.0), (5.0, 1.0), (40.0, 60.0)])
def test_slopes_of_the_faint_belief(a: float, b: float) -> None:
    step = 1e-6
    height, by_a, by_b = Beta(a, b).hyper()
    assert height == pytest.approx(evidence(a, b, []))
    assert by_a == pytest.approx((evidence(a + step, b, []) - evidence(a - step, b, [])) / (2 * step), rel=1e-4)
    assert by_b == pytest.approx((evidence(a, b + step, []) - evidence(a, b - step, [])) / (2 * step), rel=1e-4)


def test_a_prior_is_known_by_mean_and_share() -> None:
    prior = Beta(2.0, 6.0)
    assert (prior.mean, prior.strength, prior.share) == (0.25, 8.0, 1 / 9)
    again = Beta.of(prior.mean, prior.share)
    assert (again.a, again.b) == (pytest.approx(2), pytest.approx(6))
    assert Beta.at(prior.table) == prior


@pytest.mark.parametrize("prior", ["fitted", (1, 0), (1,), (1, 2, 3), 5, None])
def test_what_is_no_prior(prior: object) -> None:
    with pytest.raises(UsageError, match="is no prior"):
        PBM(prior=prior)  # type: ignore[arg-type]


def test_spellings() -> None:
    assert repr(DCTR()) == "dctr"
    assert click_model("dctr([1, 5])").prior == (1, 5)  # type: ignore[attr-defined]
    assert repr(click_model("pbm([1, 5], 1e-5)")) == "pbm([1, 5], 1e-05)"
