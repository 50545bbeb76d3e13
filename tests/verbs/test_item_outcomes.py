"""Outcomes with a number per item: weighed item by item, as if they stood in the place of the clicks."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, UsageError
from tests.verbs.test_ab_test import ARMS
from tests.verbs.test_ab_test import columns as experiment
from tests.verbs.test_outcomes import LAW, TARGET, evaluated, logged, weights

ESTIMATORS = [
    *(
        "ipm",
        "snipm(normaliser=pooled)",
        "rips",
        "interpol(window=1)",
        "sninterpol(window=1)",
        "interpol(window=slope)",
    ),
    *("clip(snipm, 2)", "controlled(ipm)", "ips", "pbm", "snipm", "snrips", "snips", "logged"),
]
CURVE = [1, 0.7]


def spending(seed: int = 5, **how: int) -> dict[str, Any]:
    """The log of outcomes, and what was spent on each item."""
    made, rng = logged(**how), np.random.default_rng(seed)
    each = rng.exponential(1.0, np.array(made["slate"]).shape) * np.array(made["clicks"])
    return {**made, "spent": each.tolist()}


@pytest.mark.parametrize("how", [{}, {"cluster": "user"}, {"interval": "bootstrap", "replicates": 30}, {"by": "day"}])
def test_numbers_of_items_are_decided_as_if_they_were_the_clicks(how: dict[str, Any]) -> None:
    made = spending()
    made["day"] = [f"2026-09-0{1 + row * 3 // 900}" for row in range(900)]
    names = ESTIMATORS[-5:] if how else ESTIMATORS
    asked = {"estimators": names, "examination": CURVE, **how}
    both = evaluated(made, outcomes=["spent", "clicks"], **asked)
    alone = evaluated(made, columns={"clicks": "spent"}, **asked)
    assert set(alone.estimates.given) == {(TARGET, name) for name in names}
    assert both.outcomes["spent"].estimates == alone.estimates
    assert both.outcomes["spent"].verdict == alone.verdict
    assert both.outcomes["spent"].groups == alone.groups
    assert both.outcomes["clicks"].estimates == both.estimates == evaluated(made, **asked).estimates
    assert both.verdict == both.outcomes["clicks"].verdict


@pytest.mark.parametrize("estimator", ["snips", "snipm", "snipm(normaliser=pooled)", "snrips", "sninterpol(window=1)"])
def test_in_a_small_world_each_mean_and_their_ratio_are_the_truth(estimator: str) -> None:
    """Each slate comes once, by how often it is drawn; an item's rates depend on it and its rank alone."""
    rates, prices = np.array([[0.5, 0.2, 0.4], [0.3, 0.1, 0.2]]), np.array([[3.0, 7.0, 1.0], [2.0, 9.0, 4.0]])
    slates = np.array([*itertools.permutations(range(3), 2)])
    weight, ranks = np.array([1.0, 2.0, 4.0]), np.arange(2)
    first, second = weight[slates].T
    drawn = first / 7 * second / (7 - first)
    clicks, spent = rates[ranks, slates], (rates * prices)[ranks, slates]
    made = {"slate": slates.tolist(), "candidates": [[0, 1, 2]] * 6, "weight": [weight.tolist()] * 6}
    made |= {"clicks": clicks.tolist(), "spent": spent.tolist(), "inclusion": drawn.min() / drawn}
    found = evaluated(made, estimators=[estimator], outcomes=["spent", "spent / clicks"], examination=[1, 1]).outcomes
    if estimator.startswith("sninterpol"):  # moves clicks between ranks: unbiased if ranks do not matter
        level = {**made, "clicks": rates[0][slates].tolist(), "spent": (rates * prices)[0][slates].tolist()}
        found = evaluated(
            level, estimators=[estimator], outcomes=["spent", "spent / clicks"], examination=[1, 1]
        ).outcomes
        clicks, spent = rates[0][slates], (rates * prices)[0][slates]
    earned, clicked = spent.sum(axis=1).mean(), clicks.sum(axis=1).mean()
    assert found["spent"][estimator].value == pytest.approx(earned, rel=1e-9)
    assert found["spent / clicks"][estimator].value == pytest.approx(earned / clicked, rel=1e-9)


@pytest.mark.parametrize("estimator", ["snipm", "snipm(normaliser=pooled)"])
def test_a_ratio_divides_two_means_that_are_weighed_item_by_item(estimator: str) -> None:
    made = spending()
    weight, slate, clicks = (np.array(made[name]) for name in ("weight", "slate", "clicks"))
    total = weight.sum(axis=1, keepdims=True)
    above = weight / total
    below = sum(above[:, [one]] * weight / (total - weight[:, [one]]) * (np.arange(3) != one) for one in range(3))
    law = np.stack([above, below], axis=1)
    w = 1 / 3 / np.take_along_axis(law, slate[:, :, None], axis=2)[:, :, 0]
    mass = w.mean(axis=0) if estimator == "snipm" else w.mean()
    by_slot = [(w * np.array(each) / mass).mean(axis=0) for each in (made["spent"], clicks)]
    top, bottom = (one.sum() for one in by_slot)
    found = evaluated(made, estimators=estimator, outcomes="spent / clicks", interval="normal").outcomes[
        "spent / clicks"
    ]
    assert found[estimator].value == pytest.approx(top / bottom, rel=1e-12)
    gained, clicked = (
        (w * each / mass - one * w / mass + one).sum(axis=1)
        for each, one in zip((made["spent"], clicks), by_slot, strict=True)
    )
    if estimator != "snipm":
        gained, clicked = ((w * each / mass).sum(axis=1) for each in (made["spent"], clicks))
    error = np.std((gained - top / bottom * clicked) / bottom, ddof=1) / np.sqrt(len(w))
    assert found[estimator].standard_error == pytest.approx(error, rel=1e-9)


def test_a_ratio_with_a_number_per_impression_is_weighed_by_whole_slates_alone() -> None:
    made = spending()
    found = evaluated(made, estimators=["snipm", "snips"], outcomes="spent / orders").outcomes["spent / orders"]
    assert list(found.estimates.given) == [(TARGET, "snips")]
    w = weights(made)
    expected = (w * np.sum(made["spent"], axis=1)).sum() / (w * made["orders"]).sum()
    assert found["snips"].value == pytest.approx(expected, rel=1e-12)


def test_order_parts_and_workers_do_not_matter(tmp_path: Path) -> None:
    made, asked = spending(), {"estimators": ["snipm", "ipm", "snips"], "outcomes": ["spent", "spent / clicks"]}
    whole = evaluated(made, **asked).outcomes
    rows = np.random.default_rng(1).permutation(900)
    for number, some in enumerate(np.array_split(rows, 3)):
        pq.write_table(pa.table(made).take(some), tmp_path / f"{number}.parquet")
    for pool in (ThreadPoolExecutor, partial(ProcessPoolExecutor, mp_context=get_context("spawn"))):
        with pool(2) as workers:
            log = str(tmp_path / "*.parquet")
            found = offrank.evaluate(log, TARGET, LAW, cluster=None, executor=workers, **asked).outcomes
        for name in whole:
            for key in whole[name].estimates.given:
                one, other = (each[name][key[1]] for each in (whole, found))
                assert one.value == pytest.approx(other.value, rel=1e-12)
                assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)


def test_days_merge_with_numbers_of_items(tmp_path: Path) -> None:
    made, asked = spending(), {"estimators": ["snipm"], "outcomes": ["spent", "rate=spent / clicks"]}
    asked["guardrails"] = ["spent > -90%", "rate > -90%"]
    for day in range(2):
        part = {name: values[450 * day : 450 * day + 450] for name, values in made.items()}
        pq.write_table(pa.table(part), tmp_path / f"{day}.parquet")
    files = sorted(map(str, tmp_path.glob("*.parquet")))
    for file in files:
        offrank.compare(file, TARGET, LAW, state=f"{file}.state", **asked)
    merged = offrank.merge([f"{file}.state" for file in files])
    whole = offrank.compare(files, TARGET, LAW, state=tmp_path / "whole.state", **asked)
    for name in ("spent", "rate"):
        mine, theirs = (one.outcomes[name].comparisons[0].verdict for one in (merged, whole))
        assert mine.estimator == theirs.estimator == "snipm"
        assert (mine.difference.value, mine.difference.low) == pytest.approx(
            (theirs.difference.value, theirs.difference.low), rel=1e-9
        )
    assert [one.state for one in merged.guardrails] == [one.state for one in whole.guardrails] == ["holds"] * 2
    made["spent"] = np.sum(made["spent"], axis=1)
    pq.write_table(pa.table(made), tmp_path / "sums.parquet")
    offrank.compare(
        str(tmp_path / "sums.parquet"),
        TARGET,
        LAW,
        state=tmp_path / "sums.state",
        **{**asked, "estimators": ["snips", "snipm"]},
    )
    with pytest.raises(offrank.errors.StateError):
        offrank.merge([files[0] + ".state", tmp_path / "sums.state"])


def test_texts_and_rows_of_items_have_numbers_of_items_too(tmp_path: Path) -> None:
    made, asked = spending(), {"estimators": ["snipm", "snips"], "outcomes": ["spent", "orders", "spent / clicks"]}
    expected = evaluated(made, **asked).outcomes
    made["impression"] = [*range(900)]
    lines = ["slate,candidates,weight,clicks,spent,orders"]
    cells = zip(*(made[name] for name in lines[0].split(",")), strict=True)
    lines += [",".join(f'"{each}"' if isinstance(each, list) else str(each) for each in row) for row in cells]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    rows = []
    for row in range(900):
        shown = made["slate"][row]
        for item in range(3):
            there = shown.index(item) if item in shown else None
            each = {"impression": row, "item": item, "position": None if there is None else there + 1}
            each |= {"weight": made["weight"][row][item], "orders": int(made["orders"][row])}
            rows.append(
                each
                | {
                    "click": 0 if there is None else made["clicks"][row][there],
                    "spent": 0.0 if there is None else made["spent"][row][there],
                }
            )
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "long.parquet")
    for file in ("log.csv", "long.parquet"):
        found = offrank.evaluate(str(tmp_path / file), TARGET, LAW, cluster=None, **asked).outcomes
        for name in expected:
            assert found[name].estimates.given.keys() == expected[name].estimates.given.keys(), (file, name)
            for key in expected[name].estimates.given:
                assert found[name][key[1]].value == pytest.approx(expected[name][key[1]].value, rel=1e-12)


def test_an_ab_test_decides_numbers_of_items_by_items() -> None:
    made, rng = experiment(1200), np.random.default_rng(2)
    clicks = np.array(made["clicks"])
    made["spent"] = (clicks * rng.exponential(2.0, clicks.shape)).tolist()
    found = offrank.compare(pa.table(made), None, ARMS, outcomes=["spent", "spent / clicks"], cluster=None)
    alone = offrank.compare(pa.table(made), None, ARMS, columns={"clicks": "spent"}, cluster=None)
    assert {key[1] for key in found.outcomes["spent"].estimates.given} == {"snips", "snrips", "snipm"}
    for key, one in found.outcomes["spent"].estimates.given.items():
        assert one.value == pytest.approx(alone.estimates.given[key].value, rel=1e-12)
    [both] = found.outcomes["spent / clicks"].metadata.ab_test.compared
    means = []
    for arm in ("B", "A"):
        some = np.array(made["arm"]) == arm
        means.append(np.sum(np.array(made["spent"])[some]) / clicks[some].sum())
    assert both.means.value == pytest.approx(means[0] - means[1], abs=1e-12)


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ({"outcomes": "spent / orders", "estimators": "snipm"}, UsageError, "weighs the outcome `spent / orders`"),
        ({"outcomes": "spent / clicks", "estimators": "ipm"}, UsageError, "divides by its weights: snips"),
        ({"outcomes": "spent", "estimators": "weights(dctr)"}, UsageError, "weighs the outcome `spent`"),
        ({"outcomes": "lost", "estimators": "ipm"}, LogError, "row 3.*'lost': is below 0 for an item"),
        ({"outcomes": "clicks / lost", "estimators": "snipm"}, LogError, "row 3.*'lost': is below 0 for an item"),
        ({"control": "spent"}, ColumnError, "'spent' holds list<.*>, not numbers"),
    ],
)
def test_what_cannot_be_asked_of_items_is_told(how: dict[str, Any], kind: type[Exception], said: str) -> None:
    made = spending(rows=200)
    made["lost"] = [[0.0, -1.0] if row == 3 else [0.0, 1.0] for row in range(200)]
    with pytest.raises(kind, match=said):
        evaluated(made, **how)
    assert np.isfinite(evaluated(made, outcomes="lost", estimators="ips").outcomes["lost"]["ips"].value)
