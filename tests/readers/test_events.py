"""Impressions and clicks that are other rows: two tables, a stream of kinds, User Behavior Insights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError, UsageError
from offrank.log.source import needs
from tests.readers.plain import contents, skipped

ROWS, ITEMS, SLOTS = 300, 5, 3


def world(text: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    slates = np.argsort(rng.random((ROWS, ITEMS)), axis=1)[:, :SLOTS]
    clicks = (rng.random((ROWS, SLOTS)) < 0.3).astype(int)
    names = np.array([f"doc {n}" for n in range(ITEMS)]) if text else np.arange(ITEMS)
    return {"slates": names[slates].tolist(), "clicks": clicks.tolist(), "items": names.tolist()}


def own(made: dict[str, Any]) -> pa.Table:
    return pa.table({"slate": made["slates"], "clicks": made["clicks"], "candidates": [made["items"]] * ROWS})


def shown_rows(made: dict[str, Any], name: str = "impression") -> list[dict[str, Any]]:
    return [
        {name: n, "item": item, "position": slate.index(item) + 1 if item in slate else None}
        for n, slate in enumerate(made["slates"])
        for item in made["items"]
    ]


def click_rows(made: dict[str, Any], name: str = "impression", item: str = "item") -> list[dict[str, Any]]:
    pairs = zip(made["slates"], made["clicks"], strict=True)
    return [
        {name: n, item: one}
        for n, (slate, clicks) in enumerate(pairs)
        for one, c in zip(slate, clicks, strict=True)
        if c
    ]


def value(log: Any, **how: Any) -> tuple[float, int]:
    found = offrank.evaluate(offrank.read_log(log, **how), "uniform", "uniform", "ips", cluster=None)["ips"]
    return found.value, found.n


@pytest.mark.parametrize("text", [False, True], ids=["whole numbers", "texts"])
def test_two_tables_are_joined(text: bool, tmp_path: Path) -> None:
    made = world(text)
    shown, clicks = pa.Table.from_pylist(shown_rows(made)), pa.Table.from_pylist(click_rows(made))
    expected = value(own(made))
    assert value([shown, clicks], format="events") == pytest.approx(expected, rel=1e-12)
    assert value([clicks, shown], format="events") == pytest.approx(expected, rel=1e-12)
    pq.write_table(shown, tmp_path / "shown.parquet", row_group_size=100)
    pq.write_table(clicks, tmp_path / "clicks.parquet")
    spelled = f"events(clicks='{tmp_path / 'clicks.parquet'}')"
    assert value(tmp_path / "shown.parquet", format=spelled) == pytest.approx(expected, rel=1e-12)


def test_a_stream_of_clicks_may_have_no_rows() -> None:
    lists = pa.table({"request": [1, 2], "slate": [["a", "b"], ["b", "a"]]})
    none = pa.table({"request": pa.array([], pa.int64()), "sku": pa.array([], pa.string())})
    assert value(
        [lists.to_reader, none.to_reader], format="events(impression=request, slate=slate, click_item=sku)"
    ) == (0.0, 2)


def test_a_used_stream_of_clicks_is_not_one_without_rows() -> None:
    lists, clicks = pa.table({"request": [1], "slate": [["a", "b"]]}), pa.table({"request": [1], "sku": ["a"]})
    used = clicks.to_reader()
    with pytest.raises(UsageError, match="has no rows when called again"):
        value([lists, lambda: used], format="events(impression=request, slate=slate, click_item=sku)")


def test_a_row_may_hold_the_whole_list() -> None:
    made = world()
    lists = pa.table({"request": range(ROWS), "shown": made["slates"], "candidates": [made["items"]] * ROWS})
    clicks = pa.Table.from_pylist(click_rows(made, "about", "sku"))
    spelled = "events(impression=request, slate=shown, click_impression=about, click_item=sku)"
    assert value([lists, clicks], format=spelled) == pytest.approx(value(own(made)), rel=1e-12)


def test_a_stream_of_kinds_counts_what_it_leaves_out() -> None:
    made = world()
    rows = [{"what": "view", **row} for row in shown_rows(made)]
    rows += [{"what": "click", **row, "position": None} for row in click_rows(made)]
    rows += [{"what": "click", "impression": 10_000, "item": 1, "position": None}] * 2
    again = click_rows(made)[0]
    rows += [{"what": "click", **again, "position": None}, {"what": "scroll", **again, "position": None}]
    rows = [rows[n] for n in np.random.default_rng(0).permutation(len(rows))]
    log = offrank.read_log(pa.Table.from_pylist(rows), format="events(kind=what, shown=view)")
    found = offrank.evaluate(log, "uniform", "uniform", "ips", cluster=None)
    assert found["ips"].value == pytest.approx(value(own(made))[0], rel=1e-12)
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 2, "click-repeated": 1}


def test_ids_of_other_types_are_compared_as_texts() -> None:
    made = world()
    clicks = [{"impression": str(row["impression"]), "item": str(row["item"])} for row in click_rows(made)]
    tables = [pa.Table.from_pylist(shown_rows(made)), pa.Table.from_pylist(clicks)]
    assert value(tables, format="events") == pytest.approx(value(own(made)), rel=1e-12)


@pytest.mark.parametrize("items", [[0, 1, 10**15], ["0", "1", "1000000000000000"]], ids=["whole numbers", "texts"])
def test_ids_that_are_fractions_where_some_are_missing_join_exactly(items: list[Any]) -> None:
    shown = {"impression": [1, 1, 1], "item": items, "position": [1, 2, 3]}
    clicks = {"impression": [1, 1, 1], "item": [np.nan, 1.0, 1e15]}
    log = offrank.read_log([pa.table(shown), pa.table(clicks)], format="events")
    assert [row["clicks"] for row in contents(log, needs("clicks"))] == [[0, 1, 1]]
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 1}


@pytest.mark.parametrize("items", [[0, 1], ["", "b"]], ids=["whole numbers", "texts"])
@pytest.mark.parametrize("lacks", ["impression", "item"])
def test_a_click_without_an_id_is_on_nothing(items: list[Any], lacks: str) -> None:
    shown = {"impression": items[:1] * 2, "item": items, "position": [1, 2]}
    clicks = {"impression": items[:1] * 2, "item": items} | {lacks: [None, shown[lacks][1]]}
    log = offrank.read_log([pa.table(shown), pa.table(clicks)], format="events")
    assert [row["clicks"] for row in contents(log, needs("clicks"))] == [[0, 1]]
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 1}


@pytest.mark.parametrize("odd", [2.0**53, -(2.0**53), 0.5, np.inf])
@pytest.mark.parametrize("name", ["impression", "sku"])
def test_ids_that_fractions_do_not_tell_apart_are_refused(odd: float, name: str, tmp_path: Path) -> None:
    lists = pa.table({"impression": [1, 2**53], "slate": [[1, 2**53 + 1], [2, 1]]})
    pq.write_table(pa.table({"impression": [1.0, 1.0], "sku": [1.0, 1.0]} | {name: [1, odd]}), tmp_path / "c.parquet")
    log = offrank.read_log([lists, tmp_path / "c.parquet"], format="events(slate=slate, click_item=sku)")
    with pytest.raises(RowError, match=rf"c.parquet, row 1 .*column '{name}': {odd} is a fraction, or so large"):
        contents(log, needs("clicks"))


def test_what_does_not_join_is_shown() -> None:
    made = world()
    clicks = pa.table({"impression": ["session-9"], "item": ["sku-1"]})
    log = offrank.read_log([pa.Table.from_pylist(shown_rows(made)), clicks], format="events")
    with pytest.raises(LogError, match=r"no click is on an item that was shown: .*\(0, 0\).*'session-9', 'sku-1'"):
        offrank.evaluate(log, "uniform", "uniform", "ips", cluster=None)


@pytest.mark.parametrize(
    ("spelled", "error", "words"),
    [
        ("events(kind=what)", UsageError, "which rows of 'what' are impressions"),
        ("events", UsageError, "two tables"),
        ("events(kind=what, shown=view, item=sku)", ColumnError, "no column 'sku'"),
    ],
)
def test_options_that_say_too_little(spelled: str, error: type[Exception], words: str) -> None:
    table = pa.Table.from_pylist([{"what": "view", **row} for row in shown_rows(world())])
    with pytest.raises(error, match=words):
        offrank.read_log(table, format=spelled)


def ubi(made: dict[str, Any], hits: str, exported: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Queries and events; exported: as hits of an index, with their documents in `_source`."""
    queries = [
        {"query_id": f"q{n}", "user_query": f"shoes {n % 7}", "client_id": f"c{n % 50}", hits: slate, "timestamp": n}
        for n, slate in enumerate(made["slates"])
    ]
    events = [
        {
            "action_name": "click",
            "query_id": f"q{row['impression']}",
            "client_id": "c",
            "event_attributes": {
                "object": {"object_id": row["item"], "object_id_field": "sku"},
                "position": {"ordinal": 1},
            },
        }
        for row in click_rows(made)
    ]
    events.append(
        {"action_name": "scroll", "query_id": "q0", "client_id": "c", "event_attributes": {"position": {"ordinal": 3}}}
    )
    if exported:
        return [{"_id": "1", "_source": one} for one in queries], [{"_id": "2", "_source": one} for one in events]
    return queries, events


@pytest.mark.parametrize("exported", [False, True], ids=["plain", "exported"])
@pytest.mark.parametrize("hits", ["query_response_hit_ids", "query_response_object_ids"])
def test_user_behavior_insights(hits: str, exported: bool, tmp_path: Path) -> None:
    made = world(text=True)
    for name, rows in zip(("ubi_queries", "ubi_events"), ubi(made, hits, exported), strict=True):
        (tmp_path / f"{name}.ndjson").write_text("\n".join(map(json.dumps, rows)))
    plain = offrank.read_log(own(made).drop_columns("candidates"))
    expected = offrank.evaluate(plain, "uniform", "uniform", "ips", cluster=None)
    for log in (offrank.read_log(tmp_path), offrank.read_log(tmp_path, format="ubi")):
        found = offrank.evaluate(log, "uniform", "uniform", "ips", cluster=None)
        assert found["ips"].value == pytest.approx(expected["ips"].value, rel=1e-12)
    seen = {column.name for column in offrank.inspect(tmp_path).columns}
    assert {"slate", "clicks", "query", "user", "query_id"} <= seen


def test_the_queries_of_insights_alone_name_both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    queries, events = ubi(world(text=True), "query_response_hit_ids", False)
    for name, rows in (("ubi_queries.ndjson", queries), ("ubi_events.ndjson", events)):
        Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = offrank.inspect("ubi_queries.ndjson")
    assert "but not the clicks, which are in its events" in found.why
    assert found.command == "offrank inspect ubi_queries.ndjson ubi_events.ndjson"
    assert offrank.inspect(found.command.split()[2:]).format == "ubi"


def test_insights_from_parquet(tmp_path: Path) -> None:
    made = world(text=True)
    for name, rows in zip(("ubi_queries", "ubi_events"), ubi(made, "query_response_hit_ids", False), strict=True):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    log = offrank.read_log([tmp_path / "ubi_events.parquet", tmp_path / "ubi_queries.parquet"], format="ubi")
    clicks = sum(batch.clicks.sum() for batch in log.select(needs("clicks")).batches(0))
    assert clicks == sum(map(sum, made["clicks"]))
