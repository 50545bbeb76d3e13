"""Whether rewards are clicks is decided row by row: equal totals say nothing."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank

ROWS = 2000
ASKED: dict[str, Any] = {"target": "top(new)", "logging": "uniform", "estimators": ["ips", "snips", "ipm", "snipm"]}
CODE = "clicks-not-reward"


def log(clicked: np.ndarray, reward: np.ndarray | None, **more: Any) -> pa.Table:
    """Two candidates, of which rows show 0 and 1 in turn; `new` prefers 0."""
    rows = len(clicked)
    columns: dict[str, Any] = {
        "candidates": [[0, 1]] * rows,
        "slate": [[row % 2] for row in range(rows)],
        "clicks": clicked[:, None].tolist(),
        "new": [[2.0, 1.0]] * rows,
    }
    if reward is not None:
        columns["reward"] = reward
    return pa.table({**columns, **more})


def items(rows: int = ROWS) -> np.ndarray:
    return np.arange(rows) % 2


def clicks(rows: int = ROWS) -> np.ndarray:
    """Six of ten rows with either item."""
    return (np.arange(rows) // 2 % 10 < 6).astype(float)


def codes(result: Any, estimator: str) -> set[str]:
    return {one.code for one in result[estimator].warnings}


def test_rewards_of_the_same_total_on_other_rows_are_no_clicks() -> None:
    moved = np.roll(clicks(), 2)
    result = offrank.evaluate(log(clicks(), moved), **ASKED)
    assert moved.sum() == clicks().sum()
    assert CODE in codes(result, "ipm")
    assert CODE in codes(result, "snipm")
    assert CODE not in codes(result, "ips")
    assert result.verdict.estimator in ("ips", "snips")
    assert result.metadata.unit == "per impression"
    assert result.metadata.logged is None


def test_clicks_are_not_told_for_a_reward_that_the_target_never_earns() -> None:
    clicked, reward = clicks() * (items() == 0), clicks() * (items() == 1)
    result = offrank.evaluate(log(clicked, reward), **ASKED)
    assert clicked.sum() == reward.sum()
    assert result["ips"].value == 0
    assert result["ipm"].value == 0.6
    assert CODE in codes(result, "ipm")
    assert result.verdict.estimator in (None, "ips", "snips") or CODE in {one.code for one in result.verdict.reasons}


@pytest.mark.parametrize("rows", [1, 2])
def test_one_row_is_enough(rows: int) -> None:
    reward = clicks()
    reward[:rows] = (0.25, 1.75)[:rows]
    assert CODE in codes(offrank.evaluate(log(clicks(), reward), **ASKED), "ipm")


def test_rewards_that_are_clicks_or_missing_are_no_other_outcome() -> None:
    for reward in (clicks(), None):
        result = offrank.evaluate(log(clicks(), reward), **ASKED)
        assert CODE not in codes(result, "ipm")
        assert result.metadata.unit == "clicks per impression"
        assert result["ipm"].value == pytest.approx(0.6)


def test_rewards_alone_are_not_called_clicks() -> None:
    without = log(clicks(), clicks()).drop_columns(["clicks"])
    result = offrank.evaluate(without, **{**ASKED, "estimators": ["ips", "snips"]})
    assert result.metadata.unit == "per impression"
    assert result["ips"].value == pytest.approx(0.6)
    nothing = without.set_column(without.column_names.index("reward"), "reward", pa.array(np.zeros(ROWS)))
    assert offrank.evaluate(nothing, **{**ASKED, "estimators": ["ips"]}).metadata.unit == "per impression"


@pytest.mark.parametrize(("away", "said"), [(0.9e-6, False), (1.1e-6, True)])
def test_rounding_is_no_difference(away: float, said: bool) -> None:
    result = offrank.evaluate(log(0.3 * clicks(), 0.3 * clicks() * (1 + away)), **ASKED)
    assert (CODE in codes(result, "ipm")) == said


def test_the_order_of_a_sum_is_no_difference() -> None:
    """.1 + .2 + .3 is .6 and a last digit more, or not, by the order."""
    rows = 400
    table = pa.table(
        {
            "candidates": [[0, 1, 2]] * rows,
            "slate": [[[0, 1, 2], [1, 2, 0], [2, 0, 1]][row % 3] for row in range(rows)],
            "clicks": [[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]][row % 2] for row in range(rows)],
            "reward": [0.1 + (0.2 + 0.3), 0.1 + 0.2 + 0.3] * (rows // 2),
        }
    )
    asked = {"target": "uniform", "logging": "uniform", "estimators": ["ips", "ipm"]}
    assert CODE not in codes(offrank.evaluate(table, **asked), "ipm")


def test_each_group_knows_its_own_outcome() -> None:
    clicked = clicks()
    reward, group = clicked.copy(), np.repeat(["same", "moved", "none"], [800, 600, 600])
    reward[800:1400] = np.roll(clicked[800:1400], 2)
    reward[1400:] = 0
    result = offrank.evaluate(log(clicked, reward, arm=group.tolist()), **ASKED, by="arm")
    assert reward[800:1400].sum() == clicked[800:1400].sum()
    assert {name: CODE in codes(result.groups[name], "ipm") for name in ("same", "moved", "none")} == {
        "same": False,
        "moved": True,
        "none": True,
    }
    assert CODE in codes(result, "ipm")


def test_states_know_it_too(tmp_path: Path) -> None:
    """Each day's totals differ, those of both days do not; and the other way around."""
    clicked = clicks(400)
    first, second = clicked.copy(), clicked.copy()
    first[:2], second[:2] = 0.0, 2.0
    paths = []
    for day, reward in (("first", first), ("second", second)):
        table = log(clicked, reward, query=[f"{day}{row}" for row in range(400)])
        offrank.evaluate(table, **ASKED, state=tmp_path / f"{day}.state")
        paths.append(tmp_path / f"{day}.state")
    assert first.sum() + second.sum() == 2 * clicked.sum()
    assert CODE in codes(offrank.merge(paths), "ipm")


FIRST = "In clicks, not in the log's reward: "
RICH: dict[str, Any] = {"target": "top(new)", "logging": "uniform"}


def earning() -> pa.Table:
    """Item 0, which `new` shows, is clicked by 9 of 10 and earns 0.2 on average; item 1 by 3, and earns 0.8."""
    rate = np.where(items() == 0, 9, 3)
    place = np.arange(ROWS) // 2 % 10
    return log((place < rate).astype(float), np.where(items() == 0, place < 2, 4.0 * (place < 2)))


@pytest.mark.parametrize("asked", [["ipm"], ["ipm", "snipm"], ["ips", "ipm"]])
def test_an_answer_in_clicks_says_so_first(asked: list[str], tmp_path: Path) -> None:
    result = offrank.evaluate(earning(), estimators=asked, **RICH)
    in_clicks = "ips" not in asked
    answer = str(result).split("\n\n")[1]
    result.save_html(tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text())
    assert result.verdict.decision == ("better" if in_clicks else "worse")
    assert answer.startswith(f"{FIRST}Better" if in_clicks else "Worse")
    assert str(result.verdict).startswith(f"{FIRST}better" if in_clicks else "worse")
    assert result.to_dict()["verdicts"]["top(new)"]["outcome"] == ("clicks" if in_clicks else "reward")
    assert (FIRST in page) is in_clicks


def test_a_comparison_in_clicks_says_so_first() -> None:
    result = offrank.compare(earning(), estimators="ipm", baseline="logged", **RICH)
    winner, said = str(result).split("\n\n")[1:3]
    assert winner.startswith(f"{FIRST}Winner: top(new)")
    assert said.startswith(f"{FIRST}Better")
    assert result.to_dict()["comparisons"][0]["outcome"] == "clicks"


def test_clicks_that_are_the_reward_need_no_word() -> None:
    for reward in (None, clicks()):
        result = offrank.evaluate(log(clicks(), reward), estimators="ipm", **RICH)
        assert FIRST not in str(result)
        assert result.verdict.outcome == "reward"
