"""The table of A/B tests: logs are compared from counts as the verb compares them; truths are those of its users."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")
USERS = [
    *("PBM", "DBN", "DCM", "UBM", "trust-biased", "mixture", "comparing", "bored", "best of list", "bottom up"),
    *("clustered", "90 : 10", "revenue"),
]
ANSWERS = "means", "combined", "lists_alone"


@pytest.fixture(scope="module")
def tables() -> Iterator[Any]:
    """The script, as it is found where it is run from."""
    sys.path.insert(0, BENCHMARKS)
    try:
        yield importlib.import_module("ab_tests")
    finally:
        sys.path.remove(BENCHMARKS)


def answers(found: Any) -> np.ndarray:
    known = [getattr(found, name) for name in ANSWERS]
    return np.array([[np.nan] * 3 if one is None else [one.value, one.low, one.high] for one in known])


def shares(found: Any) -> dict[str, float]:
    return {one.estimator: one.share for one in found.steps if one.share}


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("users", "sessions", "steps", "close"),
    [
        ("comparing", 2000, {"snrips", "history"}, 1e-5),
        ("comparing", 20_000, {"snips", "history"}, 1e-5),  # `snrips` is contradicted
        ("clustered", 2000, {"history"}, 1e-5),  # too few users for the others
        ("90 : 10", 2000, {"snips", "snrips", "history"}, 1e-5),
        ("best of list", 2000, {"snips", "snrips", "history"}, 0.05),
        ("revenue", 2000, set[str](), 1e-12),
    ],
)
def test_a_log_is_compared_as_the_verb_does(
    tables: Any, users: str, sessions: int, steps: set[str], close: float
) -> None:
    world = tables.World.of("near")
    compare = tables.Comparer(world, tables.USERS[users]).compared
    # The model of clicks is learnt in limited steps: where the best of a list is clicked, and rows come in another
    # order, it may stop at another place.
    drawn = tables.Drawn.of(world, users, sessions, 1000)
    found, said = compare(drawn), tables.by_verb(drawn)
    assert np.isnan(answers(found)).tolist() == np.isnan(answers(said)).tolist()
    assert np.nanmax(np.abs(answers(found) - answers(said))) < close * said.means.standard_error
    assert shares(found) == pytest.approx(shares(said), abs=10 * close)
    assert set(shares(said)) == steps


@pytest.mark.parametrize("users", USERS)
def test_the_expected_clicks_are_those_that_come(tables: Any, users: str) -> None:
    assert users in tables.USERS
    world, sessions = tables.World.of("near"), 200_000
    drawn = tables.Drawn.of(world, users, sessions, 1)
    test = drawn.test
    relevance = world.relevance[drawn.query[:, None], world.lists[drawn.arm, drawn.query]]
    away = drawn.clicks.sum(axis=1) - test.expected(relevance)
    by_user = away.reshape(-1, test.sessions).mean(axis=1)
    assert abs(by_user.mean()) < 4 * by_user.std() / np.sqrt(len(by_user))
    if drawn.reward is not None:
        times = drawn.reward.mean() / drawn.clicks.sum(axis=1).mean()
        assert times == pytest.approx(np.exp(test.spread**2 / 2), rel=0.05)


def test_the_truth_is_the_mean_over_queries(tables: Any) -> None:
    world = tables.World.of("apart")
    first, second = (
        sum(
            float(world.relevance[query, item]) / (rank + 1) ** 0.8
            for query, items in enumerate(lists)
            for rank, item in enumerate(items)
        )
        / 60
        for lists in world.lists
    )
    assert world.truth("PBM") == pytest.approx(second - first, abs=1e-12)
    assert world.truth("revenue") == pytest.approx((second - first) * np.exp(1.125), abs=1e-12)
    assert world.shared == 0


def test_an_answer_is_counted_by_hand(tables: Any) -> None:
    logs = [
        {"difference of means": [1.0, -1.0, 3.0], "combined": [2.0, 1.5, 2.5]},
        {"difference of means": [4.0, 2.0, 6.0], "combined": [3.0, 1.0, 5.0]},
        {"difference of means": [9.0, 8.0, 10.0]},
    ]
    both = tables.Answer.of(logs, "combined", 1.0)
    assert (both.logs, both.held) == (2, 0.5)
    assert both.error == pytest.approx(np.sqrt((1 + 4) / (0 + 9)))
    assert both.saved == pytest.approx((16 + 1) / 2)
    assert tables.Answer.of(logs, "another", 1.0) is None
