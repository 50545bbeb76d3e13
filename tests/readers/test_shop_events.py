"""Google Analytics 4 and Snowplow: samples of our own making, after the published schemas."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError
from offrank.log.source import needs
from tests.readers.plain import skipped
from tests.readers.test_event_roles import read
from tests.readers.test_events import own, world

Row = dict[str, Any]
_ACTION = "unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1"
_PRODUCT = "contexts_com_snowplowanalytics_snowplow_ecommerce_product_1"
START = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)


def ga4(kind: str, who: int, second: int, slate: list[Row], home: str = "home") -> Row:
    items = [{"item_id": one["id"], "item_list_id": home, "item_list_index": one["at"]} for one in slate]
    session = {"key": "ga_session_id", "value": {"string_value": None, "int_value": who + 7}}
    page = {"key": "page_title", "value": {"string_value": "Shoes", "int_value": None}}
    return {
        "event_name": {"view": "view_item_list", "click": "select_item"}.get(kind, kind),
        "event_timestamp": 1_714_500_000_000_000 + second * 1_000_000,
        "user_pseudo_id": f"u{who}",
        "event_params": [page, session],
        "items": items,
    }


def snowplow(kind: str, who: int, second: int, slate: list[Row], home: str = "home") -> Row:
    return {
        "derived_tstamp": (START + dt.timedelta(seconds=second)).isoformat().replace("+00:00", "Z"),
        "domain_userid": f"u{who}",
        "domain_sessionid": f"s{who}",
        _ACTION: {"type": {"view": "list_view", "click": "list_click"}.get(kind, kind), "name": home},
        _PRODUCT: [{"id": one["id"], "position": one["at"], "price": 9.5} for one in slate],
    }


def segment(kind: str, who: int, second: int, slate: list[Row], home: str = "home") -> Row:
    """A track of Segment: a click names its product, and no list."""
    items = [{"product_id": one["id"], "position": one["at"] + 1, "price": 9.5} for one in slate]
    seen = {"view": {"list_id": home, "products": items}, "click": items[0] if items else {}}
    return {
        "type": "track",
        "event": {"view": "Product List Viewed", "click": "Product Clicked"}.get(kind, kind),
        "anonymousId": f"u{who}",
        "timestamp": (START + dt.timedelta(seconds=second)).isoformat().replace("+00:00", "Z"),
        "properties": seen.get(kind, {"path": "/"}),
    }


def events(made: dict[str, Any], event: Callable[..., Row]) -> list[Row]:
    """The same users see lists again and again; the items of a view are not in order."""
    rows, rng = [], np.random.default_rng(2)
    for n, (slate, clicks) in enumerate(zip(made["slates"], made["clicks"], strict=True)):
        items = [{"id": item, "at": place} for place, item in enumerate(slate)]
        rows.append(event("view", n % 20, 10 * n, [items[j] for j in rng.permutation(len(items))]))
        rows.append(event("page_view", n % 20, 10 * n + 1, []))
        shown = zip(items, clicks, strict=True)
        rows += [event("click", n % 20, 10 * n + 2 + item["at"], [item]) for item, click in shown if click]
    return [rows[j] for j in rng.permutation(len(rows))]


@pytest.mark.parametrize("event", [ga4, snowplow, segment])
def test_a_click_is_on_the_last_view_of_its_item(event: Callable[..., Row], tmp_path: Path) -> None:
    made = world(text=True)
    rows = events(made, event)
    (tmp_path / "log.ndjson").write_text("\n".join(map(json.dumps, rows)))
    expected = read(own(made).drop_columns("candidates"))
    for source in (tmp_path / "log.ndjson", pa.Table.from_pylist(rows)):
        log = offrank.read_log(source)
        assert log.description.said == f"read as {event.__name__}"
        assert read(source) == read(source, event.__name__) == expected
        assert skipped(log, needs("clicks")) == {}
    found = offrank.inspect(tmp_path / "log.ndjson")
    told = {"slate", "clicks", "user"} | ({"session"} if event is not segment else set())
    assert told <= {column.use for column in found.columns}


@pytest.mark.parametrize("event", [ga4, snowplow])
def test_clicks_elsewhere_are_counted(event: Callable[..., Row]) -> None:
    made = world(text=True)
    item = [{"id": made["slates"][0][0], "at": 0}]
    rows = events(made, event)
    rows += [event("click", 0, 10**6, item, home="other"), event("click", 99, 10**6, item)]
    rows += [event("click", 0, -1, item)]  # before it was viewed
    log = offrank.read_log(pa.Table.from_pylist(rows), format=event.__name__)
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 3}


def test_a_click_of_segment_is_on_the_last_list_with_its_product() -> None:
    """u1 sees p in two lists, clicks it thrice, and clicks q, which only u2 saw, and r before it was shown."""
    seen = [(1, 10, "pr"), (1, 20, "p"), (2, 15, "q")]
    rows = [segment("view", who, at, [{"id": one, "at": n} for n, one in enumerate(ids)]) for who, at, ids in seen]
    clicked = [(12, "p"), (21, "p"), (22, "p"), (30, "q"), (9, "r")]
    rows += [segment("click", 1, at, [{"id": one, "at": 0}]) for at, one in clicked]
    log = offrank.read_log(pa.Table.from_pylist(rows))
    found = pa.Table.from_batches([piece.data for piece in log.table.pieces(0, ("slate", "clicks"))])
    assert found.to_pydict() == {"slate": [["p", "r"], ["p"], ["q"]], "clicks": [[1, 0], [1], [0]]}
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 2, "click-repeated": 1}


def test_an_export_writes_numbers_as_text(tmp_path: Path) -> None:
    made = world(text=True)
    rows = events(made, ga4)
    for row in rows:
        row["event_timestamp"] = str(row["event_timestamp"])
        row["items"] = [one | {"item_list_index": str(one["item_list_index"])} for one in row["items"]]
    (tmp_path / "log.json").write_text("\n".join(map(json.dumps, rows)))
    assert read(tmp_path / "log.json") == read(own(made).drop_columns("candidates"))


def test_other_tables_are_refused() -> None:
    with pytest.raises(ColumnError, match="has no column 'user_pseudo_id'"):
        offrank.read_log(pa.table({"event_name": ["view_item_list"], "items": [[1]]}), format="ga4")


@pytest.mark.parametrize("event", [ga4, snowplow])
def test_an_item_that_is_a_list_is_told(event: Callable[..., Row]) -> None:
    rows = [event("view", 1, second, [{"id": [7, 8], "at": 1}]) for second in range(3)]
    with pytest.raises(ColumnError, match=r"contains list<.*>, not texts"):
        list(offrank.read_log(rows, format=event.__name__).batches(0))
