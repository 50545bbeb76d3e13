"""Mean weights that are too far from 1, and what a log may not have shown."""

from __future__ import annotations

import math

import pytest

from offrank.inference.pareto import odd_weights, unseen
from offrank.sums import Interval


def mean(value: float, error: float = 0.05, skewness: float = 0.0) -> Interval:
    return Interval(value, -math.inf, math.inf, error, skewness=skewness)


@pytest.mark.parametrize(
    ("value", "hidden", "expected"),
    [
        (0.8, 0.0, 4.0),
        (0.8, 0.1, 2.0),
        (0.8, 0.2, 0.0),
        (0.99, 0.3, 0.0),
        (0.8, math.inf, 0.0),
        (1.2, 0.0, 4.0),
        (1.2, 0.5, 4.0),
        (1.2, math.inf, 4.0),
    ],
)
def test_a_low_mean_is_held_against_what_can_be_seen(value: float, hidden: float, expected: float) -> None:
    assert odd_weights(mean(value), hidden) == pytest.approx(expected, rel=1e-12)


def test_skewed_weights_are_less_odd_where_they_are_low() -> None:
    low = odd_weights(mean(0.8, skewness=0.3), 0.0)
    assert low == pytest.approx(4 - 0.1 * 16 + 0.01 * 64 / 3 - 0.05, rel=1e-12)  # with c = .3 / 3
    assert odd_weights(mean(1.2, skewness=0.3), 0.0) == pytest.approx(4.0, rel=1e-12)


@pytest.mark.parametrize("n", [1_000, 20_000])
@pytest.mark.parametrize("index", [0.1, 0.3, 0.49])
def test_what_a_pareto_tail_hides(index: float, n: int) -> None:
    """Of weights u^-index, u uniform, whose mean is 1 / (1 - index), u < 1 / n has the share n^(index - 1)."""
    share = n**index / (n / (1 - index))
    assert unseen(share, index) == pytest.approx(n ** (index - 1), rel=1e-12)


def test_infinite_variance_hides_anything() -> None:
    assert unseen(0.01, 0.499) == pytest.approx(0.01 / 0.501, rel=1e-12)
    assert unseen(0.01, 0.5) == unseen(0.01, 0.9) == math.inf
    assert unseen(0.01, None) == 0.01
    assert unseen(0.01, -math.inf) == 0


@pytest.mark.parametrize("skewness", [-2.0, 0.0, 2.0])
def test_deviates_whose_third_power_is_beyond_all_numbers(skewness: float) -> None:
    """Slates of 1,000 items: the mean weight of uniform and its error may be 1e-200."""
    assert mean(1e-200, 1e-200, skewness).deviation(1.0) >= 0
    assert mean(1e-200, 1e-200, 0.0).deviation(1.0) == 1e100
