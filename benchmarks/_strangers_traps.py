"""Raw tables that seduce, since nothing was drawn though a column says so; and rarer ways to write lists."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks._strangers_files import (
    Table,
    Truth,
    at,
    guid,
    long,
    table,
    to_arrow,
    to_csv,
    to_lines,
    to_parquet,
    wide,
)
from benchmarks._strangers_visits import Random, Visit, World, by_item, shuffled


@table
def said_to_be_random(rng: Random, to: Path) -> Table:
    """A fixed list a query, beside a constant that somebody called a probability."""
    visits = World("fixed", slots=5, pool=5).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "request_id": guid(v.number),
            "query": f"q{v.query}",
            "doc_id": item,
            "position": place + 1,
            "click": click,
            "propensity": 1 / 120,
        },
    )
    return to_csv(rows, to / "said.csv"), long(
        "request_id", "doc_id", "position", "click", "fixed", query="query", propensity="propensity"
    )


@table
def sure_probability(rng: Random, to: Path) -> Table:
    """A ranker without randomness writes the probability 1."""
    visits = World("sorted", slots=4, pool=7).draw(rng)
    rows = [
        {
            "rid": guid(v.number),
            "query": v.query,
            "slate": v.shown,
            "clicks": v.clicks,
            "candidates": v.pool,
            "relevance": [v.score[i] for i in v.pool],
            "propensity": 1.0,
        }
        for v in visits
    ]
    return to_parquet(rows, to / "sure.parquet"), wide(
        "slate", "clicks", "sorted", "relevance", candidates="candidates", propensity="propensity"
    )


@table
def long_tail(rng: Random, to: Path) -> Table:
    """A fixed list a query, and hardly a query twice."""
    visits = World("fixed", queries=20_000, slots=5, pool=5, visits=900).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "search_guid": guid(v.number),
            "query_hash": f"{v.query * 48271 % 2**31:08x}",
            "doc": item,
            "rank": place + 1,
            "clicked": click,
        },
    )
    return to_csv(rows, to / "tail.csv"), long("search_guid", "doc", "rank", "clicked", "fixed", query="query_hash")


@table
def learnt_ranker_beside_stars(rng: Random, to: Path) -> Table:
    """A hidden ranker without randomness, in weak agreement with a column."""
    visits = World("sorted", queries=20_000, slots=6, pool=6, visits=900).draw(rng)

    def row(v: Visit, item: int, place: int | None, click: int | None) -> dict[str, object]:
        stars = min(5, max(1, round(2.5 + 0.6 * v.score[item] + float(rng.normal(0, 1.2)))))
        return {
            "srch_id": v.number,
            "prop_id": item,
            "prop_starrating": stars,
            "price_usd": round(float(rng.gamma(3, 40)), 2),
            "position": (place or 0) + 1,
            "click_bool": click,
        }

    return to_csv(by_item(visits, row), to / "hotels.csv"), long(
        "srch_id", "prop_id", "position", "click_bool", "fixed"
    )


@table
def reranked_by_time(rng: Random, to: Path) -> Table:
    """Lists by query and day, wide."""
    visits = World("daily", queries=25).draw(rng)
    rows = [
        {"day": str(at(v).date()), "q": f"q{v.query}", "results": [f"d{i}" for i in v.shown], "clicks": v.clicks}
        for v in visits
    ]
    return to_parquet(rows, to / "daily.parquet"), wide("results", "clicks", "daily", query="q")


@table
def personal_wide(rng: Random, to: Path) -> Table:
    visits = World("personal", users=300, queries=3).draw(rng)
    rows = [
        {"user_id": v.user, "shelf": v.query, "recommendations": [f"m{i}" for i in v.shown], "clicks": v.clicks}
        for v in visits
    ]
    return to_lines(rows, to / "personal.jsonl"), wide("recommendations", "clicks", "personal", user="user_id")


@table
def small_pilot(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=3, pool=6, visits=200, queries=10).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "serve_id": v.number,
            "offer": f"o{item}",
            "spot": None if place is None else place + 1,
            "clicks": click,
            "zone": v.query,
        },
        pool=True,
    )
    return to_parquet(rows, to / "pilot.parquet"), long("serve_id", "offer", "spot", "clicks", "uniform")


@table
def json_array_of_objects(rng: Random, to: Path) -> Table:
    visits = World("score", slots=4, pool=4, visits=1000).draw(rng)
    rows = [
        {
            "requestId": guid(v.number),
            "q": f"q{v.query}",
            "docs": [
                {"docId": f"d{i}", "score": v.score[i], "clicked": bool(c)}
                for i, c in zip(v.shown, v.clicks, strict=True)
            ],
        }
        for v in visits
    ]
    path = to / "requests.json"
    path.write_text(json.dumps(rows))
    return path, wide("docs.docId", "docs.clicked", "score", "docs.score", query="q")


@table
def struct_of_lists(rng: Random, to: Path) -> Table:
    visits = World("score", slots=4, pool=4, visits=1000).draw(rng)
    rows = [
        {
            "req": guid(v.number),
            "keyword": f"q{v.query}",
            "results": {"ids": v.shown, "clicks": v.clicks, "scores": [v.score[i] for i in v.shown]},
        }
        for v in visits
    ]
    return to_parquet(rows, to / "struct.parquet"), wide(
        "results.ids", "results.clicks", "score", "results.scores", query="keyword"
    )


@table
def typed_events(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=4, pool=4, visits=900).draw(rng)
    rows = []
    for v in visits:
        rows += [
            {
                "event_type": "impression",
                "request_id": guid(v.number),
                "item_id": f"i{i}",
                "position": k + 1,
                "ts": at(v).isoformat(),
            }
            for k, i in enumerate(v.shown)
        ]
        rows += [
            {
                "event_type": "click",
                "request_id": guid(v.number),
                "item_id": f"i{i}",
                "position": k + 1,
                "ts": at(v, 9 + k).isoformat(),
            }
            for k, (i, c) in enumerate(zip(v.shown, v.clicks, strict=True))
            if c
        ]
    return to_lines(rows, to / "stream.jsonl"), Truth("events", {}, "uniform")


@table
def by_position_order(rng: Random, to: Path) -> Table:
    visits = World("fixed", slots=4, pool=8, visits=900).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "Position": place,
            "Doc": f"{item:04d}",
            "SearchId": f"{v.number:08d}",
            "Query": f"q{v.query}",
            "Clicked": str(bool(click)),
            "Unnamed: 0": v.number,
        },
    )
    return to_csv(sorted(rows, key=lambda row: row["Position"]), to / "bypos.csv"), long(
        "SearchId", "Doc", "Position", "Clicked", "fixed", query="Query"
    )


@table
def revenue_and_bookings(rng: Random, to: Path) -> Table:
    visits = World("sharp", slots=5, pool=5, visits=1500).draw(rng)

    def row(v: Visit, item: int, place: int | None, click: int | None) -> dict[str, object]:
        order = int(bool(click) and rng.random() < 0.3)
        return {
            "impression_id": guid(v.number),
            "sku": item,
            "pos": (place or 0) + 1,
            "clicked": click,
            "ordered": order,
            "revenue": round(order * float(rng.gamma(2, 20)), 2),
            "ctr_7d": round(0.02 + 0.1 * v.score[item] / 9, 5),
            "ranker_score": v.score[item],
        }

    return to_csv(shuffled(by_item(visits, row), rng), to / "sales.csv"), long(
        "impression_id", "sku", "pos", "clicked", "sharp", "ranker_score"
    )


@table
def autosuggest(rng: Random, to: Path) -> Table:
    visits = World("fixed", slots=5, pool=5, queries=200).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "prefix": f"pre{v.query}",
            "suggest_request": guid(v.number),
            "suggestion": f"word {item}",
            "place": place + 1,
            "accepted": click,
            "chars": 3 + v.query % 5,
        },
    )
    return to_arrow(rows, to / "suggest.feather"), long(
        "suggest_request", "suggestion", "place", "accepted", "fixed", query="prefix"
    )


@table
def no_clicks(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, _: {
            "request": guid(v.number),
            "item": item,
            "rank": place + 1,
            "price": float(item),
        },
    )
    return to_csv(rows, to / "shown.csv"), Truth("long", {}, "uniform", asked=True)
