"""The release rule: both sides of each of its conditions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from offrank.findings.reasons import Reason
from offrank.findings.release import FEW, MISSING, NOTHING_EARNED, RARE, UNDECIDED, WORSE, release
from offrank.findings.verdict import Verdict
from offrank.sums.estimate import Interval

ABOVE, ACROSS, BELOW = Interval(0.2, 0.1, 0.3, 0.05), Interval(0.02, -0.1, 0.14, 0.06), Interval(-0.2, -0.3, -0.1, 0.05)
LEANING = Interval(-0.02, -0.14, 0.1, 0.06)
"""More likely worse than better, and neither is shown."""
GOOD = Verdict("better", "sound", "drawn", "snips", difference=ABOVE, detectable=0.1)


def test_a_policy_is_released_where_all_conditions_hold() -> None:
    for missing in (None, ABOVE):
        found = release(0.95, GOOD, FEW, missing)
        assert found.released
        assert found.reasons == ()
        assert found.headline == (
            "Better than the logged policy with probability 0.95: +0.20 per impression, at least +0.10, by snips."
        )


@pytest.mark.parametrize(
    ("verdict", "rewarded", "missing", "code", "words"),
    [
        (replace(GOOD, difference=ACROSS), 99, None, UNDECIDED, "Do not ship: not shown to be better"),
        (replace(GOOD, difference=LEANING), 99, None, UNDECIDED, "Do not ship: not shown to be better"),
        (replace(GOOD, difference=BELOW), 99, None, WORSE, "Do not ship: worse than the logged policy"),
        (GOOD, FEW - 0.1, None, "few-rewards", "Do not ship: not shown to be better"),
        (GOOD, 99, ACROSS, MISSING, "Do not ship: not shown to be better"),
        (Verdict("unknown", "none", "drawn", reasons=(Reason("low-ess", "", ""),)), 99, None, "low-ess", "cannot tell"),
    ],
)
def test_each_condition_can_refuse_alone(
    verdict: Verdict, rewarded: float, missing: Interval | None, code: str, words: str
) -> None:
    found = release(0.95, verdict, rewarded, missing)
    assert not found.released
    assert [one.code for one in found.reasons] == [code]
    assert words in found.headline
    assert code in found.headline
    assert found.to_dict()["reasons"][0]["code"] == code


def test_a_difference_of_a_verdict_without_an_answer_is_none() -> None:
    doubt = Reason("low-ess", "", "")
    found = release(0.95, replace(GOOD, decision="unknown", trust="none", reasons=(doubt,)), FEW)
    assert not found.released
    assert [one.code for one in found.reasons] == ["low-ess"]


def test_an_answer_that_assumes_says_so() -> None:
    care = Reason("assumed", "", "")
    found = release(0.9, replace(GOOD, assumes=frozenset({"additive"}), reasons=(care,)))
    assert found.released
    assert "with probability 0.9 if a slate's reward is a sum over its items: +0.2" in found.headline
    assert found.headline.endswith("Use with care: assumed.")


def uniform_log(rows: int, support: float, seed: int, earned: float = 0.0) -> list[dict[str, Any]]:
    """Two contexts; in the second, in which the log earns little, item 1 is shown in a share `support` of rows."""
    rng = np.random.default_rng(seed)
    out: list[dict[str, Any]] = []
    for _ in range(rows):
        second = bool(rng.random() < 0.2)
        other = rng.random() < (support if second else 0.5)
        clicked = rng.random() < (earned if second else 0.4)
        chance = (support if other else 1 - support) if second else 0.5
        new = [0.0, 1.0] if second else [1.0, 1.2]
        row = {"candidates": [0, 1], "slate": [int(other)], "clicks": [float(clicked)], "propensity": chance}
        out.append({**row, "new": new})
    return out


def seldom_unsupported(rows: int, seed: int) -> list[dict[str, Any]]:
    """As above in 4 of 100 rows, in which item 1 is never shown; else item 1 is a little better, and shown more."""
    rng = np.random.default_rng(seed)
    out: list[dict[str, Any]] = []
    for _ in range(rows):
        second = bool(rng.random() < 0.04)
        other = not second and bool(rng.random() < 0.5)
        clicked = float(not second and rng.random() < (0.4 if other else 0.37))
        row = {"candidates": [0, 1], "slate": [int(other)], "clicks": [clicked], "propensity": 1.0 if second else 0.5}
        out.append({**row, "new": [0.0, 1.0] if second else [1.0, 3.0]})
    return out


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weight_without_support_does_not_release(seed: int) -> None:
    """The policy shows what is never logged where the log earns nothing: snips alone says that it is better."""
    result = offrank.evaluate(seldom_unsupported(1500, seed), {"away": "plackett_luce(new)"}, estimators="snips")
    away, found = result["away", "snips"].difference, result.release("away")
    assert away is not None
    assert away.low > 0.0
    assert not found.released
    assert [one.code for one in found.reasons] == [MISSING]


def test_the_missing_difference_is_ips_counted_from_the_least_reward() -> None:
    """By arithmetic: the mean of (w - 1)(r - least); a constant added to the rewards changes nothing."""
    log = uniform_log(1000, 0.3, 2, 0.4)
    weights = np.array([row["new"][row["slate"][0]] / sum(row["new"]) / row["propensity"] for row in log])
    clicks = np.array([row["clicks"][0] for row in log])
    for shift in (0.0, -3.0, 5.0):
        moved = [{**row, "reward": row["clicks"][0] + shift} for row in log]
        found = offrank.evaluate(moved, {"away": "plackett_luce(new)"}, estimators=["snips"]).release("away")
        assert found.missing is not None
        assert found.missing.value == pytest.approx(float(((weights - 1) * clicks).mean()))
        z = 1.6448536269514722
        error = float(((weights - 1) * clicks).std(ddof=1) / math.sqrt(len(log)))
        assert found.missing.standard_error == pytest.approx(error, rel=1e-9)
        assert found.missing.low <= found.missing.value - z * error + 1e-12


def test_a_level_that_is_no_probability_of_being_better_is_refused() -> None:
    result = offrank.evaluate(uniform_log(200, 0.3, 3), {"away": "plackett_luce(new)"}, estimators="ips")
    for level in (0.5, 1.0):
        with pytest.raises(UsageError, match="level"):
            result.release("away", level)


@pytest.mark.parametrize("offset", [0.0, 1.0, -1.0, 7.0])
def test_a_constant_added_to_the_rewards_does_not_make_them_many(offset: float) -> None:
    log = [
        {"candidates": [0, 1], "slate": [row % 2], "propensity": 0.5, "score": [0.0, 1.0], "reward": offset}
        for row in range(500)
    ]
    for row in range(1, 12, 2):
        log[row]["reward"] = offset + 1
    found = offrank.evaluate(log, {"second": "top(score)"}, estimators="snips").release("second")
    assert [one.code for one in found.reasons] == ["few-rewards"]
    assert "about 6 rewarded" in found.reasons[0].message


def test_one_more_of_the_largest_reward_must_not_undo_the_difference() -> None:
    assert release(0.95, GOOD, one_more=0.099).released
    refused = release(0.95, GOOD, one_more=0.1)
    assert [one.code for one in refused.reasons] == [RARE]


def two_products(n: int, seed: int, rare: float) -> list[dict[str, Any]]:
    """Product 0 earns 100 with chance `rare`, product 1 earns 1 with chance 0.1; both are shown alike."""
    rng = np.random.default_rng(seed)
    shown, luck = rng.integers(0, 2, n), rng.random(n)
    earned = np.where(shown == 1, (luck < 0.1) * 1.0, (luck < rare) * 100.0)
    return [
        {"candidates": [0, 1], "slate": [int(item)], "propensity": 0.5, "score": [0.0, 1.0], "reward": float(reward)}
        for item, reward in zip(shown, earned, strict=True)
    ]


def test_rare_rewards_that_are_known_to_occur_refuse() -> None:
    result = offrank.evaluate(two_products(1000, 0, 0.0), {"second": "top(score)"}, estimators="snips")
    assert result.release("second").released
    found = result.release("second", largest=100.0)
    assert [one.code for one in found.reasons] == [RARE]


def pages(n: int, earns: bool) -> list[dict[str, Any]]:
    """Uniform slates of two of three items; only a page with item 0 earns, and with both 0 and 1 if `earns`."""
    rng, out = np.random.default_rng(4), []
    for _ in range(n):
        slate = rng.permutation(3)[:2].tolist()
        both = slate == [0, 1]
        reward = float(rng.random() < (0.6 if both and earns else 0.0 if both else 0.5 * (0 in slate) + 0.1))
        row = {"candidates": [0, 1, 2], "slate": slate, "propensity": 1 / 6, "score": [2.0, 1.0, 0.0]}
        out.append({**row, "reward": reward})
    return out


@pytest.mark.parametrize("earns", [False, True])
def test_a_page_that_never_earned_is_not_released_by_an_assumption(earns: bool) -> None:
    log = pages(3000, earns)
    found = offrank.evaluate(log, {"best": "top(score)"}, "uniform", ["ips", "wpi"]).release("best")
    assert found.released == earns, found
    assert (NOTHING_EARNED in {one.code for one in found.reasons}) == (not earns)


@pytest.mark.parametrize(("chance", "said"), [(0.015, False), (0.08, True)])
def test_nothing_is_said_of_a_page_that_would_hardly_have_earned(chance: float, said: bool) -> None:
    """Of a hundred such pages 1.5 rewards were to be expected, or 8: three are a chance of 0.05 of none."""
    log = pages(600, earns=False)
    luck = np.random.default_rng(5).permutation(len(log)) < chance * len(log)
    for row, lucky in zip(log, luck, strict=True):
        row["reward"] = float(lucky and row["slate"] != [0, 1])
    found = offrank.evaluate(log, {"best": "top(score)"}, "uniform", ["ips", "wpi"]).release("best")
    assert found.estimator == "wpi"
    assert (NOTHING_EARNED in {one.code for one in found.reasons}) == said


def sampled(rows: int, kept: float) -> list[dict[str, Any]]:
    """Item 1 earns about 10 and item 0 about 9.2; in a tenth of the rows only item 0 is shown. Half are sub-sampled."""
    out: list[dict[str, Any]] = []
    for row in range(rows):
        second, noise = row % 10 == 9, 0.1 * (row // 20 % 5 - 2)
        other = not second and row // 10 % 2 == 1
        shown = {"candidates": [0, 1], "slate": [int(other)], "propensity": 1.0 if second else 0.5, "score": [0.0, 1.0]}
        out.append({**shown, "reward": (10.0 if other else 9.2) + noise, "inclusion": kept if row % 4 < 2 else 1.0})
    return out


def test_what_is_never_shown_may_earn_nothing_where_rows_count_unlike() -> None:
    """The least reward over inclusion, 9 here, is no bound on the rewards: rows of 9 may count twice, others of 5 once.

    Item 1 earns 0.4 more than the log. If a tenth of it earned 9, 0.3 more would be left; if nothing, it earns less.
    """
    known, unknown = (
        offrank.evaluate(sampled(1000, kept), {"second": "top(score)"}, estimators="snips").release("second")
        for kept in (1.0, 0.5)
    )
    assert known.released
    assert known.missing is not None
    assert known.missing.value == pytest.approx(0.9 * 10 + 0.1 * 9 - (0.45 * 10 + 0.55 * 9.2), abs=0.02)
    assert [one.code for one in unknown.reasons] == [MISSING]
    rows = sampled(1000, 0.5)
    counted = np.array([1 / row["inclusion"] for row in rows])
    weight = np.array([row["slate"][0] / row["propensity"] for row in rows])
    reward = np.array([row["reward"] for row in rows])
    expected = np.average((weight - 1) * reward, weights=counted)
    assert unknown.missing is not None
    assert unknown.missing.value == pytest.approx(expected, rel=1e-9)
    assert expected < -0.5
