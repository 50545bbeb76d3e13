"""The same log as systems record it: User Behavior Insights, Google Analytics, Snowplow, Yandex's sessions."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cases import LogCase, Unwritable
from .strangers import Tables, clicks_of, lists_of, with_strays, without_roles

_START = 1_700_000_000
"""The second at which the first list is viewed; each further one is viewed ten seconds later."""


def insights(case: LogCase) -> Tables:
    """User Behavior Insights: queries with what they returned, and events of several kinds."""
    clicks = [(f"q{index}", item) for index, row in enumerate(clicks_of(case)) for item, _ in row]
    queries = {
        "query_id": [f"q{index}" for index in range(case.rows)],
        **without_roles(case, ("clicks", "slate", "query")),
    }
    queries["query_response_hit_ids"] = case.columns["slate"]
    if "query" in case.columns:
        queries["user_query"] = case.columns["query"]
    found = with_strays(case, clicks, "query_id", "id")
    events = [{"object": {"object_id": item}} for item in found.pop("id")]
    kinds = ["click"] * len(events) + ["scroll"]
    events.append({"object": {"object_id": events[0]["object"]["object_id"] if events else "none"}})
    return [queries, {"action_name": kinds, "query_id": [*found["query_id"], "q0"], "event_attributes": events}]


def google_analytics(case: LogCase) -> Tables:
    """Google Analytics 4, as BigQuery exports it: views of lists, selected items, and other events."""
    text = random.Random(case.seed).random() < 0.5

    def event(kind: str, view: int, second: int, items: list[tuple[int, Any]]) -> dict[str, Any]:
        time, of_list = (_START + 10 * view + second) * 1_000_000, {"item_list_id": f"l{view % 2}"}
        session = {"int_value": view // 5, "string_value": None}
        return {
            "event_name": kind,
            "event_timestamp": str(time) if text else time,
            "user_pseudo_id": f"u{view % 3}",
            "event_params": [{"key": "ga_session_id", "value": session}],
            "items": [{"item_id": item, "item_list_index": rank, **of_list} for rank, item in items],
        }

    return _events(case, event, ("view_item_list", "select_item", "page_view"))


def snowplow_events(case: LogCase) -> Tables:
    """Snowplow's e-commerce events: views of lists, clicks on them, and other events."""

    def event(kind: str, view: int, second: int, items: list[tuple[int, Any]]) -> dict[str, Any]:
        minute, second = divmod(10 * view + second, 60)
        products = [{"id": item, "position": rank} for rank, item in items]
        return {
            _ACTION: {"type": kind, "name": f"l{view % 2}"},
            "derived_tstamp": f"2024-05-01T{12 + minute // 60:02}:{minute % 60:02}:{second:02}Z",
            "domain_userid": f"u{view % 3}",
            "domain_sessionid": f"s{view // 5}",
            "contexts_com_snowplowanalytics_snowplow_ecommerce_product_1": products,
        }

    return _events(case, event, ("list_view", "list_click", "add_to_cart"))


_ACTION = "unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1"
Event = Callable[[str, int, int, list[tuple[int, Any]]], dict[str, Any]]
"""Makes the row of an event: its kind, the view that it is of, the seconds since that, and the items with their ranks.
"""


def _events(case: LogCase, event: Event, kinds: tuple[str, str, str]) -> Tables:
    """Return one table of views, the clicks that follow each, and other events; the views in their order."""
    rng, (view, click, other) = random.Random(case.seed), kinds
    slates, selected = lists_of(case.columns, "slate"), clicks_of(case)
    views = [event(view, row, 0, _in_any_order(slate, rng)) for row, slate in enumerate(slates)]
    later = [
        event(click, row, rng.randint(1, 9), [(slates[row].index(item) + 1, item)])
        for row, items in enumerate(selected)
        for item, _ in items * rng.choice([1, 1, 2])
    ]
    later += [event(other, 0, 3, [])] * rng.randint(0, 2)
    if rng.random() < 0.3 and slates and slates[0] and any(selected):
        later.append(event(click, 0, -1, [(1, slates[0][0])]))  # before anything was viewed
    rows = [(place, one) for place, one in enumerate(views)] + [(rng.uniform(-1, len(views)), one) for one in later]
    rows.sort(key=lambda pair: pair[0])
    if not rows:
        raise Unwritable("no event, and so no names")
    return [{name: [row[name] for _, row in rows] for name in rows[0][1]}]


def _in_any_order(slate: list[Any], rng: random.Random) -> list[tuple[int, Any]]:
    ranked = list(enumerate(slate, start=1))
    return rng.sample(ranked, len(ranked))


def yandex_sessions(case: LogCase, folder: Path) -> Path:
    """Write sessions of the relevance prediction challenge: several in a line, with clicks in any order."""
    rng, queries = random.Random(case.seed), case.columns.get("query", ["a_1"] * case.rows)
    lines = ""
    for row, items in enumerate(clicks_of(case)):
        ids = lists_of(case.columns, "slate")[row]
        if not ids or not all(type(item) is int and item >= 0 for item in ids) or not _is_word(queries[row]):
            raise Unwritable("what is no session")
        clicks = [item for item, _ in items]
        clicks = rng.sample(clicks, len(clicks)) + clicks[: rng.choice([0, 0, 1])]
        clicks += [max(ids) + 1] * rng.choice([0, 0, 0, 1])
        session = f"{queries[row]}\t{','.join(map(str, ids))} : {' , '.join(map(str, clicks))} "
        lines += session + rng.choice([";", ";\n", "\n"])
    packed = rng.random() < 0.5
    path = folder / ("log.txt.gz" if packed else "log.txt")
    path.write_bytes(gzip.compress(lines.encode(), 1) if packed else lines.encode())
    return path


def _is_word(query: Any) -> bool:
    return isinstance(query, str) and bool(query) and ";" not in query and query.split() == [query]
