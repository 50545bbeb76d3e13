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
