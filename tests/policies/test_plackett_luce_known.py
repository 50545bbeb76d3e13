"""Laws that are kept for the same rows, and supports that are known without a law."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.checks import SupportFold
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import EpsilonUniform, PlackettLuce, Top, Uniform
from offrank.policies.base import all_items
from offrank.policies.plackett_luce import laws
from offrank.running.executors import run
from tests.policies.laws import contexts as padded
from tests.policies.laws import spread

POLICY = PlackettLuce("score")


def contexts(weights: np.ndarray, slots: int) -> Contexts:
    return padded(weights.tolist(), [slots] * len(weights))


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows whose law is computed, call by call."""
    rows, solve = list[int](), laws.rank_law

    def counted(logs: Any, *rest: Any) -> Any:
        rows.append(len(logs))
        return solve(logs, *rest)

    monkeypatch.setattr(laws, "SLOW", 0.0)
    monkeypatch.setattr(laws, "rank_law", counted)
    return rows


def some(n: int = 6, m: int = 20, slots: int = 7) -> Any:
    weights = np.array([spread(np.random.default_rng(row), m, 3) for row in range(n)])
    return contexts(weights, slots)


def test_rows_that_were_asked_for_are_not_computed_again(solved: list[int]) -> None:
    policy, every = POLICY.remembering(), some()
    wanted = POLICY.rank_probs(every, all_items(every))
    assert policy == POLICY
    assert repr(policy) == repr(POLICY)
    assert policy.rank_probs(every, all_items(every)) == pytest.approx(wanted, rel=1e-13)
    turned = np.arange(19, -1, -1)
    found = policy.rank_probs(contexts(every.scores["score"][[4, 1], ::-1], 7), np.array([[0, 3, -1], [19, 0, 1]]))
    law = wanted[[4, 1]][:, turned]
    expected = [[law[0, 0], law[0, 3], np.zeros(7)], [law[1, 19], law[1, 0], law[1, 1]]]
    assert found == pytest.approx(np.array(expected), rel=1e-13)
    assert sum(solved) == 6
    policy.rank_probs(contexts(every.scores["score"], 6), all_items(every))
    assert sum(solved) == 12
    pickle.loads(pickle.dumps(policy)).rank_probs(every, all_items(every))
    assert sum(solved) == 18


def test_the_last_ones_are_kept(solved: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "_MOST", 2 * 20 * 7)
    monkeypatch.setattr(laws, "_AT_ONCE", 20 * 7 * 4)
    policy, every = POLICY.remembering(), some()
    wanted = POLICY.rank_probs(every, all_items(every))
    for rows, computed in ((slice(6), 6), (slice(4, 6), 6), (slice(0, 2), 8), (slice(4, 6), 10)):
        given = contexts(every.scores["score"][rows], 7)
        assert policy.rank_probs(given, all_items(given)) == pytest.approx(wanted[rows], rel=1e-13)
        assert sum(solved) == computed


def test_a_check_computes_the_law_of_each_row_once(solved: list[int]) -> None:
    rng = np.random.default_rng(0)
    slates = np.argsort(rng.random((40, 20)), axis=1)
    log = pa.table(
        {
            "slate": slates.tolist(),
            "clicks": rng.integers(0, 2, slates.shape).tolist(),
            "score": rng.uniform(1, 2, slates.shape).tolist(),
        }
    )
    offrank.check(log, logging=POLICY)
    assert sum(solved) == 40


@pytest.mark.parametrize("slots", [1, 5, 30])
@pytest.mark.parametrize("decades", [0, 3, 12, 40, 150, 250, 300])
def test_what_is_certainly_shown_has_no_zero(slots: int, decades: int) -> None:
    given = contexts(np.array([spread(np.random.default_rng(row), 30, decades) for row in range(5)]), slots)
    certain = POLICY.shows_all(given)
    law = POLICY.rank_probs(given, all_items(given))
    assert (law[certain] > 0).all()
    assert certain.all() or decades * slots > 100
    assert not certain.any() or decades < 300


def test_what_shows_all_and_what_does_not() -> None:
    zero = contexts(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), 2)
    assert POLICY.shows_all(zero).tolist() == [False, True, False]
    assert Uniform().shows_all(zero).all()
    assert EpsilonUniform(Top("score"), 0.1).shows_all(zero).all()
    assert not EpsilonUniform(Top("score"), 0.0).shows_all(zero).any()
    assert not Top("score").shows_all(zero).any()
    single = contexts(np.array([[5.0], [1e-300]]), 1)
    assert POLICY.shows_all(single).all()


def test_support_is_the_same_with_and_without_laws() -> None:
    weights = np.array([[1.0, 2.0, 0.0, 3.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 2.0, 1.0], [5.0, 1.0, 1.0, 1.0]])
    given = contexts(weights, 2)
    log = LogBatch(
        given, Shown(np.tile([0, 1], (4, 1)), {}), None, None, np.array([1.0, 0.5, 0.25, 1.0]), np.arange(4, dtype="u8")
    )
    fold = SupportFold(Uniform(), POLICY)
    # Rows count 1, 2, 4 and 1: an item of weight zero is never first, nor second after one of two others.
    assert fold.result(fold.of(log)) == pytest.approx([(1 / 4 + 4 / 2) / 8, (1 / 4 + 4 / 2) / 8])
    assert fold.of(log) == pytest.approx(fold._sums(log), rel=1e-14)


def test_long_slates_are_tested_for_support_without_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlackettLuce, "rank_probs", lambda *_: pytest.fail("a law is computed"))
    slates = np.tile(np.arange(2_000), (2, 1))
    log = offrank.read_log(pa.table({"slate": slates.tolist(), "score": (slates + 1.0).tolist()}))
    fold = SupportFold(Uniform(), POLICY)
    assert run(log.select(fold.needs()), fold).tolist() == [0.0] * 2_000
