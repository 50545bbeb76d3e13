"""Outcomes beside the reward, ratios of two of them, and guardrails."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, UsageError
from offrank.findings.gate import Guarded, Guardrail
from tests.cli.commands import call
from tests.verbs.test_ab_test import ARMS
from tests.verbs.test_ab_test import columns as experiment

ROWS, LAW, TARGET = 900, "plackett_luce(weight)", "uniform"


def logged(rows: int = ROWS, seed: int = 4) -> dict[str, Any]:
    """Rankings drawn at random, their clicks, and what was ordered and paid, by 90 users."""
    rng = np.random.default_rng(seed)
    weight = 1 + rng.random((rows, 3))
    slate = np.argsort(-np.log(weight) - rng.gumbel(size=weight.shape), axis=1)[:, :2]
    clicks = (rng.random((rows, 2)) < (0.2 + 0.2 * slate) * [1.0, 0.7]).astype(int)
    orders = rng.binomial(clicks.sum(axis=1), 0.6)
    made = {"slate": slate.tolist(), "candidates": [[0, 1, 2]] * rows, "weight": weight.tolist()}
    paid = orders * rng.uniform(5, 15, rows)
    return {**made, "clicks": clicks.tolist(), "orders": orders, "paid": paid, "user": rng.integers(0, 90, rows)}


def weights(made: dict[str, Any]) -> np.ndarray:
    """The weight of each row for a uniform target, of Plackett-Luce's law written out."""
    weight, slate = np.array(made["weight"]), np.array(made["slate"])
    first, second = (np.take_along_axis(weight, slate[:, [slot]], axis=1)[:, 0] for slot in (0, 1))
    total = weight.sum(axis=1)
    return np.asarray(1 / 6 / (first / total * second / (total - first)))


def evaluated(made: dict[str, Any], **how: Any) -> Any:
    return offrank.evaluate(pa.table(made), TARGET, LAW, **{"estimators": ["ips", "snips"], "cluster": None, **how})


@pytest.mark.parametrize("cluster", [None, "user"])
def test_another_column_is_decided_as_if_it_were_the_reward(cluster: str | None) -> None:
    made = logged()
    both = evaluated(made, outcomes="paid", cluster=cluster)
    alone = evaluated(made, columns={"reward": "paid"}, cluster=cluster)
    assert both.outcomes["paid"].estimates == alone.estimates
    assert both.outcomes["paid"].verdict == alone.verdict
    assert both.outcomes["paid"].at(0.8).verdict == alone.at(0.8).verdict


def test_numbers_of_items_count_as_their_sum() -> None:
    made = logged()
    rng = np.random.default_rng(5)
    each = rng.exponential(1.0, np.array(made["slate"]).shape) * np.array(made["clicks"])
    whole = made | {"spent": each.tolist(), "total": each.sum(axis=1), "first": each[:, 0]}
    found = evaluated(whole, outcomes=["spent", "total", "spent / clicks", "total / clicks"]).outcomes
    assert found["spent"]["snips"].value == pytest.approx(found["total"]["snips"].value, rel=1e-12)
    assert found["spent / clicks"].verdict.decision == found["total / clicks"].verdict.decision
    log = offrank.read_log(pa.table(whole), top_k=1)
    cut = offrank.evaluate(log, TARGET, LAW, ["snips", "logged"], cluster=None, outcomes=["spent", "first"]).outcomes
    assert cut["spent"]["logged"].value == pytest.approx(each[:, 0].mean(), rel=1e-12)
    assert cut["spent"]["snips"].value == pytest.approx(cut["first"]["snips"].value, rel=1e-12)
    for broken in (each[:, :-1], np.full(each.shape, np.nan)):
        with pytest.raises(offrank.errors.LogError, match=r"row 0.*'spent'"):
            evaluated(made | {"spent": broken.tolist()}, outcomes="spent")


@pytest.mark.parametrize("interval", ["studentised", "bootstrap"])
def test_groups_of_an_outcome_are_those_of_that_reward(interval: str) -> None:
    made = logged()
    made |= {"day": [f"2026-09-0{1 + row * 3 // ROWS}" for row in range(ROWS)]}
    how = {"by": "day", "interval": interval, "replicates": 50}
    found = evaluated(made, outcomes=["paid", "orders / clicks"], **how)
    alone, plain = evaluated(made, columns={"reward": "paid"}, **how), evaluated(made, **how)
    assert found.outcomes["paid"].groups == alone.groups
    assert found.outcomes["paid"].cumulative == alone.cumulative
    assert found.groups == plain.groups
    made = {name: values[: ROWS // 3] for name, values in made.items()}
    first = evaluated(made, outcomes="orders / clicks").outcomes["orders / clicks"]["snips"]
    assert found.outcomes["orders / clicks"].groups["2026-09-01"]["snips"].value == pytest.approx(
        first.value, rel=1e-12
    )
    assert {row["group"] for row in found.to_dict()["outcomes"]["paid"]["estimates"]} == {None, *found.groups}


def test_the_reward_is_decided_as_if_nothing_stood_beside_it() -> None:
    made = logged()
    one, other = evaluated(made), evaluated(made, outcomes=["paid", "orders / clicks"], guardrails="paid > -1%")
    assert other.estimates == one.estimates
    assert other.verdict == one.verdict
    assert other.metadata.diagnoses == one.metadata.diagnoses


@pytest.mark.parametrize("cluster", [None, "user"])
def test_a_ratio_divides_two_weighted_means_and_its_error_is_by_the_delta_method(cluster: str | None) -> None:
    made = logged()
    found = evaluated(made, outcomes={"rate": "orders / clicks"}, cluster=cluster, interval="normal").outcomes["rate"]
    w, o, c = weights(made), made["orders"], np.array(made["clicks"]).sum(axis=1)
    ratio, before = (w * o).sum() / (w * c).sum(), o.sum() / c.sum()
    assert list(found.estimates.given) == [(TARGET, "snips")]
    assert found["snips"].value == pytest.approx(ratio, rel=1e-12)
    assert found.verdict.logged.value == pytest.approx(before, rel=1e-12)
    moves = w * (o - ratio * c) / (w * c).mean() - (o - before * c) / c.mean()
    of = made["user"] if cluster else np.arange(ROWS)
    summed = np.bincount(of, weights=moves)
    units = len(summed)
    error = np.sqrt((summed**2).sum() * units / (units - 1)) / ROWS
    assert found.verdict.difference.value == pytest.approx(ratio - before, rel=1e-9)
    assert found.verdict.difference.standard_error == pytest.approx(error, rel=0.02 if cluster else 1e-9)


def test_the_weights_of_a_ratio_are_tested_as_those_of_any_outcome() -> None:
    made = logged()
    found = evaluated(made, outcomes="orders / clicks")
    assert found.outcomes["orders / clicks"]["snips"].mean_weight == found["snips"].mean_weight
    wrong = {**made, "weight": (np.array(made["weight"]) ** 4).tolist()}
    assert evaluated(wrong, outcomes="orders / clicks").outcomes["orders / clicks"].verdict.trust == "none"


def test_an_ab_test_of_a_ratio_has_the_error_of_the_delta_method() -> None:
    made, rng = experiment(1200), np.random.default_rng(2)
    clicks = np.array(made["clicks"]).sum(axis=1)
    made["orders"] = rng.binomial(clicks.astype(int), 0.5)
    both = offrank.compare(pa.table(made), None, ARMS, outcomes="orders / clicks", cluster=None)
    [found] = both.outcomes["orders / clicks"].metadata.ab_test.compared
    value, variance = [], 0.0
    for arm in ("B", "A"):
        some = np.array(made["arm"]) == arm
        o, c = made["orders"][some], clicks[some]
        covariance, ratio = np.cov(o, c), o.mean() / c.mean()
        value.append(ratio)
        variance += (
            (covariance[0, 0] - 2 * ratio * covariance[0, 1] + ratio**2 * covariance[1, 1]) / c.mean() ** 2 / some.sum()
        )
    assert found.means.value == pytest.approx(value[0] - value[1], abs=1e-12)
    assert found.means.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_a_guardrail_is_judged_by_both_ends_of_its_interval() -> None:
    made = logged(4000)
    change = evaluated(made, outcomes="paid").outcomes["paid"].verdict.relative
    low, high = 100 * change.low, 100 * change.high
    assert low < high - 0.2
    rails = {
        f"paid > {low - 1:.2f}%": "holds",
        f"paid > {low + 0.1:.2f}%": "not shown",
        f"paid > {high + 1:.2f}%": "broken",
    }
    rails |= {
        f"paid < {high + 1:.2f}%": "holds",
        f"paid < {high - 0.1:.2f}%": "not shown",
        f"paid < {low - 1:.2f}%": "broken",
    }
    for rail, state in rails.items():
        [one] = evaluated(made, guardrails=rail).guardrails
        assert (one.state, one.passes) == (state, state == "holds"), rail


def test_a_bound_in_units_is_held_against_the_difference() -> None:
    made = logged(4000)
    away = evaluated(made, outcomes="paid").outcomes["paid"].verdict.difference
    [one] = evaluated(made, guardrails=f"paid > {away.low - 0.01:.4f} units").guardrails
    assert (one.state, one.change) == ("holds", away)


def test_several_guardrails_hold_together() -> None:
    made = logged()
    rails = ["paid > -50%", "orders > -50%", "orders / clicks > -50%"]
    found = evaluated(made, guardrails=rails)
    assert [one.guardrail.outcome for one in found.guardrails] == ["paid", "orders", "orders / clicks"]
    assert [one.change for one in found.guardrails] == [
        found.outcomes[name].at(1 - 0.05 / 3).verdict.relative for name in found.outcomes
    ]


def test_a_guardrail_vetoes_a_ranking_that_is_better() -> None:
    made = logged(4000)
    rare = np.array(made["weight"]).argmin(axis=1) == np.array(made["slate"])[:, 0]
    made["late"] = 1.0 + 9 * rare  # what is seldom shown is slow
    better = evaluated(made, columns={"reward": "orders"}, guardrails="late < 1%")
    assert better.meets("not-worse", "90%") is False
    assert evaluated(made, columns={"reward": "orders"}).meets("not-worse", "90%")
    assert evaluated(made, columns={"reward": "orders"}, guardrails="late < 90%").meets("not-worse", "90%")


def test_days_merge_with_their_outcomes(tmp_path: Path) -> None:
    made, files = logged(), []
    for day, start in enumerate((0, 450)):
        part = {name: values[start : start + 450] for name, values in made.items()}
        pq.write_table(pa.table(part), files.append(tmp_path / f"{day}.parquet") or files[-1])
    asked = {"estimators": ["snips"], "outcomes": ["paid", "rate=orders / clicks"], "guardrails": ["paid > -10%"]}
    for at, file in enumerate(files):
        offrank.compare(str(file), TARGET, LAW, state=tmp_path / f"{at}.state", **asked)
    merged = offrank.merge(str(tmp_path / "*.state"))
    whole = offrank.compare([*map(str, files)], TARGET, LAW, state=tmp_path / "whole.state", **asked)
    assert list(merged.outcomes) == ["paid", "rate"]
    for name in merged.outcomes:
        mine, theirs = (one.outcomes[name].comparisons[0].verdict.difference for one in (merged, whole))
        assert mine.value == pytest.approx(theirs.value, rel=1e-12)
        assert mine.low == pytest.approx(theirs.low, rel=1e-9)
    assert [one.state for one in merged.guardrails] == [one.state for one in whole.guardrails]


@pytest.mark.parametrize("divisor", ["zeros", "around 0"])
def test_a_ratio_by_a_mean_that_may_be_0_is_unknown(divisor: str) -> None:
    rng = np.random.default_rng(0)
    made = {**logged(), "by": np.zeros(ROWS) if divisor == "zeros" else rng.normal(size=ROWS)}
    found = evaluated(made, outcomes="orders / by", guardrails="orders / by > -5%")
    assert found.outcomes["orders / by"].verdict.trust == "none"
    assert "not clearly above 0" in str(found.outcomes["orders / by"].estimates.refused[TARGET, "snips"])
    assert [one.state for one in found.guardrails] == ["not shown"]
    assert found.verdict == evaluated(made).verdict


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ({"outcomes": "nope"}, ColumnError, "no column 'nope'"),
        ({"outcomes": "a / b / c"}, UsageError, "'a / b / c' is no outcome"),
        ({"outcomes": ["x=paid", "x=orders"]}, UsageError, "two outcomes are called 'x'"),
        ({"guardrails": "paid"}, UsageError, "'paid' is no guardrail"),
        ({"guardrails": "paid > -1"}, UsageError, "has no unit"),
        ({"guardrails": "paid > much%"}, UsageError, "is no guardrail"),
        ({"outcomes": "paid", "estimators": "ipm"}, UsageError, "weighs the outcome `paid`"),
        ({"outcomes": "orders / clicks", "estimators": "ips"}, UsageError, "divides by its weights: snips"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_sentence(how: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said.replace("(", r"\(")):
        evaluated(logged(60), **how)


def test_the_command_line_decides_and_vetoes(tmp_path: Path) -> None:
    pq.write_table(pa.table(logged(4000)), log := tmp_path / "log.parquet")
    json_file = tmp_path / "result.json"
    given = [
        "evaluate",
        log,
        "--target",
        TARGET,
        "--logging",
        LAW,
        "--outcome",
        "rate=orders / clicks",
        "--json",
        json_file,
    ]
    found = call(*given, "--guardrail", "paid > 50%", "--require", "not-worse", "--margin", "90%")
    assert found.exit_code == 3
    assert "Broken: the guardrail paid > 50%" in " ".join(found.stdout.split())
    assert "the guardrail 'paid > 50%' is 'broken' of uniform" in found.stderr
    told = json.loads(json_file.read_text(encoding="utf-8"))
    assert list(told["outcomes"]) == ["rate", "paid"]
    assert told["guardrails"][0]["state"] == "broken"


def test_order_and_company_of_outcomes_do_not_matter() -> None:
    made = logged()
    every = [
        evaluated(made, outcomes=list(order)).outcomes["paid"]["snips"]
        for order in itertools.permutations(["paid", "orders", "clicks"])
    ]
    assert all(one == every[0] for one in every)


@pytest.mark.parametrize(("trust", "state", "passes"), [("sound", "holds", True), ("with care", "holds", False)])
def test_a_guardrail_passes_with_sound_trust_alone(trust: Any, state: str, passes: bool) -> None:
    verdict = evaluated(logged(), outcomes="paid").outcomes["paid"].verdict
    found = Guarded.of(Guardrail.of("paid > -90%"), "uniform", replace(verdict, trust=trust))
    assert (found.state, found.passes) == (state, passes)


def test_a_guardrail_on_nothing_that_can_be_relied_on_is_not_shown() -> None:
    verdict = evaluated(logged(), outcomes="paid").outcomes["paid"].verdict
    found = Guarded.of(Guardrail.of("paid > -90%"), "uniform", replace(verdict, trust="none"))
    assert (found.state, found.passes, found.change) == ("not shown", False, None)


def test_what_stands_against_the_ranking_itself_is_not_said_again_of_its_guardrails() -> None:
    made = logged()
    wrong = {**made, "weight": (np.array(made["weight"]) ** 4).tolist()}
    text = str(evaluated(wrong, guardrails="paid > -1%"))
    reason = evaluated(wrong).verdict.reasons[0].code
    assert "no number of it is to be used" in " ".join(text.split())
    assert text.count(f"- {reason}") == 1
