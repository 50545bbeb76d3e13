"""A score that counts the clicks of the log that judges it is recognised; one that was counted elsewhere is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank

pytestmark = pytest.mark.turns(3, "checks/score_leakage.py", "findings/clicks.py")

ITEMS, QUERIES, ROWS = 30, 40, 4_000
MERIT = np.random.default_rng(0).beta(2, 6, (QUERIES, ITEMS))
"""Chance of a click on each item for each query, at the top; half of it below."""
FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "rate": lambda k, n: k / np.maximum(n, 1),
    "single precision": lambda k, n: (k / np.maximum(n, 1)).astype(np.float32),
    "clicks": lambda k, n: k + 0.0 * n,
    "with a prior": lambda k, n: (k + 2) / (n + 40),
    "per cent, rounded": lambda k, n: np.round(100 * k / np.maximum(n, 1), 2),
    "logarithm": lambda k, n: np.log((k + 0.5) / np.maximum(n, 1)),
    "least rows": lambda k, n: np.where(n < np.quantile(n, 0.05), 0.25, k / np.maximum(n, 1)),
}


def day(seed: int, rows: int = ROWS) -> dict[str, Any]:
    """Two of six candidates, drawn uniformly."""
    rng = np.random.default_rng([7, seed])
    query = rng.integers(0, QUERIES, rows)
    candidates = np.argsort(rng.random((rows, ITEMS)), axis=1)[:, :6]
    slate = candidates[:, :2]  # any two: the candidates are in random order
    clicks = (rng.random((rows, 2)) < MERIT[query[:, None], slate] * [1.0, 0.5]).astype(float)
    return {"query": query, "candidates": np.sort(candidates, axis=1), "slate": slate, "clicks": clicks}


def counts(of: dict[str, Any], by_query: bool) -> tuple[Any, Any]:
    """[queries, items] clicks and impressions."""
    shape = (QUERIES, ITEMS)
    n, k = np.zeros(shape), np.zeros(shape)
    at = (np.broadcast_to(of["query"][:, None] * by_query, of["slate"].shape), of["slate"])
    np.add.at(n, at, 1)
    np.add.at(k, at, of["clicks"])
    return (k, n) if by_query else (np.tile(k[0], (QUERIES, 1)), np.tile(n[0], (QUERIES, 1)))


def table(of: dict[str, Any], score: Any, query: bool = True) -> pa.Table:
    """A log with a score of each candidate, from [queries, items]."""
    columns = {name: values.tolist() for name, values in of.items() if query or name != "query"}
    scores = np.asarray(score)[of["query"][:, None], of["candidates"]]
    kind = pa.list_(pa.float32() if scores.dtype == np.float32 else pa.float64())
    return pa.table({**columns, "score": pa.array(list(scores), kind)})


def said(log: Any, target: Any = "top(score)", estimators: Any = ("ips",), **options: Any) -> list[offrank.Estimate]:
    """The estimates that are said to be of their own log."""
    found = offrank.evaluate(log, target, "uniform", list(estimators), **options).estimates.given.values()
    return [one for one in found if any(caution.code == "same-log" for caution in one.warnings)]


@pytest.mark.parametrize(("form", "by_query"), [(form, by_query) for by_query in (False, True) for form in FORMS])
def test_counted_on_this_log_and_on_another_day(form: str, by_query: bool) -> None:
    today, yesterday = day(1), day(2)
    assert said(table(today, FORMS[form](*counts(today, by_query))))
    assert not said(table(today, FORMS[form](*counts(yesterday, by_query))))


def test_noise_on_a_rate_of_this_log_does_not_hide_it_and_one_of_another_day_is_not_suspected() -> None:
    today, other = day(0), day(1)
    rng = np.random.default_rng(3)
    here, there = (FORMS["rate"](*counts(one, True)) + rng.normal(0, 0.05, MERIT.shape) for one in (today, other))
    assert said(table(today, here))
    assert not said(table(today, there))
    assert not said(table(today, MERIT + rng.normal(0, 0.05, MERIT.shape)))


def search(seed: int, users: str) -> dict[str, Any]:
    """Four of eight documents for 25 queries. users: look at a rank by chance, or as long as nothing was clicked."""
    rng = np.random.default_rng([11, seed])
    query = rng.integers(0, 25, 6_000)
    slate = np.argsort(rng.random((6_000, 8)), axis=1)[:, :4]
    clicks = rng.random((6_000, 4)) < MERIT[query[:, None], slate] * ([1.0, 0.6, 0.4, 0.3] if users == "ranks" else 1)
    if users == "cascade":
        clicks &= clicks.cumsum(axis=1) == 1
    candidates = np.broadcast_to(np.arange(8), (6_000, 8))
    return {"query": query, "candidates": candidates, "slate": slate, "clicks": clicks.astype(float)}


def relevances(of: dict[str, Any], model: str) -> Any:
    """[queries, items] the relevances of a click model that a day has taught."""
    log = pa.table({name: values.tolist() for name, values in of.items()})
    kind = {"pbm": offrank.clicks.PBM, "ubm": offrank.clicks.UBM, "dbn": offrank.clicks.DBN}[model]
    found = np.zeros((QUERIES, ITEMS))
    for batch in kind().fit(log).predictions(offrank.read_log(log)):
        query, item = (np.array(batch[name].to_pylist()).astype(int) for name in ("query", "item"))
        found[query, item] = batch["relevance"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("users", "model"), [("ranks", "pbm"), ("ranks", "ubm"), ("cascade", "pbm"), ("cascade", "ubm"), ("cascade", "dbn")]
)
def test_relevances_learnt_from_this_log_and_from_another_day(users: str, model: str) -> None:
    today, yesterday = search(1, users), search(2, users)
    assert said(table(today, relevances(today, model)))
    assert said(table(today, np.log(relevances(today, model) + 1e-9)))
    assert not said(table(today, relevances(yesterday, model)))
    assert not said(table(today, MERIT))


@pytest.mark.parametrize("kind", ["one click a slate", "never or nearly always", "one click of two", "amounts"])
def test_the_truth_is_not_suspected_where_clicks_have_little_noise_of_their_own(kind: str) -> None:
    """As many rows of each query as of any; and clicks that follow from others, from the item, or are amounts."""
    rng, slots = np.random.default_rng(5), 2
    merit = np.where(rng.random((QUERIES, ITEMS)) < 0.5, 0.02, 0.97) if kind.startswith("never") else MERIT
    query, items = np.arange(ROWS * 2) % QUERIES, 2 if kind == "one click of two" else 6
    slate = np.argsort(rng.random((len(query), items)), axis=1)[:, :slots]
    chance = merit[query[:, None], slate]
    clicks = (rng.random(chance.shape) < chance).astype(float)
    if "one" in kind.split():
        clicks = np.eye(slots)[(np.log(chance) + rng.gumbel(size=chance.shape)).argmax(axis=1)]
    if kind == "amounts":
        clicks *= np.exp(rng.normal(size=clicks.shape))
    of = {"query": query, "candidates": np.broadcast_to(np.arange(items), (len(query), items)), "slate": slate}
    assert not said(table({**of, "clicks": clicks}, merit), "plackett_luce(score)")


def test_the_answer_is_refused_and_says_why() -> None:
    today = day(1)
    log = table(today, FORMS["rate"](*counts(today, False)))
    found = offrank.evaluate(log, "top(score)", "uniform").verdict
    assert (found.trust, found.decision, found.reasons[0].code) == ("none", "unknown", "same-log")
    [caution] = [one for one in said(log)[0].warnings if one.code == "same-log"]
    assert caution.severity == "serious"
    assert "`score`" in caution.message
    assert "another day" in caution.remedy
    fair = offrank.evaluate(table(today, MERIT), "top(score)", "uniform").verdict
    assert fair.usable


def test_what_is_as_good_as_the_truth_and_what_has_few_values_is_not_suspected() -> None:
    today = day(1)
    rng = np.random.default_rng(3)
    stars = np.round(5 * MERIT) / 5
    for score in (MERIT, np.tile(MERIT.mean(axis=0), (QUERIES, 1)), stars, rng.random(MERIT.shape), 0 * MERIT + 0.5):
        assert not said(table(today, score))
        assert not said(table(today, score, query=False))


@pytest.mark.parametrize("target", ["plackett_luce(score)", "epsilon(top(score), 0.1)", offrank.Top("score")])
def test_whatever_reads_the_score(target: Any) -> None:
    today = day(1)
    assert said(table(today, FORMS["rate"](*counts(today, False))), target)


def test_only_the_target_that_reads_it() -> None:
    today = day(1)
    log = table(today, FORMS["rate"](*counts(today, False))).append_column(
        "other", table(today, np.random.default_rng(0).random(MERIT.shape))["score"]
    )
    found = offrank.evaluate(log, {"own": "top(score)", "other": "top(other)"}, "uniform", "snips")
    codes = {name: [one.code for one in estimate.warnings] for (name, _), estimate in found.estimates.given.items()}
    assert "same-log" in codes["own"]
    assert "same-log" not in codes["other"]


def test_a_score_that_the_log_does_not_need_is_read_by_nobody() -> None:
    today = day(1)
    log = table(today, FORMS["rate"](*counts(today, False)))
    assert not said(log, "uniform")


def test_predictions_of_a_column_are_recognised_too() -> None:
    today, yesterday = day(1), day(2)
    for of, own in ((today, True), (yesterday, False)):
        log = table(today, FORMS["rate"](*counts(of, False)))
        for estimator in ("direct(column=score)", "dr(column=score)"):
            assert bool(said(log, "uniform", [estimator])) is own


def test_a_reward_of_one_item_is_as_good_as_a_click() -> None:
    today, yesterday = day(1), day(2)
    one = {**today, "slate": today["slate"][:, :1], "clicks": today["clicks"][:, :1]}
    for of, own in ((one, True), (yesterday, False)):
        log = table(one, FORMS["rate"](*counts(of, False))).drop_columns(["clicks"])
        assert bool(said(log.append_column("reward", pa.array(one["clicks"][:, 0])))) is own


def test_files_parts_and_orders_change_nothing(tmp_path: Path) -> None:
    today = day(1)
    log = table(today, FORMS["rate"](*counts(today, False)))
    turned = log.take(np.random.default_rng(0).permutation(ROWS))
    pq.write_table(turned.slice(0, 1_000), tmp_path / "a.parquet", row_group_size=300)
    pq.write_table(turned.slice(1_000), tmp_path / "b.parquet")
    assert said(str(tmp_path / "*.parquet"))
    for name in "ab":
        options = {"state": tmp_path / f"{name}.state"}
        assert not said(str(tmp_path / f"{name}.parquet"), **options)  # a part is not what was counted
    merged = offrank.merge([tmp_path / "a.state", tmp_path / "b.state"])
    assert merged.verdict.reasons[0].code == "same-log"


def test_few_items_tell_nothing() -> None:
    today = day(1)
    kept = {name: values[:40] for name, values in today.items()}  # too few different numbers of clicks
    assert not said(table(kept, FORMS["rate"](*counts(kept, False))))
