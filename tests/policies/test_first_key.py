"""Who comes first in a race of independent keys, where that is compiled: laws with a closed form, and NumPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from offrank.log.batch import Contexts
from offrank.policies import policy
from offrank.races import BetaKeys, GaussianKeys, Keys, rank_probs

HARD = [(1, 1), (0.5, 0.5), (1e5, 1), (1, 1e5), (3, 1e6), (1e6, 3), (0.01, 0.01), (200, 0.02), (40, 60), (1e7, 1e7)]
NAMES = {"thompson(first, second)": BetaKeys, "thompson(mean=first, sd=second)": GaussianKeys}


def law(spelling: str, first: np.ndarray, second: np.ndarray, size: np.ndarray | None = None) -> np.ndarray:
    """[n, m] P(candidate first) of the policy."""
    n, m = first.shape
    items = np.tile(np.arange(m), (n, 1))
    size = np.full(n, m) if size is None else size
    here = Contexts(items, size, np.minimum(size, 1), scores={"first": first, "second": second})
    return policy(spelling).rank_probs(here, items)[:, :, 0]  # type: ignore[union-attr]


def beta(*pairs: tuple[float, float]) -> np.ndarray:
    first, second = np.array([pairs], np.float64).transpose(2, 0, 1)
    return law("thompson(first, second)", first, second)[0]


def test_largest_of_powers() -> None:
    # Beta(a, 1) is the largest of as many uniform numbers: P(the largest of all is among them) = a / sum of all a.
    counts = np.array([1e5, 1, 0.01, 3, 1e6, 0.01, 250.5])
    assert beta(*((a, 1.0) for a in counts)) == pytest.approx(counts / counts.sum(), rel=1e-9)
    # Beta(1, b): the smallest of b.
    assert beta((1, 1e5), (1, 3e5)) == pytest.approx([0.75, 0.25], abs=1e-12)


@pytest.mark.parametrize(("a", "b"), HARD)
def test_above_a_uniform_number(a: float, b: float) -> None:
    # P(X > U) = E[X]
    assert beta((a, b), (1, 1)) == pytest.approx([a / (a + b), b / (a + b)], rel=1e-9)


def test_rates_near_0_and_near_1_in_one_race() -> None:
    # U is above the higher one with probability 1 - E[X]; counted from log-odds of -12.7, the digits of 12.7 were lost.
    pairs = ((1.0, 1.0), (3.0, 1e6), (1e6, 3.0))
    expected = pytest.approx([3 / (1e6 + 3), 0, 1e6 / (1e6 + 3)], abs=3e-9)
    assert beta(*pairs) == expected
    first, second = np.array([pairs]).transpose(2, 0, 1)
    assert rank_probs(BetaKeys(first, second), np.array([3]), np.array([1]), 1)[0, :, 0] == expected


def test_all_hard_ones_at_once() -> None:
    rng = np.random.default_rng(8)
    chosen = np.array(HARD)[rng.integers(len(HARD), size=(60, 12))]
    size = rng.integers(1, 13, 60)
    found = law("thompson(first, second)", chosen[:, :, 0], chosen[:, :, 1], size)
    inside = np.arange(12) < size[:, None]
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-10)
    assert (found[~inside] == 0).all()
    keys = BetaKeys(chosen[:, :, 0], chosen[:, :, 1])
    assert found == pytest.approx(rank_probs(keys, size, np.ones(60, np.int64), 1)[:, :, 0], abs=1e-8)


@pytest.mark.parametrize("spelling", NAMES)
@pytest.mark.parametrize("m", [1, 2, 20, 60])
def test_numpy_agrees(spelling: str, m: int) -> None:
    rng = np.random.default_rng(m)
    pulls, rate = 10 ** rng.uniform(0, 4, (40, m)), rng.beta(1, 9, (40, m))
    first, second = (1 + pulls * rate, 1 + pulls * (1 - rate)) if "mean" not in spelling else (pulls * rate, pulls)
    size = rng.integers(0, m + 1, 40)
    keys: Keys = NAMES[spelling](first, second)  # type: ignore[abstract]
    expected = rank_probs(keys, size, np.minimum(size, 1), 1)[:, :, 0]
    assert law(spelling, first, second, size) == pytest.approx(expected, abs=2e-10)


def test_equal_keys_are_as_likely() -> None:
    for pair in HARD:
        assert beta(*[pair] * 7) == pytest.approx(1 / 7, rel=1e-9)


def test_two_normal_keys() -> None:
    apart = np.array([[0.0, 0.3], [0.0, -5.0], [2.0, 2.0], [1e6, 1e6 + 1e-3]])
    sds = np.array([[1.0, 1.0], [3.0, 1.0], [1e-4, 20.0], [1e-3, 1e-3]])
    expected = ndtr((apart[:, 0] - apart[:, 1]) / np.hypot(*sds.T))
    assert law("thompson(mean=first, sd=second)", apart, sds)[:, 0] == pytest.approx(expected, rel=1e-7)


def test_what_is_hardly_possible_is_not_impossible() -> None:
    found = law("thompson(mean=first, sd=second)", np.array([[0.0, 20.0, 40.0]]), np.ones((1, 3)))[0]
    assert 0 < found[1] < 1e-30
    assert found[2] == pytest.approx(1, abs=1e-12)
    assert 0 < beta((30, 1000), (1e4, 3e4))[0] < 1e-30


def test_candidates_in_another_order_have_the_same_numbers_to_the_last_digit() -> None:
    rng = np.random.default_rng(4)
    first, second, order = 1 + rng.poisson(3, (9, 6)), 1 + rng.poisson(40, (9, 6)), rng.permutation(6)
    both = policy("thompson(first, second)")
    items = np.tile(np.arange(6), (9, 1))
    here = Contexts(items, np.full(9, 6), np.ones(9, np.int64), scores={"first": first * 1.0, "second": second * 1.0})
    moved = {name: values[:, order] for name, values in here.scores.items()}
    there = Contexts(items, here.size, here.length, scores=moved)
    one, other = (both.rank_probs(asked, items)[:, :, 0] for asked in (here, there))  # type: ignore[union-attr]
    distinct = [len(set(zip(*rows, strict=True))) == 6 for rows in zip(first.tolist(), second.tolist(), strict=True)]
    assert sum(distinct) >= 3
    assert (one[:, order] == other)[distinct].all()
    alone = law("thompson(first, second)", moved["first"][5:6], moved["second"][5:6])
    assert (alone == other[5:6]).all()


def test_a_row_without_candidates_and_a_batch_without_rows() -> None:
    no_numbers, no_rows = {"first": np.ones((0, 3)), "second": np.ones((0, 3))}, np.zeros(0, np.int64)
    none = Contexts(np.zeros((0, 3), np.int64), no_rows, no_rows, scores=no_numbers)
    assert law("thompson(first, second)", np.ones((2, 3)), np.ones((2, 3)), np.array([0, 3]))[0].tolist() == [0, 0, 0]
    assert policy("thompson(first, second)").rank_probs(none, none.candidates).shape[:2] == (0, 3)  # type: ignore[union-attr]
    assert math.isclose(law("thompson(first, second)", np.ones((1, 2)), np.ones((1, 2)))[0, 0], 0.5)
