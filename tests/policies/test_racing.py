"""Policies that race keys: what they refuse, what they say of it, and slates that stop short."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import AbilityError, RowError, SpellingError, UsageError
from offrank.policies import PlackettLuce, policy
from tests.policies.laws import contexts

WIDE = contexts([[1.0 + item for item in range(30)]], [10])
ROWS = [
    {"slate": [7, 8], "candidates": [7, 8, 9], "clicks": [1, 0], "alpha": [1, 2, 3], "beta": [4, 5, 0.5]},
    {"slate": [9, 7], "candidates": [7, 8, 9], "clicks": [0, 0], "alpha": [2, 2, 3], "beta": [4, 1, 0.5]},
]


@pytest.mark.parametrize(
    "spelling",
    [
        "thompson(alpha)",
        "thompson(alpha, beta, sd=beta)",
        "thompson(mean=alpha)",
        "thompson",
        "thompson(alpha, sd=beta)",
    ],
)
def test_posteriors_are_of_one_kind(spelling: str) -> None:
    with pytest.raises(UsageError, match=r"thompson is given") as error:
        policy(spelling)
    assert "thompson(mean=..., sd=...)" in error.value.remedy


@pytest.mark.parametrize("sd", ["0", "-1", "inf", "True", "1e999"])
def test_noise_has_a_size(sd: str) -> None:
    if sd == "inf":  # a column of that name
        assert policy("noisy(score, sd=inf)").reads("sample").positive == {"inf"}  # type: ignore[union-attr]
        return
    with pytest.raises(UsageError, match=r"noisy\(score, .*: sd is") as error:
        policy(f"noisy(score, sd={sd})")
    assert "top(score)" in error.value.remedy


def test_noise_is_of_a_known_kind() -> None:
    with pytest.raises(UsageError, match="unknown noise 'cauchy'"):
        policy("noisy(score, sd=1, noise=cauchy)")
    with pytest.raises(SpellingError):
        policy("noisy(score)")


def test_one_slot_of_rows_seen_before_beside_others() -> None:
    """Normal keys of means 0, 1 (and 5 in one row), sd 1: the higher of two comes first with Phi(1 / sqrt 2)."""
    rows = [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0, -50.0], [3.0]]
    asked, first = policy("noisy(score, sd=1)"), (1 + math.erf(0.5)) / 2
    expected = [first, 1 - first, first, first, 0.0]
    for some in ([0], [0, 1], [2, 3, 4], [4, 3, 1, 0]):
        here = contexts([rows[row] for row in some], [1] * len(some))
        items = np.array([[1 if len(rows[row]) > 1 else -1] for row in some])
        found = asked.rank_probs(here, items)[:, 0, 0]
        assert found == pytest.approx([expected[row] for row in some], abs=1e-11)
        shown = np.where(items >= 0, items, 0)
        alone = [expected[row] if len(rows[row]) > 1 else 1.0 for row in some]
        assert np.exp(asked.log_prob(here, shown)) == pytest.approx(alone, abs=1e-11)


@pytest.mark.parametrize("sd", [0.1, 2.0])
def test_gumbel_noise_of_one_size_is_plackett_luce(sd: float) -> None:
    found, same = policy(f"noisy(score, sd={sd}, noise=gumbel)"), PlackettLuce("score", temperature=1, log=True)
    scaled = contexts([[one * math.pi / (sd * math.sqrt(6)) for one in (4.0, 2.0, 1.0)]], [3])
    here, slates = contexts([[4.0, 2.0, 1.0]], [3]), np.array([[1, 2, 0]])
    assert found.slot_probs(here, slates) == pytest.approx(same.slot_probs(scaled, slates))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("column", "row", "value", "code"),
    [
        ("alpha", 1, -1, "not-positive"),
        ("beta", 0, 0, "not-positive"),
        ("beta", 1, math.nan, "bad-score"),
        ("alpha", 0, math.inf, "bad-score"),
    ],
)
def test_bad_counts_are_named_by_row_and_column(column: str, row: int, value: float, code: str) -> None:
    rows: list[dict[str, Any]] = [{name: list(found) for name, found in one.items()} for one in ROWS]
    rows[row][column][2] = value
    with pytest.raises(RowError, match=rf"row {row}.*{column}") as error:
        offrank.evaluate(rows, "uniform", "thompson(alpha, beta)", "ips")
    assert error.value.rule == code


def test_means_may_be_negative_and_deviations_may_not() -> None:
    rows = [{**one, "mean": [-1.0, 0.0, 2.0], "sd": [1.0, 2.0, 3.0]} for one in ROWS]
    assert offrank.evaluate(rows, "uniform", "thompson(mean=mean, sd=sd)", "ips")["ips"].value > 0
    rows[1]["sd"] = [1.0, 0.0, 3.0]
    with pytest.raises(RowError, match=r"row 1.*'?sd"):
        offrank.evaluate(rows, "uniform", "noisy(mean, sd=sd)", "ips")


def test_numbers_of_contexts_of_ones_own_are_checked_too() -> None:
    with pytest.raises(UsageError, match="'score' contains a number that is not above 0"):
        policy("thompson(score, score)").rank_probs(contexts([[1.0, 0.0]], [1]), np.array([[0]]))  # type: ignore[union-attr]


def test_too_many_sets_are_refused_before_anything_is_computed() -> None:
    with pytest.raises(AbilityError, match="two items at two ranks") as error:
        policy("noisy(score, sd=1)").pair_probs(WIDE)  # type: ignore[union-attr]
    assert "30 candidates in 10 slots" in error.value.remedy


def test_many_ranks_of_many_candidates_add_up() -> None:
    found = policy("noisy(score, sd=4)").rank_probs(WIDE, np.arange(30)[None])  # type: ignore[union-attr]
    assert found.sum(axis=1) == pytest.approx(np.ones((1, 10)), abs=1e-11)
    assert (np.diff(found[0, :, 0]) > 0).all()


def test_slates_that_stop_short_are_judged_as_far_as_they_go() -> None:
    thompson, here = policy("thompson(score, score)"), contexts([[1.0, 2.0, 3.0], [5.0, 4.0]], [3, 1])
    slates = np.array([[2, 0, -1], [1, -1, -1]])
    found = thompson.slot_probs(here, slates)  # type: ignore[union-attr]
    assert (found[slates < 0] == 1).all()
    assert thompson.log_prob(here, slates) == pytest.approx(np.log(found).sum(axis=1))  # type: ignore[union-attr]
    assert thompson.slot_probs(here, np.array([[2, 0, 1], [1, -1, -1]]))[0, :2] == pytest.approx(found[0, :2])  # type: ignore[union-attr]
