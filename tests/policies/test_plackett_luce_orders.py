"""P(item at rank | displayed set): against enumeration, golden values, limits, and one way against the other."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from offrank.errors import UsageError
from offrank.policies import PlackettLuce
from offrank.policies.plackett_luce import order_given_set, rank_probs
from tests.policies.laws import contexts, orders, rank_matrix, slates, spread


def by_quadrature(shown: ArrayLike, rest: float) -> np.ndarray:
    """The double integral, however few the items."""
    return order_given_set(shown, rest, "quadrature")


@pytest.mark.parametrize("rest", [(1.0,), (8.0,), (1e-9,), (1e9,), (2.0, 0.5, 3.0), ()], ids=str)
@pytest.mark.parametrize(
    "shown", [(5.0, 2.0, 1.0), (1.0, 1.0), (3.0,), (1e6, 1e-6, 1.0, 1.0), (0.2, 7.0, 1.0, 3.0, 1e-9)], ids=str
)
def test_few_items_as_enumerated(shown: tuple[float, ...], rest: tuple[float, ...]) -> None:
    expected = rank_matrix(orders(shown, rest), len(shown), len(shown))
    assert order_given_set(shown, sum(rest)) == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert by_quadrature(shown, sum(rest)) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_golden_values() -> None:
    eight = [[0.432077, 0.328768, 0.239154], [0.302379, 0.342863, 0.354758], [0.265544, 0.328369, 0.406088]]
    none = [[0.625, 0.297619, 0.077381], [0.25, 0.452381, 0.297619], [0.125, 0.25, 0.625]]
    assert order_given_set([5, 2, 1], 8) == pytest.approx(np.array(eight), abs=6e-7)
    assert order_given_set([5, 2, 1], 0) == pytest.approx(np.array(none), abs=6e-7)
    assert order_given_set([5, 2, 1], 100)[:, 0] == pytest.approx([0.345, 0.330, 0.325], abs=6e-4)


@pytest.mark.parametrize(("rest", "apart"), [(1.0, 0.005), (8.0, 0.0086), (100.0, 0.0015), (0.0, 0.0)])
def test_it_is_not_plackett_luce(rest: float, apart: float) -> None:
    """Nor any other Plackett-Luce law: the one with the same first rank differs in the orders' probabilities."""
    truth = orders((5.0, 2.0, 1.0), (rest,) if rest else ())
    alike = slates(order_given_set([5, 2, 1], rest)[:, 0], 3)
    assert max(abs(truth[order] - alike[order]) for order in truth) == pytest.approx(apart, abs=6e-5 + apart / 20)


def test_two_items_in_closed_form() -> None:
    law = order_given_set([3.0, 1.0], 2.0)
    # P(ab) / P(ba) = (W - w_b) / (W - w_a)
    assert law[0, 0] / law[1, 0] == pytest.approx((6 - 1) / (6 - 3))


@pytest.mark.turns(3)
@pytest.mark.parametrize("size", [3, 18, 19, 60, 100])
def test_limits(size: int) -> None:
    shown = spread(np.random.default_rng(size), size, 2)
    uniform = np.full((size, size), 1 / size)
    assert order_given_set(shown, 1e12 * shown.sum()) == pytest.approx(uniform, rel=1e-9)
    assert order_given_set(shown, 0) == pytest.approx(rank_probs(shown, size), rel=1e-10)
    assert order_given_set(shown, 1e-14 * shown.min()) == pytest.approx(rank_probs(shown, size), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rest", [1e-9, 1e-3, 1.0, 100.0, 1e6])
@pytest.mark.parametrize(("size", "decades"), [(8, 2), (12, 24), (16, 1), (18, 4)])
def test_quadrature_is_the_sum_over_sets(size: int, decades: float, rest: float) -> None:
    shown = spread(np.random.default_rng(size), size, decades)
    expected = order_given_set(shown / shown.max(), rest, "sets")
    assert by_quadrature(shown / shown.max(), rest) == pytest.approx(expected, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("rest", [0.0, 1e-6, 3.0, 1e4])
@pytest.mark.parametrize(("size", "decades"), [(17, 24), (19, 1), (30, 6), (50, 2)])
def test_rows_and_columns_add_up(size: int, decades: float, rest: float) -> None:
    law = order_given_set(spread(np.random.default_rng(size), size, decades), rest)
    assert (law >= -1e-15).all()
    assert law.sum(axis=0) == pytest.approx(np.ones(size), abs=1e-11)
    assert law.sum(axis=1) == pytest.approx(np.ones(size), abs=1e-11)


def test_a_hundred_items() -> None:
    law = order_given_set(spread(np.random.default_rng(1), 100, 1), 30.0)
    assert law.sum(axis=0) == pytest.approx(np.ones(100), abs=1e-11)
    assert law.sum(axis=1) == pytest.approx(np.ones(100), abs=1e-11)


def of_two_kinds(many: tuple[int, int], weights: tuple[float, float], rest: float) -> np.ndarray:
    """[l] P(a certain item of the first kind at rank j | set), forward and backward over how many are left of each."""
    (first, second), (heavy, light) = many, weights
    size = first + second
    above, below = np.zeros((first + 1, second + 1)), np.zeros((first + 1, second + 1))
    factor = [[size * heavy / (rest + i * heavy + j * light or 1) for j in range(second + 1)] for i in range(first + 1)]
    below[0, 0] = above[first, second] = 1
    for i, j in np.ndindex(first + 1, second + 1):
        if i + j:
            ways = (i and i * below[i - 1, j]) + (j and j * below[i, j - 1])
            below[i, j] = factor[i][j] * ways / (i + j)
    law = np.zeros(size)
    for i, j in sorted(np.ndindex(first + 1, second + 1), key=sum, reverse=True):
        share = above[i, j] * factor[i][j] / max(i + j, 1)
        if i:
            above[i - 1, j] += share * i
            law[size - i - j] += share * i * below[i - 1, j]
        if j:
            above[i, j - 1] += share * j
    return law / below[first, second] / first


@pytest.mark.turns(3)
@pytest.mark.parametrize("rest", [1e-3, 1.0, 40.0, 1e5])
@pytest.mark.parametrize("many", [(2, 3), (1, 18), (10, 20), (50, 10), (40, 60)], ids=str)
def test_two_kinds_of_items(many: tuple[int, int], rest: float) -> None:
    law = order_given_set(np.repeat([3.0, 0.5], many), rest)
    expected = of_two_kinds(many, (3.0, 0.5), rest)
    assert law[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_ties_share_one_law() -> None:
    shown = [2.0, 1.0, 2.0, 1.0, 1.0] * 5
    law = order_given_set(shown, 4.0)
    assert law[::5] == pytest.approx(law[2::5], rel=1e-10)
    assert law[1] == pytest.approx(law[3], rel=1e-10)


@pytest.mark.parametrize("many", [0, 20])
def test_zeros(many: int) -> None:
    shown = [1.0, 0.0, 3.0, 0.0, *[1.5] * many]
    positive = len(shown) - 2
    law = order_given_set(shown, 0.0)
    assert law[[1, 3], positive:] == pytest.approx(np.full((2, 2), 0.5))
    assert not law[[1, 3], :positive].any()
    small = [w or 1e-13 for w in shown]  # with others left out, the limit of small weights
    assert order_given_set(shown, 2.0) == pytest.approx(order_given_set(small, 2.0), abs=1e-10)
    assert order_given_set(np.zeros(5 + many), 1.0) == pytest.approx(np.full((5 + many,) * 2, 1 / (5 + many)))
    assert order_given_set(np.zeros(5 + many), 0.0) == pytest.approx(np.full((5 + many,) * 2, 1 / (5 + many)))


@pytest.mark.parametrize("size", [6, 22])
def test_a_batch_is_its_rows_and_scale_cancels(size: int) -> None:
    rng = np.random.default_rng(3)
    shown, rest = rng.random((4, size)), np.array([0.0, 0.1, 2.0, 50.0])
    law = order_given_set(shown, rest)
    for row in range(4):
        assert law[row] == pytest.approx(order_given_set(shown[row] * 1e-200, rest[row] * 1e-200), rel=1e-10)


def test_the_policy_reads_the_candidates_not_shown() -> None:
    rows = [[3.0, 1.0, 2.0, 5.0, 0.5], [1.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0]]
    here = contexts(rows, [3, 3, 2])
    slates_shown = np.array([[4, 0, 3], [2, 1, 0], [3, 1, -1]])
    policy = PlackettLuce("score")
    law = policy.order_given_set(here, slates_shown)
    assert law[0] == pytest.approx(order_given_set([0.5, 3.0, 5.0], 3.0))
    assert law[1] == pytest.approx(rank_probs([4.0, 2.0, 1.0], 3))
    assert law[2] == pytest.approx(np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]]))
    cold = PlackettLuce("score", temperature=0.5).order_given_set(here, slates_shown)
    assert cold[0] == pytest.approx(order_given_set([0.25, 9.0, 25.0], 5.0))


@pytest.mark.parametrize(("shown", "rest"), [([1, -1], 1.0), ([1, 2], -1.0), ([1, 2], np.nan), ([], 1.0)])
def test_what_cannot_be(shown: list[float], rest: float) -> None:
    with pytest.raises(UsageError, match=r"shown|rest"):
        order_given_set(shown, rest)
