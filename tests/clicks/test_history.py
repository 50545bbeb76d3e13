"""The model of the history of clicks: exact against all patterns of clicks, slopes against finite differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from offrank.clicks.history import ClickedLists, ClickHistory, HistoryShape, click_history

DOCUMENTS, SLOTS = 6, 4
LISTS = np.array([[0, 1, 2, 3], [3, 2, 4, -1], [5, 0, 1, 2], [4, -1, -1, -1]])


def model(seed: int = 3, ranks: int = SLOTS) -> ClickHistory:
    """A model with all of its numbers away from their priors and limits."""
    rng, shape = np.random.default_rng(seed), HistoryShape.of(DOCUMENTS, ranks)
    looks = -0.2 * rng.random((shape.ranks, shape.away + 1)) - 0.1
    trust, lost = 0.02 + 0.05 * rng.random(shape.ranks), 0.1 + 0.3 * rng.random(shape.ranks)
    looks[0], trust[0], lost[0] = 0, np.exp(-50), 0
    theta = np.concatenate([rng.normal(-1, 0.5, DOCUMENTS), looks.ravel(), np.log(trust), lost, [0.6, 0.4]])
    return ClickHistory(shape, theta, np.ones(len(theta), np.bool_), 0.3)


def chance(made: ClickHistory, items: np.ndarray, clicks: tuple[int, ...]) -> float:
    """The probability of a pattern of clicks, as the documentation of the model says."""
    documents, ranks, away = made.shape
    looks = made.theta[documents:][: ranks * (away + 1)].reshape(ranks, away + 1)
    trust, lost = made.theta[documents + ranks * (away + 1) : -2].reshape(2, ranks)
    attracts, found = 1 / (1 + np.exp(-made.theta[:documents])), 1.0
    for rank, clicked in enumerate(clicks):
        above = [one for one in range(rank) if clicks[one]]
        last = above[-1] if above else -1
        row, distance = min(rank, ranks - 1), min(rank - last, away) if above else 0
        passed = attracts[items[last + 1 : rank]].sum()
        satisfied = made.theta[-2] * attracts[items[last]] if above else 0.0
        compared = made.theta[-1] * attracts[items[rank + 1]] if rank + 1 < len(items) else 0.0
        e = np.exp(looks[row, distance] - lost[row] * passed - satisfied - compared)
        one = e * (attracts[items[rank]] + np.exp(trust[row]))
        one = one if one < 0.9 else 1 - 0.1 * np.exp((0.9 - one) / 0.1)
        found *= one if clicked else 1 - one
    return float(found)


def moved(made: ClickHistory, by: np.ndarray) -> ClickHistory:
    return ClickHistory(made.shape, made.theta + by, made.free, made.rate)


def test_what_is_never_clicked_attracts_hardly_anything_without_a_warning() -> None:
    made = model()
    far = moved(made, np.where(np.arange(len(made.theta)) == 0, -1e4, 0.0)).attraction
    assert 0 <= far[0] < 1e-300
    assert far[1:].tolist() == made.attraction[1:].tolist()


def sessions(made: ClickHistory, rows: int = 400, seed: int = 5) -> ClickedLists:
    """Sessions drawn from the model, rank by rank."""
    rng, patterns = np.random.default_rng(seed), {}
    lists, clicks = LISTS[rng.integers(0, len(LISTS), rows)], np.zeros((rows, SLOTS), np.int64)
    for row, items in enumerate(lists):
        shown = items[items >= 0]
        if tuple(shown) not in patterns:
            every = list(product((0, 1), repeat=len(shown)))
            patterns[tuple(shown)] = every, [chance(made, shown, one) for one in every]
        every, weights = patterns[tuple(shown)]
        clicks[row, : len(shown)] = every[rng.choice(len(every), p=weights)]
    return ClickedLists(lists, clicks, rng.integers(1, 4, rows).astype(float))


def slope(of: object, made: ClickHistory) -> np.ndarray:
    """Central differences of a function of a model."""
    steps = 1e-5 * np.eye(len(made.theta))
    return np.array([(of(moved(made, step)) - of(moved(made, -step))) / 2e-5 for step in steps])  # type: ignore[operator]


def test_the_chances_of_all_patterns_add_up_to_one() -> None:
    for items in LISTS:
        shown = items[items >= 0]
        assert sum(chance(model(), shown, one) for one in product((0, 1), repeat=len(shown))) == pytest.approx(1)


@pytest.mark.parametrize("ranks", [SLOTS, 2])  # with two, the ranks below have the numbers of the second
def test_expected_clicks_are_those_of_all_patterns(ranks: int) -> None:
    made = model(ranks=ranks)
    for items, found in zip(LISTS, made.expected(LISTS)[0], strict=True):
        shown = items[items >= 0]
        every = product((0, 1), repeat=len(shown))
        assert found == pytest.approx(sum(chance(made, shown, one) * sum(one) for one in every), abs=1e-12)


def test_the_likelihood_is_that_of_the_patterns() -> None:
    made = model()
    some = sessions(made, 50)
    wanted = 0.0
    for items, clicks, weight in zip(some.lists, some.clicks, some.weight, strict=True):
        shown = items[items >= 0]
        wanted += weight * np.log(chance(made, shown, tuple(clicks[: len(shown)])))
    assert made.log_likelihood(some)[0] == pytest.approx(wanted, rel=1e-12)


def test_slopes_are_those_of_finite_differences() -> None:
    made, weight = model(), np.array([1.0, 2.0, 0.5, 3.0])
    some = sessions(made, 60)
    np.testing.assert_allclose(
        made.expected(LISTS, weight)[1], slope(lambda one: weight @ one.expected(LISTS)[0], made), atol=1e-7
    )
    np.testing.assert_allclose(
        made.log_likelihood(some)[1], slope(lambda one: one.log_likelihood(some)[0], made), atol=1e-4
    )
    np.testing.assert_allclose(made.prior[1], slope(lambda one: one.prior[0], made), atol=1e-7)
    direction = np.random.default_rng(1).normal(size=(2, len(made.theta)))
    each = made.scores(some.lists, some.clicks, direction)
    np.testing.assert_allclose(some.weight @ each, direction @ made.log_likelihood(some)[1], atol=1e-9)


def test_a_direction_solves_for_the_information_of_all_patterns() -> None:
    """With each pattern as often as it is likely, the information is the variance of the scores."""
    made, one = model(), np.eye(len(model().theta))
    lists, clicks, weight, information = [], [], [], np.zeros((len(one), len(one)))
    for items in LISTS:
        shown = items[items >= 0]
        for pattern in product((0, 1), repeat=len(shown)):
            clicked = np.zeros(SLOTS, np.int64)
            clicked[: len(shown)] = pattern
            lists.append(items)
            clicks.append(clicked)
            weight.append(50 * chance(made, shown, pattern))
    some = ClickedLists(np.array(lists), np.array(clicks), np.array(weight))
    scores = made.scores(some.lists, some.clicks, one)
    information = (some.weight[:, None] * scores).T @ scores + np.diag(made.prior[2])
    wanted = np.random.default_rng(2).normal(size=len(one))
    np.testing.assert_allclose(made.direction(some, wanted), np.linalg.solve(information, wanted), rtol=1e-4, atol=1e-6)


def test_what_is_learnt_is_the_mode_and_close_to_the_truth() -> None:
    made = model()
    some = sessions(made, 4000)
    found = click_history(some, DOCUMENTS)
    height, gradient = found.posterior(some)
    assert gradient @ found.direction(some, gradient) / 2 < 0.01  # what is left to gain, in logarithms
    for seed in range(20):
        by = np.where(found.free, np.random.default_rng(seed).normal(0, 0.05, len(found.theta)), 0.0)
        assert moved(found, by).posterior(some)[0] < height
    np.testing.assert_allclose(found.expected(LISTS)[0], made.expected(LISTS)[0], atol=0.06)


def test_the_first_rank_is_the_measure_of_all_others() -> None:
    found = click_history(sessions(model()), DOCUMENTS)
    documents, ranks, away = found.shape
    behaviour = found.theta[documents:]
    looks, (trust, lost) = behaviour[: away + 1], behaviour[ranks * (away + 1) : -2].reshape(2, ranks)
    assert not looks.any()
    assert np.exp(trust[0]) < 1e-20
    assert lost[0] == 0
    assert not found.free[documents : documents + away + 1].any()


def test_whether_users_compare_is_learnt_where_it_is_asked_for() -> None:
    some = sessions(model(), 4000)
    asked, plain = (click_history(some, DOCUMENTS, compares=one) for one in (True, False))
    assert (asked.free[-1], plain.free[-1], plain.theta[-1]) == (True, False, 0.0)
    assert asked.theta[-1] == pytest.approx(0.4, abs=0.25)
    assert asked.log_likelihood(some)[0] > plain.log_likelihood(some)[0]
