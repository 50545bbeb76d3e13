"""Races of keys whose laws have a closed form."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.special import betaln, comb, ndtr

from offrank.policies import plackett_luce
from offrank.races import BetaKeys, GaussianKeys, GumbelKeys, Keys, list_probs, pair_probs, rank_probs

EXACT = 1e-10


def row(*values: float) -> np.ndarray:
    return np.array([values], np.float64)


def lists(keys: Keys, m: int, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Every list of so many of the m candidates of a single row, and its probability."""
    slates = np.array(list(permutations(range(m), slots)))
    found = list_probs(keys.take(np.zeros(len(slates), np.int64)), np.full(len(slates), m), slates)
    return slates, found[:, -1]


def first(keys: Keys, m: int) -> np.ndarray:
    """[m] P(candidate first)."""
    return lists(keys, m, 1)[1]


def above_integer(a: float, b: float, c: int, d: int) -> float:
    """P(X > Y) for X of Beta(a, b) and Y of Beta(c, d), whole numbers, where P(Y < x) is a binomial sum."""
    n = c + d - 1
    return math.fsum(comb(n, j) * math.exp(betaln(a + j, b + n - j) - betaln(a, b)) for j in range(c, n + 1))


@pytest.mark.parametrize(("a", "b"), [(0.5, 200), (3, 4), (1, 1), (40, 2), (0.05, 0.1), (900.5, 1100)])
@pytest.mark.parametrize(("c", "d"), [(3, 4), (1, 1), (60, 500)])
def test_the_larger_of_two_beta_keys(a: float, b: float, c: int, d: int) -> None:
    expected = above_integer(a, b, c, d)
    assert first(BetaKeys(row(a, c), row(b, d)), 2) == pytest.approx([expected, 1 - expected], abs=EXACT, rel=1e-8)


def test_the_largest_of_three_beta_keys() -> None:
    # P(Beta(0.5, 200) above Beta(3, 4) and Beta(2, 1)) = E[P(Binomial(6, x) >= 3) x^2]
    terms = [comb(6, j) * math.exp(betaln(2.5 + j, 206 - j) - betaln(0.5, 200)) for j in range(3, 7)]
    keys = BetaKeys(row(0.5, 3, 2), row(200, 4, 1))
    assert first(keys, 3)[0] == pytest.approx(math.fsum(terms), rel=1e-8)
    assert first(keys, 3).sum() == pytest.approx(1, abs=EXACT)


@pytest.mark.parametrize("sds", [(1, 1), (1, 1e-4), (3, 200)])
@pytest.mark.parametrize("apart", [0.0, 0.3, -5.0])
def test_the_larger_of_two_gaussian_keys(sds: tuple[float, float], apart: float) -> None:
    expected = ndtr(apart / math.hypot(*sds))
    found = first(GaussianKeys(row(apart, 0), row(*sds)), 2)
    assert found == pytest.approx([expected, 1 - expected], abs=1e-13, rel=1e-8)


WEIGHTS = (4.0, 2.0, 1.0, 1.0, 0.01)


def test_gumbel_keys_are_plackett_luce() -> None:
    keys, m = GumbelKeys(row(*np.log(WEIGHTS)), np.ones((1, len(WEIGHTS)))), len(WEIGHTS)
    size = np.array([m])
    for slots in (1, 3, m):
        depth = np.array([slots])
        assert rank_probs(keys, size, depth, slots)[0] == pytest.approx(
            plackett_luce.rank_probs(WEIGHTS, slots), rel=1e-12
        )
        assert pair_probs(keys, size, depth, slots)[0] == pytest.approx(
            plackett_luce.pair_probs(WEIGHTS, slots), rel=1e-11, abs=1e-15
        )
        for slate, found in zip(*lists(keys, m, slots), strict=True):
            left = [math.fsum(WEIGHTS[i] for i in range(m) if i not in slate[:slot]) for slot in range(slots)]
            expected = math.prod(WEIGHTS[item] / mass for item, mass in zip(slate, left, strict=True))
            assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "keys",
    [
        BetaKeys(np.full((1, 4), 1e6), np.full((1, 4), 3e6)),
        BetaKeys(np.full((1, 4), 0.02), np.full((1, 4), 5.0)),
        GaussianKeys(np.full((1, 4), 7.0), np.full((1, 4), 1e-5)),
    ],
    ids=["many counts", "few counts", "gaussian"],
)
def test_keys_of_one_law_are_in_any_order(keys: Keys) -> None:
    for slots in (1, 2, 4):
        slates, found = lists(keys, 4, slots)
        assert found == pytest.approx(1 / len(slates), rel=EXACT)
    both = pair_probs(keys, np.array([4]), np.array([4]), 4)[0]
    assert both[0, 1, 2, 3] == pytest.approx(1 / 12, rel=EXACT)
    assert both[0, 1, 0, 2] == both[0, 1, 2, 1] == 0


def test_many_unlike_keys_agree_with_each_other() -> None:
    rng = np.random.default_rng(5)
    pulls = 10 ** rng.uniform(0, 5, (3, 12))
    rate = rng.beta(1, 9, (3, 12))
    keys, size, depth = BetaKeys(1 + pulls * rate, 1 + pulls * (1 - rate)), np.full(3, 12), np.full(3, 3)
    ranks, pairs = rank_probs(keys, size, depth, 3), pair_probs(keys, size, depth, 3)
    assert ranks.sum(axis=1) == pytest.approx(np.ones((3, 3)), abs=EXACT)
    assert pairs.sum(axis=(3, 4)) == pytest.approx(3 * ranks, abs=EXACT)
    for chosen in range(3):
        some = keys.take(np.array([chosen]))
        assert first(some, 12) == pytest.approx(ranks[chosen, :, 0], abs=EXACT)
        slates, found = lists(some, 12, 3)
        third = np.bincount(slates[:, 2], found, minlength=12)
        assert third == pytest.approx(ranks[chosen, :, 2], abs=EXACT)


def test_draws_of_few_counts_do_not_tie() -> None:
    drawn = BetaKeys(np.full((200, 6), 1e-3), np.full((200, 6), 1e-3)).sample(np.random.default_rng(3))
    assert np.isfinite(drawn).all()
    assert all(len(set(one)) == 6 for one in drawn.tolist())
    assert (drawn > 0).mean() == pytest.approx(0.5, abs=0.1)


def test_draws_have_the_moments_of_their_law() -> None:
    n = 40_000
    p = 1 / (1 + np.exp(-BetaKeys(np.full((n, 1), 0.5), np.full((n, 1), 2.0)).sample(np.random.default_rng(4))))
    assert p.mean() == pytest.approx(0.2, abs=5 * p.std() / math.sqrt(n))
    assert p.var() == pytest.approx(0.2 * 0.8 / 3.5, rel=0.05)
