"""A control, known before the impression: the regression adjustment of an A/B test and of estimates (CUPED)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import RowError, UsageError
from tests.cli.commands import call
from tests.verbs.test_ab_test import ARMS, columns

ROWS, USERS = 1200, 150
LAW = "plackett_luce(weight)"


def logged() -> dict[str, Any]:
    """Rewards that a user's past rate explains in part; arms by row, rankings drawn at random."""
    rng = np.random.default_rng(8)
    user, weight = rng.integers(0, USERS, ROWS), 1 + rng.random((ROWS, 3))
    past = rng.gamma(2.0, size=USERS)[user] + 0.3 * rng.normal(size=ROWS)
    slate = np.argsort(-np.log(weight) - rng.gumbel(size=weight.shape), axis=1)[:, :2]
    reward = past + 0.7 * slate[:, 0] + rng.normal(size=ROWS)
    made = {"user": user, "past": past + 50.0, "reward": reward}
    return {**made, "slate": slate.tolist(), "candidates": [[0, 1, 2]] * ROWS, "weight": weight.tolist()}


def experiment(**more: Any) -> dict[str, Any]:
    """The log of an A/B test with a control that tells of the clicks."""
    made, rng = columns(ROWS), np.random.default_rng(5)
    control = np.array(made["clicks"]).sum(axis=1) + 0.5 * rng.normal(size=ROWS) + 20
    return {**made, "past": control.tolist(), **more}


def means(made: dict[str, Any], cluster: str | None = None) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """The adjusted difference of means; and reward, control, and whether B served, of each row."""
    [found] = compared(made, cluster=cluster).metadata.ab_test.compared
    return found, np.array(made["clicks"]).sum(axis=1), np.array(made["past"]), np.array(made["arm"]) == "B"


def compared(made: dict[str, Any], **how: Any) -> Any:
    return offrank.compare(pa.table(made), None, ARMS, **{"control": "past", "cluster": None, **how})


def test_the_difference_of_means_is_that_of_tea_tasting() -> None:
    found, y, x, b = means(experiment())
    slope = np.cov(y, x)[0, 1] / np.var(x, ddof=1)  # of both arms together
    arms = [y[some] - slope * (x[some] - x.mean()) for some in (b, ~b)]
    error = np.sqrt(sum(np.var(one, ddof=1) / len(one) for one in arms))
    assert found.means.value == pytest.approx(arms[0].mean() - arms[1].mean(), abs=1e-9)
    assert found.means.standard_error == pytest.approx(error, rel=1e-9)
    assert found.plain.value == pytest.approx(y[b].mean() - y[~b].mean(), abs=1e-12)
    assert found.means.standard_error < 0.9 * found.plain.standard_error


def test_by_users_the_slope_is_that_of_their_sums() -> None:
    made = experiment()
    found, y, x, b = means(made, cluster="user")
    of = np.unique(made["user"], return_inverse=True)[1]
    sums = [np.bincount(of, weights=one) for one in (y - y.mean(), x - x.mean())]
    slope = (sums[0] @ sums[1]) / (sums[1] @ sums[1])
    adjusted = y - slope * x
    assert found.means.value == pytest.approx(adjusted[b].mean() - adjusted[~b].mean(), abs=1e-9)


@pytest.mark.parametrize(("estimator", "normalised"), [("ips", False), ("snips", True)])
def test_an_estimate_is_adjusted_by_the_weighted_control(estimator: str, normalised: bool) -> None:
    made = logged()
    table, target = pa.table(made), "uniform"
    found = offrank.evaluate(table, target, LAW, estimator, cluster=None, control="past")[estimator]
    plain = offrank.evaluate(table, target, LAW, estimator, cluster=None)[estimator]
    weight, slate = np.array(made["weight"]), np.array(made["slate"])
    first, second = (np.take_along_axis(weight, slate[:, [slot]], axis=1)[:, 0] for slot in (0, 1))
    total = weight.sum(axis=1)
    w = 1 / 6 / (first / total * second / (total - first))
    x, y, n = made["past"], made["reward"], w.sum() if normalised else ROWS
    slope = np.cov(y, x)[0, 1] / np.var(x, ddof=1)
    assert found.value == pytest.approx(((w * y).sum() - slope * (w * (x - x.mean())).sum()) / n, rel=1e-9)
    # Chance decides who is in the log, too, which no control takes away: what it sharpens is the difference to the log.
    assert found.difference.standard_error < (0.75 if normalised else 0.95) * plain.difference.standard_error


def test_a_constant_and_a_unit_of_the_control_have_no_say() -> None:
    made = logged()
    found = [
        offrank.evaluate(pa.table({**made, "past": past}), "uniform", LAW, "ips", cluster=None, control="past")["ips"]
        for past in (made["past"], -7.0 * made["past"] + 1000)
    ]
    assert found[1].value == pytest.approx(found[0].value, rel=1e-9)
    assert found[1].standard_error == pytest.approx(found[0].standard_error, rel=1e-9)


@pytest.mark.parametrize("estimator", ["clip(ips, 2)", "logged"])
def test_weights_that_are_cut_off_are_left_as_they_are(estimator: str) -> None:
    table = pa.table(logged())
    one, other = (offrank.evaluate(table, "uniform", LAW, estimator, control=x)[estimator] for x in ("past", None))
    assert one.value == pytest.approx(other.value, rel=1e-12)


def test_a_control_that_tells_nothing_changes_nothing() -> None:
    made = experiment(past=[3.0] * ROWS)
    found, _, _, _ = means(made)
    assert found.means == found.plain


def test_days_merge(tmp_path: Path) -> None:
    made = logged()
    table, states = pa.table(made), [tmp_path / "0.state", tmp_path / "1.state"]
    for state, part in zip(states, (table.slice(0, 500), table.slice(500)), strict=True):
        pq.write_table(part, path := state.with_suffix(".parquet"))
        offrank.evaluate(str(path), "uniform", LAW, cluster=None, control="past", state=state)
    one, other = offrank.merge(states), offrank.evaluate(table, "uniform", LAW, cluster=None, control="past")
    assert one["snips"].value == pytest.approx(other["snips"].value, rel=1e-12)
    assert one["snips"].standard_error == pytest.approx(other["snips"].standard_error, rel=1e-9)


@pytest.mark.parametrize("name", ["clicks", "reward", "bought"])
def test_an_outcome_by_its_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"the control '{name}' is known only after"):
        compared(experiment(), control=name, columns={"reward": "bought"} if name == "bought" else None)


def test_the_reward_under_another_name_is_refused() -> None:
    made = experiment()
    with pytest.raises(UsageError, match="'past' is the reward, or"):
        compared({**made, "past": [2.0 * sum(one) + 1 for one in made["clicks"]]})


def test_an_outcome_that_follows_the_arm_gives_no_number() -> None:
    made = experiment()
    later = np.array(made["past"]) + 0.5 * (np.array(made["arm"]) == "B")
    for past, codes, trust in ((later, {"control-moved"}, "none"), (made["past"], set(), "sound")):
        found = compared({**made, "past": past})
        assert {one.code for one in found.about_log} & {"control-moved"} == codes
        assert found.comparisons[0].verdict.trust == trust


@pytest.mark.parametrize("value", [float("nan"), None, float("inf")])
def test_a_row_without_the_control_is_named(value: float | None) -> None:
    made = experiment()
    made["past"][17] = value
    with pytest.raises(RowError, match=r"row 17 .* column 'past': .* is not a finite number \[bad-number\]"):
        compared(made)


def test_the_command_says_what_the_control_saves(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [
        f"{row},{arm},{past},{item},{rank + 1},{click},{a},{b}"
        for row, (arm, past, slate, clicks, a_score, b_score) in enumerate(
            zip(*(experiment()[name] for name in ("arm", "past", "slate", "clicks", "a_score", "b_score")), strict=True)
        )
        for rank, (item, click) in enumerate(zip(slate, clicks, strict=True))
        for a, b in [(a_score[int(item)], b_score[int(item)])]
    ]
    path.write_text("\n".join(["impression,arm,past,item,position,click,a_score,b_score", *rows]))
    said = call("compare", str(path), "--logging", ARMS, "--cluster", "none", "--control", "past").output
    assert "difference of means with control" in said
