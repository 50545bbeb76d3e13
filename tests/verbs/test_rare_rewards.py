"""Rewards too rare for the weights that meet them: a few rows of large weight decide, and none of them was clicked.

Expectations are written out from the numbers of rows: 4,000 in contexts where both rankers show item 0 first, 1,000 in
one where the target shows item 1. The log shows its first item with a probability of .92, each other one with .02.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank

CODE = "rare-rewards"
LOGGING, TARGET = "epsilon(top(old), 0.1)", "top(new)"
Z = 1.959963984540054
SHOWN = {(False, 0): (3680, 220), (True, 0): (920, 56), (True, 1): (20, 0)}
"""(the rankers differ, the item shown) -> rows, and how many of them are clicked; all other rows are not clicked."""


def log(clicked: int = 0, groups: int = 1, **columns: Any) -> pa.Table:
    """A log in which so many of the 20 rows of weight 50 are clicked, once for each group."""
    differ, item, clicks = [], [], []
    for (apart, shown), (rows, many) in (SHOWN | {(True, 1): (20, clicked)}).items():
        differ += [apart] * rows
        item += [shown] * rows
        clicks += [1.0] * many + [0.0] * (rows - many)
    for apart, rows in ((False, 320), (True, 60)):
        differ += [apart] * rows
        item += [2 + row % 3 if apart else 1 + row % 4 for row in range(rows)]
        clicks += [0.0] * rows
    n = len(item) * groups
    new = np.zeros((n, 5))
    new[np.arange(n), np.tile(differ, groups).astype(int)] = 1.0
    table = {
        "candidates": [list(range(5))] * n,
        "slate": np.tile(item, groups)[:, None].tolist(),
        "clicks": np.tile(clicks, groups)[:, None].tolist(),
        "old": [[1.0, 0.0, 0.0, 0.0, 0.0]] * n,
        "new": new.tolist(),
        "day": np.repeat(np.arange(groups), len(item)).astype(str),
    }
    return pa.table(table | columns)


def by_hand(clicked: int) -> tuple[float, float, float]:
    """The difference of plain ips to the log, the standard error of the rows, and the influence of one more reward."""
    rows = [(1 / 0.92 - 1, 220), (-1.0, 56), (50.0 - 1, clicked)]  # (w - 1) r of the clicked rows
    value = sum(each * many for each, many in rows) / 5000
    squares = sum(each**2 * many for each, many in rows) - 5000 * value**2
    return value, math.sqrt(squares / (5000 * 4999)), 49 - value


def judged(table: pa.Table, estimators: str = "ips", **options: Any) -> offrank.Result:
    return offrank.evaluate(table, TARGET, LOGGING, estimators, **options)


def test_one_more_reward_of_the_heaviest_rows_is_in_the_interval() -> None:
    """Of 20 rows of weight 50, at 276 clicks in 5,000 rows, 1.1 are expected to be clicked, and none is."""
    value, seen, size = by_hand(0)
    whole = math.sqrt(seen**2 + (1 - 276 / 5000) * size**2 / (5000 * 4999))
    found = judged(log(), interval="normal")["ips"].difference
    assert found is not None
    assert (found.value, found.standard_error) == pytest.approx((value, whole))
    assert (found.low, found.high) == pytest.approx((value - Z * seen, value + Z * whole))
    assert found.seen == pytest.approx(seen / whole)
    assert found.high > 0 > value + 4 * seen  # the rows alone say that it is worse, by four of their errors


def test_rewards_that_tell_their_own_error_change_nothing() -> None:
    """Five of the 20 rows are clicked: one more would raise the variance by less than a quarter; at three, by more."""
    for clicked, same in ((5, True), (3, False)):
        value, seen, _ = by_hand(clicked)
        found = judged(log(clicked), interval="normal")["ips"].difference
        assert found is not None
        assert found.low == pytest.approx(value - Z * seen)
        assert (found.high == pytest.approx(value + Z * seen)) == same
        assert (found.seen == 1.0) == same


@pytest.mark.parametrize("estimators", ["ips", "snips", "controlled(ips)", "clip(ips, 100)", "pi", "ipm", "snrips"])
def test_a_target_is_not_worse_where_nothing_rare_was_clicked(estimators: str) -> None:
    verdict = judged(log(), estimators).verdict
    assert (verdict.decision, verdict.trust) == ("no clear difference", "with care")
    [reason] = [one for one in verdict.reasons if one.code == CODE]
    assert "weight near 50, and in a log of 5,000 only about 1.1 of these have a reward" in reason.message
    assert "Log 10 times as many impressions" in reason.remedy  # for ten such rewards
    assert verdict.difference is not None
    assert verdict.difference.low < 0 < verdict.difference.high


def test_written_propensities_tell_as_much_as_the_policy() -> None:
    told = judged(log(), "snips")["snips"]
    item = np.array(log()["slate"].to_pylist())[:, 0]
    written = log(propensity=np.where(item == 0, 0.92, 0.02))
    found = offrank.evaluate(written, TARGET, "logged", "snips")["snips"]
    assert (found.low, found.high) == pytest.approx((told.low, told.high))
    assert CODE in [one.code for one in found.warnings]


def test_a_log_with_rewards_of_its_own_is_sound() -> None:
    """Four such logs, in each of which 5 of the 20 rows are clicked."""
    verdict = judged(log(5, groups=4), "snips").verdict
    assert (verdict.decision, verdict.trust) == ("better", "sound")


def test_the_difference_of_two_targets_has_the_finding() -> None:
    found = offrank.compare(log(), {"old": "top(old)", "new": TARGET}, LOGGING, "snips").comparisons[0].verdict
    assert (found.decision, found.trust) == ("no clear difference", "with care")
    assert CODE in [one.code for one in found.reasons]


def test_targets_that_differ_in_few_rows_have_a_finding_of_their_own() -> None:
    """Each has 60 clicks on the 80 rows of weight 50; they differ in 8 of these rows, none of which was clicked."""
    table = log(15, groups=4)
    item, new = np.array(table["slate"].to_pylist())[:, 0], np.array(table["new"].to_pylist())
    clicked = np.array(table["clicks"].to_pylist())[:, 0] > 0
    rare, usual = np.flatnonzero((item == 1) & (new[:, 1] > 0)), np.flatnonzero((item == 0) & (new[:, 1] > 0))
    differ = np.r_[rare[~clicked[rare]][:8], usual[:368]]
    third = new.copy()
    third[differ] = [1.0, 0.0, 0.0, 0.0, 0.0]
    targets = {"one": "top(third)", "other": TARGET}
    found = offrank.compare(table.append_column("third", [third.tolist()]), targets, LOGGING, "ips")
    assert CODE not in [one.code for estimate in found.estimates.given.values() for one in estimate.warnings]
    [verdict] = [one.verdict for one in found.comparisons]
    assert CODE in [one.code for one in verdict.reasons]


def test_of_two_targets_only_as_many_more_rewards_count_as_their_weights_differ() -> None:
    """The second shows the same with a probability of .52, so that its heaviest rows have the weight 26."""
    found = offrank.evaluate(
        log(), {"one": TARGET, "other": "epsilon(top(new), 0.6)"}, LOGGING, "ips", interval="normal"
    )
    rows, clicks = np.array([3680, 920, 20, 320, 60]), np.array([220, 56, 0, 0, 0])
    one, other = np.array([1 / 0.92, 0, 50, 0, 0]), np.array([0.52 / 0.92, 0.12 / 0.92, 26, 6, 6])

    def variance(each: np.ndarray, rows: np.ndarray = rows) -> float:
        mean = rows @ each / 5000
        return float(rows @ each**2 - 5000 * mean**2)

    apart = variance(one - other) / variance(one)
    value = (one - other) @ clicks / 5000
    seen = clicks @ (one - other) ** 2 - 5000 * value**2
    whole = seen + (1 - 276 / 5000) * apart * (50 - value) ** 2
    away = found.difference("one", "other")
    assert away.value == pytest.approx(value)
    assert away.high == pytest.approx(value + Z * math.sqrt(whole / (5000 * 4999)))


def test_two_targets_that_show_the_same_have_no_doubt_of_their_own() -> None:
    """Both show item 1 where the log hardly does, so that no reward there can move their difference."""
    twice = log(twice=log()["new"])
    found = offrank.evaluate(twice, {"one": TARGET, "other": "top(twice)"}, LOGGING, "ips")
    away = found.difference("one", "other")
    assert (away.low, away.high) == (0.0, 0.0)


def test_groups_are_judged_alike() -> None:
    found = judged(log(groups=2), "snips", by="day")
    for group in found.groups.values():
        [estimate] = group.values()
        assert CODE in [one.code for one in estimate.warnings]
        assert estimate.difference is not None
        assert estimate.difference.high == pytest.approx(judged(log(), "snips")["snips"].difference.high)


@pytest.mark.parametrize(("sign", "least"), [(-1.0, 0.0), (1.0, -1e-9)])
def test_rewards_may_be_losses(sign: float, least: float) -> None:
    """A rare row may then lose as much as it may earn: both ends move."""
    reward = sign * np.array(log()["clicks"].to_pylist())[:, 0]
    reward[-1] = least
    away = judged(log(reward=reward), interval="normal")["ips"].difference
    value, seen, size = by_hand(0)
    half = Z * math.sqrt(seen**2 + (1 - 276 / 5000) * size**2 / (5000 * 4999))
    assert away is not None
    assert (away.low, away.high) == pytest.approx((sign * value - half, sign * value + half), rel=5e-3)


def test_rows_without_a_click_that_were_thinned_out_do_not_make_clicks_larger() -> None:
    """Every second row without a click was kept: the heaviest rows count twice, one with a click once."""
    clicks = np.array(log()["clicks"].to_pylist())[:, 0]
    kept = (clicks > 0) | (np.arange(5000) % 2 == 0)
    table = log(inclusion=np.where(clicks > 0, 1.0, 0.5)).filter(kept)
    whole, part = (judged(each, interval="normal")["ips"].difference for each in (log(), table))
    assert whole is not None
    assert part is not None
    assert part.high - part.value == pytest.approx(whole.high - whole.value, rel=0.1)


@pytest.mark.parametrize("estimators", ["ips", "snips", "ipm"])
def test_half_of_the_rows_kept_at_random_is_no_other_log(estimators: str) -> None:
    plain, kept = judged(log(), estimators), judged(log(inclusion=np.full(5000, 0.5)), estimators)
    for one, other in zip(plain.values(), kept.values(), strict=True):
        assert (one.low, one.high, one.standard_error) == pytest.approx((other.low, other.high, other.standard_error))


def test_prices_are_in_units_of_their_own() -> None:
    """Rewards in cents move the ends as rewards in units do."""
    earned = np.array(log()["clicks"].to_pylist())[:, 0] * (1 + np.arange(5000) % 3)
    one, cents = (judged(log(reward=factor * earned), "snips")["snips"] for factor in (1.0, 100.0))
    assert CODE in [each.code for each in one.warnings]
    assert (cents.low, cents.high) == pytest.approx((100 * one.low, 100 * one.high))


@pytest.mark.turns(3)
@pytest.mark.slow
def test_a_target_that_is_equal_is_seldom_worse() -> None:
    """150 logs of 5,000 rows, both rankers equal: of the rows' own intervals, 30 in 100 call the target worse."""
    rng, parts = np.random.default_rng(1), []
    for day in range(150):
        clicked = rng.binomial(20, 0.06)
        parts.append(log(clicked, day=pa.array([str(day)] * 5000)))
    found = judged(pa.concat_tables(parts), "snips", by="day")
    away = [estimate.difference for group in found.groups.values() for estimate in group.values()]
    assert len(away) == 150
    assert sum(one is None or one.high < 0 for one in away) <= 3


@pytest.mark.parametrize("seed", [3, 5, 6])
def test_rows_that_agree_to_the_last_digit_do_not_blow_up_the_error(seed: int) -> None:
    """Of six rows each slot may have one with a weight: then only rounding is left of the linear error."""
    rng, rows = np.random.default_rng(seed), 24
    table = pa.table(
        {
            "candidates": [[0, 1, 2]] * rows,
            "slate": np.argsort(rng.random((rows, 3)), axis=1)[:, :2].tolist(),
            "clicks": (rng.random((rows, 2)) < 0.4).astype(int).tolist(),
            "old": rng.random((rows, 3)).tolist(),
            "new": rng.random((rows, 3)).tolist(),
            "user": rng.integers(0, 6, rows).tolist(),
            "kind": rng.integers(0, 4, rows).tolist(),
        }
    )
    found = offrank.estimate(table, "top(new)", "plackett_luce(old)", ["snrips", "snipm"], cluster="user", by="kind")
    errors = [one.standard_error for part in found.groups.values() for one in part.given.values()]
    assert len(errors) > 3
    assert not any(1e3 < one < math.inf for one in errors)


def test_without_a_weighted_reward_the_interval_is_that_of_one() -> None:
    """One of five items is always shown, 800 times of 4,000, without a click; the other four have ten."""
    item, rate = np.arange(4000) % 5, 10 / 4000
    columns = {"slate": item[:, None].tolist(), "clicks": ((item == 4) & (np.arange(4000) < 50))[:, None].tolist()}
    table = pa.table(columns | {"candidates": [list(range(5))] * 4000, "new": [[1.0, 0, 0, 0, 0]] * 4000})
    found = offrank.evaluate(table, TARGET, "uniform", "ips", interval="normal")["ips"]
    error = 5 * math.sqrt((1 - rate) / (4000 * 3999))  # one more reward at weight 5
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.high == pytest.approx(Z * error, rel=1e-9)
    (few,) = [one for one in found.warnings if one.code == "few-rewards"]
    assert few.severity == "serious"
    assert "that of a single one" in few.message


@pytest.mark.parametrize("expected", [0.5, 2.5])
def test_few_rewards_in_a_log_hide_no_truth(expected: float) -> None:
    """The coverage over Poisson numbers of weighted rewards: .39 and .92 where none had an interval of no width."""
    item, covered = np.arange(4000) % 5, 0.0
    rare, often = np.flatnonzero(item == 0), np.flatnonzero(item)
    for seen in range(12):
        clicks = np.isin(np.arange(4000), np.append(rare[:seen], often[: round(4 * expected)]))
        columns = {"slate": item[:, None].tolist(), "clicks": clicks[:, None].tolist()}
        table = pa.table(columns | {"candidates": [list(range(5))] * 4000, "new": [[1.0, 0, 0, 0, 0]] * 4000})
        found = offrank.evaluate(table, TARGET, "uniform", "ips")["ips"]
        chance = math.exp(-expected) * expected**seen / math.factorial(seen)
        covered += chance * (found.low <= expected / 800 <= found.high)
    assert covered > 0.95


def test_without_any_reward_nothing_tells_how_many_there_may_be() -> None:
    found = offrank.evaluate(log().set_column(2, "clicks", pa.array([[0.0]] * 5000)), TARGET, LOGGING, "ips")["ips"]
    assert (found.low, found.high) == (0.0, 0.0)
    assert "has no width" in found.warnings[0].message
