"""Metrics of ranked lists: by hand, by laws, and against two other libraries on random lists."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offrank import metrics
from offrank.errors import UsageError

GRADES = np.array([[3.0, 2.0, 0.0, 1.0], [0.0, 0.0, 1.0, 4.0]])
LOG3, LOG4, LOG5 = math.log2(3), 2.0, math.log2(5)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [7 + 3 / LOG3 + 0 + 1 / LOG5, 1 / LOG4 + 15 / LOG5]),
        ({"gains": "linear"}, [3 + 2 / LOG3 + 1 / LOG5, 1 / LOG4 + 4 / LOG5]),
        ({"discounts": "log2-flat"}, [7 + 3 + 1 / LOG4, 1 / LOG3 + 15 / LOG4]),
        ({"cutoff": 2}, [7 + 3 / LOG3, 0]),
        ({"where": [True, False, True, True]}, [7 + 0 + 1 / LOG4, 1 / LOG3 + 15 / LOG4]),
    ],
)
def test_dcg_by_hand(options: dict, expected: list[float]) -> None:
    assert metrics.dcg(GRADES, **options) == pytest.approx(expected)


def test_ndcg_by_hand() -> None:
    best = 7 + 3 / LOG3 + 1 / LOG4
    assert metrics.ndcg(GRADES[0]) == pytest.approx((7 + 3 / LOG3 + 1 / LOG5) / best)
    assert metrics.ndcg(GRADES[0], cutoff=2) == pytest.approx(1)
    assert metrics.ndcg(GRADES[0], cutoff=1, judged=[4, 3, 2, 1, 0, 0]) == pytest.approx(7 / 15)
    assert metrics.ndcg(np.zeros((2, 3)), empty=math.nan) == pytest.approx([math.nan] * 2, nan_ok=True)


def test_the_two_conventions_of_the_slate_paper() -> None:
    ranks = np.arange(1, 6)
    assert metrics.discount(ranks) == pytest.approx([1, 0.6309, 0.5, 0.4307, 0.3869], abs=1e-4)
    assert metrics.discount(ranks, "log2-flat") == pytest.approx([1, 1, 0.6309, 0.5, 0.4307], abs=1e-4)


def test_err_by_hand() -> None:
    first, second, fourth = 7 / 16, 3 / 16, 1 / 16
    expected = first + (1 - first) * second / 2 + (1 - first) * (1 - second) * fourth / 4
    assert metrics.err(GRADES[0]) == pytest.approx(expected)
    assert metrics.err([2, 0], highest=2) == pytest.approx(3 / 4)
    assert metrics.err(GRADES[0], cutoff=1) == pytest.approx(first)


def test_reciprocal_rank_and_average_precision_by_hand() -> None:
    assert metrics.mrr(GRADES) == pytest.approx([1, 1 / 3])
    assert metrics.mrr(GRADES, relevant=4) == pytest.approx([0, 1 / 4])
    assert metrics.mrr(GRADES, where=[False, False, True, True]) == pytest.approx([1 / 2, 1])
    assert metrics.average_precision(GRADES) == pytest.approx([(1 + 1 + 3 / 4) / 3, (1 / 3 + 2 / 4) / 2])
    assert metrics.average_precision(GRADES[0], total=5) == pytest.approx((1 + 1 + 3 / 4) / 5)
    assert metrics.average_precision(GRADES[0], cutoff=2) == pytest.approx(2 / 3)


def test_ranked_and_mean() -> None:
    sorted_grades = metrics.ranked([1, 2, 3, 9], [0.1, 0.5, 0.5, 0.9], where=[True, True, True, False])
    assert sorted_grades.tolist() == [2, 3, 1, 0]
    assert metrics.mean([1, math.nan, 3], [1, 5, 3]) == pytest.approx((1 + 9) / 4)
    assert math.isnan(metrics.mean([math.nan]))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: metrics.dcg(GRADES, gains="cubic"), "exponential or linear"),
        (lambda: metrics.dcg(GRADES, discounts="log3"), "log2 or log2-flat"),
        (lambda: metrics.dcg(GRADES, cutoff=0), "at least one rank"),
        (lambda: metrics.dcg([math.nan]), "where"),
        (lambda: metrics.err(GRADES, highest=2), "highest"),
    ],
)
def test_what_cannot_work_is_refused(wrong, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        wrong()


lists = arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 8)), elements=st.integers(0, 4))


@given(lists, st.integers(1, 9), st.integers(0, 3))
def test_padding_anywhere_changes_nothing(grades: np.ndarray, cutoff: int, at: int) -> None:
    place = min(at, grades.shape[1])
    padded = np.insert(grades, place, 4, axis=1)
    where = np.insert(np.ones(grades.shape, bool), place, False, axis=1)
    for metric in (metrics.dcg, metrics.ndcg, metrics.err, metrics.mrr, metrics.average_precision):
        assert metric(padded, where=where, cutoff=cutoff) == pytest.approx(metric(grades, cutoff=cutoff))


@given(lists)
def test_the_best_order_has_ndcg_one_and_everything_lies_in_0_to_1(grades: np.ndarray) -> None:
    best = -np.sort(-grades, axis=1)
    assert metrics.ndcg(best) == pytest.approx((grades.max(axis=1) > 0).astype(float))
    for metric in (metrics.ndcg, metrics.err, metrics.mrr, metrics.average_precision):
        assert ((metric(grades) >= 0) & (metric(grades) <= metric(best) + 1e-12)).all()


@pytest.fixture
def random_lists() -> tuple[np.ndarray, np.ndarray]:
    """Grades and scores of 40 lists of 12."""
    rng = np.random.default_rng(3)
    return rng.choice(5, p=[0.5, 0.2, 0.1, 0.1, 0.1], size=(40, 12)), rng.normal(size=(40, 12))


@pytest.mark.parametrize("cutoff", [None, 1, 5])
def test_equal_to_scikit_learn(random_lists: tuple[np.ndarray, np.ndarray], cutoff: int | None) -> None:
    other = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    grades, scores = random_lists
    ranked = metrics.ranked(grades, scores)
    expected = other.dcg_score(grades, scores, k=cutoff)
    assert metrics.mean(metrics.dcg(ranked, gains="linear", cutoff=cutoff)) == pytest.approx(expected)
    expected = other.ndcg_score(2**grades - 1, scores, k=cutoff)
    assert metrics.mean(metrics.ndcg(ranked, cutoff=cutoff)) == pytest.approx(expected)
    if cutoff is None:
        known = [other.average_precision_score(g > 0, s) if g.any() else 0 for g, s in zip(grades, scores, strict=True)]
        assert metrics.average_precision(ranked) == pytest.approx(known)


@pytest.mark.parametrize("cutoff", [3, 10])
def test_equal_to_ir_measures(random_lists: tuple[np.ndarray, np.ndarray], cutoff: int) -> None:
    other = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    grades, scores = random_lists
    qrels = {str(q): {str(d): int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}
    run = {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    ranked = metrics.ranked(grades, scores)
    pairs = [
        (other.nDCG @ cutoff, metrics.ndcg(ranked, gains="linear", cutoff=cutoff)),
        (other.RR @ cutoff, metrics.mrr(ranked, cutoff=cutoff)),
        (other.AP @ cutoff, metrics.average_precision(ranked, cutoff=cutoff)),
        (other.AP(rel=2) @ cutoff, metrics.average_precision(ranked, relevant=2, cutoff=cutoff)),
    ]
    for measure, mine in pairs:
        found = {row.query_id: row.value for row in measure.iter_calc(qrels, run)}
        assert [found[str(q)] for q in range(len(grades))] == pytest.approx(mine)
