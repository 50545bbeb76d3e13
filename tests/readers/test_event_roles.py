"""Impressions and clicks that are other rows, recognised by their shape: none of these tables has a name of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, OffrankError
from offrank.log.source import needs
from offrank.readers.roles.events import kinds_of
from tests.readers.plain import contents, skipped
from tests.readers.test_events import ROWS, click_rows, own, shown_rows, world

CLICKS = needs("clicks")


def read(log: Any, how: Any = None) -> list[tuple[list[int], list[float]]]:
    """The slates with their clicks, whatever their order."""
    rows = contents(offrank.read_log(log, format=how), CLICKS)
    return sorted((row["slate"], row["clicks"]) for row in rows)


def views(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"request_id": f"r{row['impression']}", "sku": row["item"], "slot": row["position"], "ts": row["impression"]}
        for row in shown_rows(made)
    ]


def taps(made: dict[str, Any], request: str = "request_id", sku: str = "sku") -> list[dict[str, Any]]:
    return [
        {request: f"r{row['impression']}", sku: row["item"], "ts": row["impression"] + 3} for row in click_rows(made)
    ]


def shuffled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rows[n] for n in np.random.default_rng(0).permutation(len(rows))]


def stream(made: dict[str, Any], kinds: tuple[str, str] = ("product_viewed", "product_clicked")) -> pa.Table:
    rows = [{"what": kinds[0], **row} for row in views(made)]
    rows += [{"what": kinds[1], **row, "slot": None} for row in taps(made)]
    rows += [{"what": "purchase", **row, "slot": None} for row in taps(made)[:9]]
    return pa.Table.from_pylist(shuffled(rows))


def same_by(spelled: str, source: Any, made: dict[str, Any]) -> None:
    """The source is read by what it is recognised as, which its spelling reproduces, in every verb."""
    log = offrank.read_log(source)
    assert log.description.said == f"read as {spelled}"
    expected = read(own(made))
    assert read(source) == expected
    assert read(source, spelled) == expected
    assert offrank.inspect(source).read_as == log.description.said


@pytest.mark.parametrize(
    "kinds",
    [("product_viewed", "product_clicked"), ("IMPRESSION", "CLICK"), ("show", "click"), ("serp_view", "doc_click")],
)
def test_a_stream_of_kinds(kinds: tuple[str, str]) -> None:
    made = world(text=True)
    clicked = "" if kinds[1] == "click" else f"clicked={kinds[1]}, "
    said = f"kind=what, shown={kinds[0]}, {clicked}impression=request_id, item=sku, position=slot, time=ts"
    same_by(f"events({said})", stream(made, kinds), made)


def test_a_stream_of_our_own_names_is_no_log_without_clicks() -> None:
    made = world(text=True)
    rows = [{"event": "impression", **row} for row in shown_rows(made)]
    rows += [{"event": "click", **row, "position": None} for row in click_rows(made)]
    same_by("events(kind=event, shown=impression)", pa.Table.from_pylist(rows), made)


@pytest.mark.parametrize("turned", [False, True])
def test_two_tables(turned: bool) -> None:
    made = world(text=True)
    both = [pa.Table.from_pylist(views(made)), pa.Table.from_pylist(taps(made, "about", "product"))]
    said = "impression=request_id, item=sku, position=slot, click_impression=about, click_item=product, time=ts"
    same_by(f"events({said})", both[::-1] if turned else both, made)


def test_a_folder_of_two_kinds_of_files(tmp_path: Path) -> None:
    made = world(text=True)
    shown, clicks = shown_rows(made), pa.Table.from_pylist(click_rows(made))
    for number, rows in enumerate((shown[:700], shown[700:])):
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"a{number}.parquet")
    pq.write_table(clicks, tmp_path / "clicks.parquet")
    same_by("events", tmp_path, made)


def test_two_csv_files(tmp_path: Path) -> None:
    made = world(text=True)
    for name, rows in (("a", views(made)), ("b", taps(made))):
        pa.csv.write_csv(pa.Table.from_pylist(rows), tmp_path / f"{name}.csv")
    same_by("events(impression=request_id, item=sku, position=slot, time=ts)", tmp_path, made)


def test_an_impression_is_a_row_of_nested_items(tmp_path: Path) -> None:
    made, rng = world(text=True), np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for n, (slate, clicks) in enumerate(zip(made["slates"], made["clicks"], strict=True)):
        items = [{"id": item, "pos": place} for place, item in enumerate(slate)]
        rows.append({"event": "impression", "rid": f"r{n}", "items": [items[j] for j in rng.permutation(len(items))]})
        pairs = zip(slate, clicks, strict=True)
        rows += [{"event": "click", "rid": f"r{n}", "target": item} for item, click in pairs if click]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    log = tmp_path / "log.jsonl"
    said = "kind=event, shown=impression, impression=rid, slate='items.id', position='items.pos', click_item=target"
    assert offrank.read_log(log).description.said == f"read as events({said})"
    assert read(log) == read(log, f"events({said})") == read(own(made).drop_columns("candidates"))


def test_clicks_before_the_impression_are_counted() -> None:
    made = world(text=True)
    clicks = taps(made)
    late = {(row["request_id"], row["sku"]) for row in clicks[:5]}
    clicks = [row | {"ts": -1} if (row["request_id"], row["sku"]) in late else row for row in clicks]
    clicks.append(clicks[9] | {"ts": -1})  # beside one in time: a repeat
    both = [pa.Table.from_pylist(views(made)), pa.Table.from_pylist(clicks)]
    log = offrank.read_log(both)
    assert log.description.said.endswith("time=ts)")
    assert skipped(log, CLICKS) == {"click-before-impression": 5, "click-repeated": 1}
    assert sum(sum(clicks) for _, clicks in read(both)) == sum(map(sum, made["clicks"])) - 5


@pytest.mark.parametrize("form", ["2024-05-01T10:00:{:02d}", "2024-05-01 10:00:{:02d}Z"])
def test_times_are_written_in_several_ways(form: str) -> None:
    made = world(text=True)
    shown = [row | {"ts": form.format(10)} for row in views(made)]
    clicks = [row | {"ts": form.format(9 if n == 0 else 10)} for n, row in enumerate(taps(made))]
    log = offrank.read_log([pa.Table.from_pylist(shown), pa.Table.from_pylist(clicks)])
    assert skipped(log, CLICKS) == {"click-before-impression": 1}


def test_two_tables_that_do_not_join_show_their_ids() -> None:
    shown = pa.Table.from_pylist(views(world(text=True)))
    log = offrank.read_log([shown, pa.table({"request_id": ["x-9"], "sku": ["sku-1"]})])
    with pytest.raises(LogError, match=r"no click is on an item that was shown: .*'r0', 'doc 0'.*'x-9', 'sku-1'"):
        offrank.evaluate(log, "uniform", "uniform", "ips", cluster=None)


def test_what_is_no_pair_of_impressions_and_clicks_is_not_taken_for_one(tmp_path: Path) -> None:
    made = world(text=True)
    shown = pa.Table.from_pylist(views(made))
    items = pa.table({"sku": made["items"], "price": [float(n) for n in range(len(made["items"]))]})
    with pytest.raises(OffrankError):
        offrank.read_log([shown, items])
    shop = stream(made).filter(pa.compute.field("what") == "product_viewed")
    with pytest.raises(OffrankError, match="clicked"):
        offrank.read_log(shop)
    for name in "ab":
        pq.write_table(own(made), tmp_path / f"{name}.parquet")
    assert len(read(tmp_path)) == 2 * ROWS


def test_blocks_of_one_kind_alone(tmp_path: Path) -> None:
    """Row groups without an impression, or without a click, are read past."""
    made = world()
    rows = [{"what": "click", **row, "slot": None} for row in taps(made)]
    rows += [{"what": "impression", **row} for row in views(made)]
    rows += [{"what": "scroll", **row} for row in views(made)[:40]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet", row_group_size=20)
    assert read(tmp_path / "log.parquet") == read(own(made))


@pytest.mark.parametrize("shown", ["recommendations_shown", "items_served", "carousel_viewed"])
def test_kinds_may_name_what_was_shown_in_the_plural(shown: str) -> None:
    rows = pa.table({"event": [shown, "item_clicked", "scrolled"]})
    assert kinds_of(rows) == {"kind": "event", "shown": shown, "clicked": "item_clicked"}
    assert kinds_of(pa.table({"event": ["page_scrolled", "item_clicked"]})) is None


def test_columns_that_are_called_the_same_join_though_others_do_by_chance() -> None:
    """The only click whose item is also the number of an impression was on that item there, as if turned around."""
    shown = pa.table({"impression": [1, 1, 1, 2], "item": [70, 80, 1, 90], "position": [3, 1, 2, 1]})
    clicks = pa.table({"impression": [1, 1, 2, 1, 2], "item": [60, 80, 90, 1, 91]})
    read = contents(offrank.read_log((shown, clicks)), needs("clicks"))
    assert [row["clicks"] for row in read] == [[1, 1, 0], [1]]


def test_a_kind_of_clicks_that_no_row_has_is_an_error() -> None:
    said = "events(kind=what, shown=serp_view, impression=request_id, item=sku, position=slot)"
    with pytest.raises(LogError, match=r"no row has 'click' in 'what'\n.*'doc_click'"):
        read(stream(world(text=True), ("serp_view", "doc_click")), said)


def test_of_several_kinds_that_may_be_impressions_none_is_taken() -> None:
    assert kinds_of(pa.table({"what": ["serp_view", "page_view", "doc_click"] * 9})) is None


def test_clicks_in_the_second_of_an_impression_join_by_its_id() -> None:
    """Times may all be distinct, and half of the clicks come in the same second."""
    rng, rows = np.random.default_rng(3), []
    for number in range(400):
        docs = [f"d{one}" for one in rng.permutation(6)[:3]]
        rows.append({"type": "serp_view", "t": 60 * number, "serp": f"S{number}", "docs": docs, "doc": None})
        at = int(rng.integers(3))
        rows.append({"type": "doc_click", "t": 60 * number + at, "serp": f"S{number}", "docs": None, "doc": docs[at]})
    log = offrank.read_log(pa.Table.from_pylist(rows))
    said = "kind=type, shown=serp_view, clicked=doc_click, impression=serp, slate=docs, click_item=doc"
    assert log.description.format == f"events({said})"
