"""An interval that leans on another estimate: by quadrature, for any bias of that one, it holds as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from offrank.inference.uncertain_prior import FAR, Leaning, leaning
from offrank.sums.estimate import Interval

T = np.arange(-10.0, 16.0, 0.1)
"""The contrast in standard errors; its weight under each bias is that of a normal distribution."""
BIASES = np.arange(0.0, 8.1, 0.5)
WEIGHTS = 0.1 * norm.pdf(T - BIASES[:, None])


def leant(rho: float, t: float, confidence: float = 0.95, **how: float) -> Leaning:
    """Of a number with error 1 on the best estimate there is if it has no bias: its error is sqrt(1 - rho^2)."""
    z, other = norm.ppf(0.5 + confidence / 2), np.sqrt(1 - rho**2)
    own, another = Interval(0.0, -z, z, 1.0, **how), Interval(t * rho, -z * other, z * other, other)
    return leaning(own, another, Interval(t * rho, np.nan, np.nan, rho), confidence)


def by_contrast(rho: float, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share, and the half-lengths below and above, at each contrast."""
    found = [leant(rho, t, confidence) for t in T]
    share, below, above = np.array([[one.share, one.below, one.above] for one in found]).T
    return share, below, above


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.995])
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9, 0.99])
def test_it_holds_as_often_as_it_says_for_every_bias(rho: float, confidence: float) -> None:
    """Given the contrast C, the number D has mean -rho (C - b) and variance 1 - rho^2: D and C are jointly normal."""
    _, below, above = by_contrast(rho, confidence)
    z, mean = norm.ppf(0.5 + confidence / 2), -rho * (T - BIASES[:, None])
    holds = norm.cdf(z * below, mean, np.sqrt(1 - rho**2)) - norm.cdf(-z * above, mean, np.sqrt(1 - rho**2))
    assert (WEIGHTS * holds).sum(axis=1) == pytest.approx(np.full(len(BIASES), confidence), abs=2e-3)


def test_it_is_shorter_where_both_agree_and_never_much_longer() -> None:
    _, below, above = by_contrast(0.95)
    assert WEIGHTS[0] @ (below + above) / 2 == pytest.approx(0.917, abs=2e-3)
    assert max(below + above) / 2 < 1.075
    _, below, above = by_contrast(0.3)
    assert 0.96 < WEIGHTS[0] @ (below + above) / 2 < 1


@pytest.mark.parametrize(("rho", "least"), [(0.3, 0.98), (0.9, 0.83), (0.99, 0.79)])
def test_its_error_is_smaller_without_bias_and_hardly_larger_with_any(rho: float, least: float) -> None:
    """The value is D + share C: its error given C is rho (b - C) + share rho C, and a noise of variance 1 - rho^2."""
    share, _, _ = by_contrast(rho)
    squared = 1 - rho**2 + (WEIGHTS * (rho * (BIASES[:, None] - T) + share * rho * T) ** 2).sum(axis=1)
    assert np.sqrt(squared[0]) == pytest.approx(least, abs=0.01)
    assert np.sqrt(squared.max()) < 1.09


def test_the_share_is_written_out() -> None:
    """0.9 of it where it is best by 0.19 of the variance; beyond 0.3 errors the move stays, and fades by 8."""
    assert leant(0.9, 0.2).share == pytest.approx(1 - (0.2 / 8) ** 2)
    assert leant(0.9, -2.0).share == pytest.approx(0.3 / 2 * (1 - (2 / 8) ** 2))


@pytest.mark.parametrize(("between", "share"), [(0.55, 1.0), (0.95, (1 + 0.95**2 - 0.25) / (2 * 0.95**2))])
def test_no_value_lies_beyond_the_other_estimate(between: float, share: float) -> None:
    """Of two estimates that vary together the best by variance is beyond the second: (1 + .55^2 - .25) / (2 .55^2)."""
    own, other = Interval(0.0, -1.96, 1.96, 1.0), Interval(0.0, -0.98, 0.98, 0.5)
    assert leaning(own, other, Interval(0.0, np.nan, np.nan, between), 0.95).share == pytest.approx(share)


def test_the_error_is_divided_by_where_the_independent_estimate_lies() -> None:
    """An end beyond it allows 0.75 of 5 %, one before it 0.25: like a test against what is expected."""
    beyond, before = (norm.ppf(1 - 0.05 * part) / norm.ppf(0.975) for part in (0.75, 0.25))
    both, far = leant(0.999, 0.0), leant(0.999, -3.5)
    assert (both.below, both.above, far.below) == pytest.approx((beyond, beyond, before), rel=0.01)
    few = leant(0.999, -4.0, freedom=5.0)  # Student's quantiles, from a table
    assert few.below == pytest.approx(3.163 / 2.571, rel=0.01)


@pytest.mark.parametrize(("t", "leans"), [(FAR - 0.1, True), (FAR, False), (-FAR, False), (FAR + 1, False)])
def test_from_eight_standard_errors_on_nothing_is_left(t: float, leans: bool) -> None:
    assert (leant(0.9, t) != Leaning()) == leans


@pytest.mark.parametrize(("half", "leans"), [(1.9, True), (2.0, False)])
def test_it_does_not_lean_on_what_is_no_sharper(half: float, leans: bool) -> None:
    own, contrast = Interval(0.0, -2.0, 2.0, 1.0), Interval(0.1, -1.0, 1.0, 0.5)
    assert (leaning(own, Interval(0.1, 0.1 - half, 0.1 + half, 0.9), contrast, 0.95) != Leaning()) == leans


def test_the_ends_of_a_skewed_interval_keep_their_proportion() -> None:
    found = Leaning(0.5, 0.9, 1.1).interval(Interval(1.0, 0.0, 3.0, 1.0), 1.2)
    assert (found.value, found.low, found.high) == pytest.approx((1.2, 1.0 - 0.9, 1.0 + 1.1 * 2))
    assert found.standard_error == pytest.approx((0.9 + 2.2) / 3)
