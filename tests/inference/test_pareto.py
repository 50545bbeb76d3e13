"""The Pareto index of tails that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offrank.inference import tail_index
from offrank.log.batch import Floats

N = 40_000
EVEN = (np.arange(N) + 0.5) / N  # evenly spaced probabilities: no luck involved


def largest(values: Floats, keep: int = 1024) -> Floats:
    return np.sort(values)[::-1][:keep]


@pytest.mark.parametrize("index", [0.1, 0.3, 0.5, 0.7, 1.0, 1.5])
def test_pareto(index: float) -> None:
    found = tail_index(largest(EVEN**-index), N)
    assert found == pytest.approx(index, abs=0.06)


@pytest.mark.parametrize("index", [0.3, 0.7, 1.2])
def test_random_pareto(index: float) -> None:
    found = [tail_index(largest(np.random.default_rng(s).random(N) ** -index), N) for s in range(8)]
    assert np.mean([k for k in found if k is not None]) == pytest.approx(index, abs=0.07)


def test_scale_does_not_matter() -> None:
    values = largest(EVEN**-0.6)
    assert tail_index(1e7 * values, N) == pytest.approx(tail_index(values, N), rel=1e-9)


def test_an_exponential_tail_has_index_zero() -> None:
    assert tail_index(largest(-np.log(EVEN)), N) == pytest.approx(0, abs=0.05)


def test_a_bounded_tail_has_a_negative_index() -> None:
    found = tail_index(largest(EVEN), N)
    assert found is not None
    assert found < -0.5


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-14])
def test_equal_weights_are_bounded(noise: float) -> None:
    rng = np.random.default_rng(0)
    equal = np.where(rng.random(N) < 0.2, 24.0 * (1 + noise * np.clip(rng.standard_cauchy(N), -1e4, 1e4)), 0.0)
    assert tail_index(largest(equal), N) == -math.inf


def test_ties_in_a_heavy_tail_do_no_harm() -> None:
    found = tail_index(largest(np.round(10 * EVEN**-0.8)), N)
    assert found == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(
    ("values", "n"), [(np.ones(10), 10), (np.zeros(1024), 5000), (np.full(1024, -np.inf), 0), (EVEN[:20], 5000)]
)
def test_too_few_weights_say_nothing(values: Floats, n: int) -> None:
    assert tail_index(largest(values), n) is None


@pytest.mark.parametrize("n", [100, 150, 199, 200])
def test_the_far_tail_is_no_broader_than_the_whole(n: int) -> None:
    # The tail of n weights is the largest min(n / 5, 3 sqrt(n)) of them: what lies below changes nothing.
    count = min(n // 5, int(3 * math.sqrt(n)))
    for seed in range(400):
        values = largest(1 / np.random.default_rng(seed).random(n))
        bare = np.where(np.arange(n) <= count, values, values[count] / 2)
        assert tail_index(values, n) == tail_index(bare, n)


@pytest.mark.parametrize("n", [201, 1_000])
def test_a_lighter_far_tail_still_counts(n: int) -> None:
    # Some matches of a nearly deterministic target above a body of small weights.
    matches = min(int(3 * math.sqrt(n)), n // 5) // 2
    values = largest(np.r_[np.linspace(900, 1_000, max(matches, 41)), np.linspace(0.1, 0.2, n - max(matches, 41))])
    assert tail_index(values, n) < 0.5


def zhang_stephens(excess: list[float]) -> float:
    """Shape of a generalised Pareto law (Zhang and Stephens 2009), with the weak prior k = 0.5 of ten rows."""
    n, top, quartile = len(excess), excess[-1], excess[int(len(excess) / 4 + 0.5) - 1]
    grid = 30 + int(n**0.5)
    theta = [1 / top + (1 - (grid / (j - 0.5)) ** 0.5) / (3 * quartile) for j in range(1, grid + 1)]
    shape = [sum(math.log1p(-one * x) for x in excess) / n for one in theta]
    likelihood = [n * (math.log(-one / k) - k - 1) for one, k in zip(theta, shape, strict=True)]
    weight = [1 / sum(math.exp(other - own) for other in likelihood) for own in likelihood]
    best = sum(w * one for w, one in zip(weight, theta, strict=True))
    return (n * sum(math.log1p(-best * x) for x in excess) / n + 10 * 0.5) / (n + 10)


def index_of(values: Floats, count: int) -> float:
    """Of the `count` largest of descending weights."""
    return zhang_stephens(sorted(values[:count] - values[count]))


def test_twenty_weights_are_drawn_towards_a_half() -> None:
    # Of 100 weights the largest 20 count. Evenly spaced ones have k near -1; a third of the rows is the prior's.
    found = tail_index(largest((np.arange(100) + 0.5) / 100), 100)
    assert found == pytest.approx(index_of(largest((np.arange(100) + 0.5) / 100), 20), rel=1e-9)
    assert found == pytest.approx((20 * -1 + 10 * 0.5) / 30, abs=0.1)


@pytest.mark.parametrize(("shape", "far_counts"), [(0.3, True), (0.82, True), (0.84, False), (1.2, False)])
def test_the_far_tail_counts_where_it_is_clearly_lighter(shape: float, far_counts: bool) -> None:
    # n = 4,000: the tail are 3 sqrt(n) = 189 weights, its quarter 47. Those 47 are evenly spaced quantiles of a
    # generalised Pareto law; below them weights are even, so that the whole seems heavier than its end.
    u = (np.arange(47) + 0.5) / 47
    values = largest(np.r_[1 + 0.3 * ((1 - u) ** -shape - 1) / shape, np.linspace(1, 0.1, 4_000 - 47)])
    whole, far = index_of(values, 189), index_of(values, 47)
    assert (far < whole - 0.4) is far_counts
    assert abs(whole - far - 0.4) < (0.01 if 0.8 < shape < 0.9 else 1)
    assert tail_index(values, 4_000) == pytest.approx(far if far_counts else whole, rel=1e-9)
