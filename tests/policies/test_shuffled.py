"""Shuffles of a sorted slate: what is written down by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from offrank.policies import policy
from tests.policies.laws import contexts

HERE = contexts([[9.0, 8.0, 7.0, 6.0, 5.0]], [4])


def probability(spelling: str, *slate: int) -> float:
    return float(np.exp(policy(spelling).log_prob(HERE, np.array([slate])))[0])  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("method", "slate", "expected"),
    [
        ("fair_pairs", (0, 1, 2, 3), 1 / 2 * 1 / 4 + 1 / 2 * 1 / 2),
        ("fair_pairs", (1, 0, 3, 2), 1 / 2 * 1 / 4),
        ("fair_pairs", (0, 2, 1, 3), 1 / 2 * 1 / 2),
        ("fair_pairs", (2, 1, 0, 3), 0.0),
        ("window", (0, 1, 2, 3), 1 / 2),
        ("window", (0, 1, 3, 2), 1 / 6),
        ("window", (1, 0, 3, 2), 0.0),
        ("blocks", (1, 0, 2, 3), 1 / 4),
        ("blocks", (0, 2, 1, 3), 0.0),
        ("top", (1, 0, 2, 3), 1 / 2),
        ("top", (0, 1, 3, 2), 0.0),
        ("blocks", (0, 1, 2, 4), 0.0),
    ],
)
def test_pairs_by_hand(method: str, slate: tuple[int, ...], expected: float) -> None:
    assert probability(f"shuffled(top(score), method={method})", *slate) == pytest.approx(expected)


def test_the_top_in_a_share_of_the_traffic() -> None:
    served = "mixture({top(score): 0.99, shuffled(top(score), 3, method=top): 0.01})"
    assert probability(served, 0, 1, 2, 3) == pytest.approx(0.99 + 0.01 / 6)
    assert probability(served, 2, 0, 1, 3) == pytest.approx(0.01 / 6)
    assert probability(served, 0, 1, 3, 2) == 0


@pytest.mark.parametrize("method", ["blocks", "top", "fair_pairs", "window"])
def test_the_same_items_are_shown_as_by_the_ranker(method: str) -> None:
    shuffled = policy(f"shuffled(top(score), 3, method={method})")
    found = shuffled.rank_probs(HERE, np.arange(5)[None])[0]  # type: ignore[union-attr]
    assert found.sum(axis=1) == pytest.approx([1, 1, 1, 1, 0])
    assert found.sum(axis=0) == pytest.approx(np.ones(4))
    rows = np.zeros(500, np.int64)
    slates = shuffled.sample(HERE.take(rows), np.random.default_rng(1))  # type: ignore[union-attr]
    assert {tuple(sorted(slate)) for slate in slates.tolist()} == {(0, 1, 2, 3)}


@pytest.mark.parametrize(
    ("spelling", "what"),
    [
        ("shuffled(plackett_luce(score))", "does not sort"),
        ("shuffled(top(score), 1)", "block is 1"),
        ("shuffled(top(score), 2.5)", "block is 2.5"),
        ("shuffled(top(score), method=riffle)", "unknown method 'riffle'"),
        ("shuffled(3)", "is not a policy"),
    ],
)
def test_what_cannot_be_shuffled_is_refused(spelling: str, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        policy(spelling)


def test_a_slate_that_the_shuffle_never_shows_is_refused() -> None:
    rows = [{"slate": [1, 2, 3], "score": [3.0, 2.0, 1.0], "clicks": [0, 1, 0]}] * 3
    rows[1] = {**rows[1], "slate": [3, 2, 1], "score": [1.0, 2.0, 3.0]}
    with pytest.raises(offrank.OffrankError, match="row 1"):
        offrank.evaluate(rows, "uniform", "shuffled(top(score), method=fair_pairs)", "ips")
