"""What a log is too short to show widens intervals: rare large rewards, and rare slates of the target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank

SIX = ["ips", "snips", "rips", "snrips", "ipm", "snipm"]
CODE = "heavy-rewards"


def log(reward: np.ndarray, column: str = "clicks") -> pa.Table:
    """One of the items 0 and 1 is shown in turn; `score` prefers 1."""
    rows = len(reward)
    return pa.table(
        {
            "candidates": [[0, 1]] * rows,
            "slate": [[row // 2 % 2] for row in range(rows)],
            column: reward[:, None].tolist() if column == "clicks" else reward,
            "score": [[1.0, 2.0]] * rows,
        }
    )


def asked(*estimators: str, target: str = "plackett_luce(score)") -> dict[str, Any]:
    return {"target": target, "logging": "uniform", "estimators": list(estimators)}


def lognormal(sigma: float, rows: int = 1000) -> np.ndarray:
    """As many quantiles, in an order that has nothing to do with the item."""
    from scipy.special import ndtri

    found = np.exp(sigma * ndtri((np.arange(rows) + 0.5) / rows))
    return found[np.random.default_rng(0).permutation(rows)]


def codes(found: Any) -> set[str]:
    return {one.code for one in found.warnings}


@pytest.mark.parametrize("column", ["clicks", "reward"])
@pytest.mark.parametrize(("sigma", "heavy"), [(0.5, False), (1.0, False), (3.0, True)])
def test_large_rewards_still_to_come_are_told(sigma: float, heavy: bool, column: str) -> None:
    names = SIX if column == "clicks" else ["ips", "snips"]
    result = offrank.evaluate(log(lognormal(sigma), column), **asked(*names))
    assert {name: CODE in codes(result[name]) for name in names} == dict.fromkeys(names, heavy)


def test_bounded_rewards_of_many_sizes_have_no_tail_under_weights() -> None:
    """Clicks worth 1, .5, .3 and .2 by rank: a few heavy weights above a body of small ones are not larger rewards."""
    rng = np.random.default_rng(0)
    slate = rng.permuted(np.tile(np.arange(4), (2_000, 1)), axis=1)
    clicks = (rng.random(slate.shape) < 0.3 / (1 + slate)) * [1.0, 0.5, 0.3, 0.2]
    rows = pa.table({"slate": [*slate], "clicks": [*clicks], "score": [*-slate.astype(float)]})
    for name in ("ips", "snips"):
        (found,) = offrank.evaluate(rows, **asked(name, target="epsilon(top(score), 0.5)")).estimates.values()
        assert CODE not in codes(found)
        assert found.high < 0.5  # it was 62


def test_rewards_without_a_tail_have_the_interval_of_the_bare_formula() -> None:
    """Clicks of 0 and 1, and one price for all of them: there is nothing larger to come."""
    clicks = (np.arange(1000) // 4 % 5 < 2).astype(float)
    one, priced = (offrank.evaluate(log(unit * clicks), **asked(*SIX)) for unit in (1.0, 7.0))
    for name in SIX:
        assert CODE not in codes(priced[name])
        assert [priced[name].low, priced[name].high] == pytest.approx([7 * one[name].low, 7 * one[name].high])


def test_only_the_upper_end_of_a_mean_moves_out() -> None:
    heavy = offrank.evaluate(log(lognormal(2.0)), **asked(*SIX))
    normal = offrank.evaluate(log(lognormal(2.0)), **asked(*SIX), interval="normal")
    for name in SIX:
        e, plain = heavy[name], normal[name]
        assert e.low == pytest.approx(max(plain.low, 0.0))
        assert e.high - e.value > 1.5 * (plain.high - plain.value)
        assert e.standard_error == pytest.approx(plain.standard_error)


def test_one_slot_normalised_by_itself_is_as_skewed_as_the_slate() -> None:
    """With one slot `snipm` is `snips`: to the same ends, now that what is normalised slot by slot counts as skewed."""
    clicks = (np.arange(1000) // 4 % 25 < 1).astype(float)
    result = offrank.evaluate(log(clicks), **asked("snips", "snipm", "snrips"))
    normal = offrank.evaluate(log(clicks), **asked("snipm"), interval="normal")["snipm"]
    ends = [result["snips"].low, result["snips"].high]
    for name in ("snipm", "snrips"):
        assert [result[name].low, result[name].high] == pytest.approx(ends, rel=1e-6)
    assert result["snipm"].high > normal.high + 0.05 * normal.standard_error


def rare(rows: int, shown: int, earned: float) -> pa.Table:
    """`old` prefers item 0, and `shown` rows have item 1; `new` prefers 1 in a tenth of the contexts."""
    other = np.zeros(rows, bool)
    other[:shown] = True
    new = np.where((np.arange(rows) % 10 == 9)[:, None], (1.0, 2.0), (2.0, 1.0))
    return pa.table(
        {
            "candidates": [[0, 1]] * rows,
            "slate": np.where(other, 1, 0)[:, None].tolist(),
            "clicks": (np.arange(rows) // 10 % 10 < 10 * earned).astype(float)[:, None].tolist(),
            "old": [[2.0, 1.0]] * rows,
            "new": new.tolist(),
        }
    )


def test_intervals_hold_what_rare_slates_of_the_target_may_earn() -> None:
    """A tenth of the target is never shown here: it may earn nothing, or twice as much as the rest."""
    result = offrank.evaluate(rare(2000, 0, 0.5), "top(new)", "epsilon(top(old), 0.002)", ["ips", "snips"])
    ips, snips = result["ips"], result["snips"]
    assert "hidden-mass" in codes(ips) & codes(snips)
    narrow = 1.96 * ips.standard_error
    assert ips.low == pytest.approx(ips.value - narrow, rel=0.02)
    assert ips.high == pytest.approx(ips.value + narrow + 2 * 0.1 / 0.9 * ips.value, rel=0.02)
    assert ips.low < 0.5 < ips.high
    narrow = 1.96 * snips.standard_error
    assert [snips.low, snips.high] == pytest.approx([0.9 * 0.5 - narrow, 1.1 * 0.5 + narrow], rel=0.02)
    # of the difference to the log the same share is not known, and of the relative one
    logged = result.metadata.logged.value
    assert ips.difference.high == pytest.approx(ips.high - logged, abs=0.02)
    assert result.verdict.relative.high > 0


def test_nothing_is_widened_where_the_log_shows_the_target() -> None:
    result = offrank.evaluate(rare(2000, 0, 0.5), "top(old)", "epsilon(top(old), 0.002)", ["ips"])
    e = result["ips"]
    assert "hidden-mass" not in codes(e)
    assert e.high - e.value == pytest.approx(1.96 * e.standard_error, rel=0.02)


def test_intervals_of_outcomes_end_at_zero() -> None:
    """Three of 400 rows earn something: means end at 0 and relative changes at -100 %, in every table."""
    reward = np.zeros(400)
    reward[[0, 2, 5]] = 1.0
    table = log(reward).append_column("arm", pa.array(np.repeat(["a", "b"], 200).tolist()))
    result = offrank.evaluate(table, **asked(*SIX, "logged"), by="arm", interval="normal")
    for found in [result, *result.groups.values()]:
        for name in (*SIX, "logged"):
            assert getattr(found[name], "low", 0.0) >= 0  # a group without clicks may refuse
    assert result["ips"].low == 0.0
    assert min(row["low"] for row in result.to_dict()["estimates"]) == 0.0
    assert all(row.click_rate.low >= 0 for row in result.metadata.ranks)
    assert result.metadata.logged.low >= 0
    assert result["ips"].difference.low < 0


def test_losses_have_intervals_below_zero() -> None:
    reward = np.zeros(400)
    reward[[0, 2, 5]] = 1.0
    reward[300] = -1e-6
    table = log(reward, "reward").append_column("arm", pa.array(np.repeat(["a", "b"], 200).tolist()))
    result = offrank.evaluate(table, **asked("ips", "snips"), by="arm", interval="normal")
    assert result["ips"].low < 0
    assert result.groups["a"]["ips"].low < 0  # the log knows losses, if this group has none


def test_a_bernstein_interval_written_out() -> None:
    """Maurer and Pontil (2009), two-sided: sqrt(2 ln(4 / .05) variance / n) + 7 range ln(4 / .05) / (3 (n - 1)).

    500 of 1,000 rows are clicked, so the variance is 250 / 999; item 1 has weight 2 in half of the rows, so 2 clicks.
    """
    clicks = (np.arange(1000) % 2 < 1).astype(float)
    result = offrank.evaluate(log(clicks), **asked("ips", "logged", target="top(score)"), interval="bernstein")
    level = np.log(4 / 0.05)
    half = np.sqrt(2 * level * 250 / 999 / 1000) + 7 * level / (3 * 999)
    assert [result["logged"].low, result["logged"].high] == pytest.approx([0.5 - half, 0.5 + half], rel=1e-12)
    variance = (250 * 4 - 1000 * 0.5**2) / 999
    half = np.sqrt(2 * level * variance / 1000) + 7 * 2 * level / (3 * 999)
    assert [result["ips"].low, result["ips"].high] == pytest.approx([0.5 - half, 0.5 + half], rel=1e-12)
