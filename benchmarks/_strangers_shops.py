"""Raw tables of shops and of those who sell adverts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks._strangers_files import (
    Table,
    Truth,
    at,
    guid,
    long,
    none,
    table,
    to_arrow,
    to_csv,
    to_lines,
    to_parquet,
    wide,
)
from benchmarks._strangers_visits import Random, World, by_item, shuffled


@table
def shop_search_export(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "event_time": at(v).isoformat(),
            "search_id": guid(v.number),
            "search_phrase": f"phrase {v.query}",
            "product_sku": f"{item:07d}",
            "listing_rank": place + 1,
            "was_clicked": click,
            "unit_price": 9.99 + item,
        },
    )
    return to_csv(rows, to / "search_export.csv"), long(
        "search_id", "product_sku", "listing_rank", "was_clicked", "uniform", query="search_phrase"
    )


@table
def shop_pool_scores(rng: Random, to: Path) -> Table:
    visits = World("score").draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "reqId": v.number + 9_007_199_254_740_993,
            "skuId": item,
            "slotNo": place,
            "clicked_at": at(v, 20) if click else None,
            "relevance": v.score[item],
            "keyword": f"kw{v.query}",
            "stock": int(rng.integers(0, 400)),
        },
        pool=True,
    )
    return to_parquet(shuffled(rows, rng), to / "impressions.parquet"), long(
        "reqId", "skuId", "slotNo", "clicked_at", "score", "relevance", query="keyword"
    )


@table
def shop_sorted(rng: Random, to: Path) -> Table:
    visits = World("sorted").draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "query_instance": guid(v.number),
            "q": f"q{v.query}",
            "asin": f"B{item:09d}",
            "rank": "" if place is None else place + 1,
            "bm25": v.score[item],
            "is_click": "" if click is None else click,
            "add_to_cart": int(bool(click) and rng.random() < 0.3),
        },
        pool=True,
    )
    return to_csv(rows, to / "serp.csv"), long(
        "query_instance", "asin", "rank", "is_click", "sorted", "bm25", query="q"
    )


@table
def shop_list_a_query(rng: Random, to: Path) -> Table:
    visits = World("fixed").draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "sid": f"s-{v.number:06x}",
            "term": f"term_{v.query}",
            "pid": item,
            "pos": place + 1,
            "click": click,
            "stars": 1 + item % 5,
        },
    )
    return to_csv(rows, to / "log.tsv", "\t"), long("sid", "pid", "pos", "click", "fixed", query="term")


@table
def shop_semicolons(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=4, pool=4, visits=700).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "anfrage_id": v.number + 1,
            "artikel": f"A-{item:05d}",
            "position": place + 1,
            "click": click,
            "preis": f"{item},90",
            "begriff": f"b{v.query}",
        },
    )
    return to_csv(rows, to / "suche.csv", ";"), long("anfrage_id", "artikel", "position", "click", "uniform")


@table
def shop_headless(rng: Random, to: Path) -> Table:
    visits = World("fixed", visits=500).draw(rng)
    rows = by_item(visits, lambda v, item, place, click: {"a": v.number, "b": item, "c": place, "d": click})
    return to_csv(rows, to / "dump.tsv", "\t", head=False), long(
        "column_1", "column_2", "column_3", "column_4", "fixed"
    )


@table
def shop_counts(rng: Random, to: Path) -> Table:
    visits = World("sharp").draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "list_view": guid(v.number),
            "product_id": item,
            "list_position": None if place is None else place + 1,
            "clicks": None if click is None else click * int(rng.integers(1, 3)),
            "popularity": v.score[item],
            "country": ["de", "fr", "it"][v.user % 3],
        },
        pool=True,
    )
    return to_lines(rows, to / "views.ndjson.gz", packed=True), long(
        "list_view", "product_id", "list_position", "clicks", "sharp", "popularity"
    )


@table
def shop_daily(rng: Random, to: Path) -> Table:
    visits = World("daily").draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "dt": at(v).date().isoformat(),
            "request_uuid": guid(v.number),
            "query_text": f"shoe {v.query}",
            "item_id": item,
            "display_rank": place + 1,
            "click_flag": click,
            "rating_avg": round(1 + 4 * ((item * 37) % 100) / 100, 2),
        },
    )
    return to_csv(rows, to / "daily.csv"), long(
        "request_uuid", "item_id", "display_rank", "click_flag", "daily", query="query_text"
    )


@table
def shop_personal(rng: Random, to: Path) -> Table:
    visits = World("personal", users=60, queries=10).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "rec_id": guid(v.number),
            "customer_id": 10_000 + v.user,
            "widget": f"w{v.query}",
            "article_id": item,
            "slot": place,
            "clicked": bool(click),
        },
    )
    return to_parquet(rows, to / "recs.parquet"), long(
        "rec_id", "article_id", "slot", "clicked", "personal", user="customer_id"
    )


@table
def shop_wide_json(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=4, pool=4).draw(rng)
    rows = [
        {
            "ts": at(v).isoformat(),
            "visitor": v.user,
            "shown_products": json.dumps([f"p{i}" for i in v.shown]),
            "clicks": json.dumps(v.clicks),
        }
        for v in visits
    ]
    return to_csv(rows, to / "widget.csv"), wide("shown_products", "clicks", "uniform", user="visitor")


@table
def shop_pipes(rng: Random, to: Path) -> Table:
    visits = World("fixed").draw(rng)
    rows = [
        {
            "q": f"q{v.query}",
            "results": "|".join(f"SKU{i}" for i in v.shown),
            "clicked": "|".join(map(str, v.clicks)),
            "ms": int(rng.integers(9, 90)),
        }
        for v in visits
    ]
    return to_csv(rows, to / "pipes.csv"), wide("results", "clicked", "fixed", query="q")


@table
def shop_structs(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = [
        {
            "request_id": guid(v.number),
            "keyword": f"k{v.query}",
            "items": [
                {"sku": f"{i:06d}", "clicked": c, "price": 1.5 * i} for i, c in zip(v.shown, v.clicks, strict=True)
            ],
        }
        for v in visits
    ]
    return to_parquet(rows, to / "nested.parquet"), wide("items.sku", "items.clicked", "uniform", query="keyword")


@table
def shop_clicked_id(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = [
        {
            "request_id": guid(v.number),
            "shown": [f"i{i}" for i in v.shown],
            "clicked_items": [f"i{i}" for i, c in zip(v.shown, v.clicks, strict=True) if c],
            "tag": f"t{v.query}",
        }
        for v in visits
    ]
    return to_lines(rows, to / "shown.jsonl"), Truth("wide", {"slate": "shown"}, "uniform", asked=True)


@table
def ads_server(rng: Random, to: Path) -> Table:
    visits = World("score", slots=3, pool=6, queries=30).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "auction_id": guid(v.number),
            "creative": item,
            "placement_index": None if place is None else place + 1,
            "clk": click,
            "bid": v.score[item],
            "publisher": f"pub{v.query}",
            "cost": None if not click else round(float(rng.gamma(2, 1)), 2),
        },
        pool=True,
    )
    return to_arrow(rows, to / "auctions.arrow"), long(
        "auction_id", "creative", "placement_index", "clk", "score", "bid"
    )


@table
def ads_propensity(rng: Random, to: Path) -> Table:
    visits = World("hidden", slots=3, pool=6).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "imp_id": v.number,
            "ad_id": item,
            "slot": place + 1,
            "click": click,
            "log_prob_of_slate": round(float(np.log(v.chance)), 9),
            "slate_prob": v.chance,
            "site": f"s{v.query}",
        },
    )
    return to_csv(rows, to / "ads.csv"), long("imp_id", "ad_id", "slot", "click", "written", propensity="slate_prob")


@table
def ads_one_slot(rng: Random, to: Path) -> Table:
    visits = World("score", slots=1, pool=5, visits=2500).draw(rng)
    rows = [
        {
            "ts": at(v).isoformat(),
            "context_id": v.query,
            "banner_id": v.shown[0],
            "action_prob": v.chance,
            "click": v.clicks[0],
        }
        for v in visits
    ]
    return to_csv(rows, to / "bandit.csv"), Truth("wide", {}, "written", asked=True)


@table
def ads_totals(rng: Random, to: Path) -> Table:
    rows = [
        {
            "date": f"2024-05-{d + 1:02d}",
            "campaign": f"c{c}",
            "impressions": int(rng.integers(900, 9000)),
            "clicks": int(rng.integers(3, 90)),
            "ctr": 0.01,
            "avg_position": 1.7,
        }
        for d in range(30)
        for c in range(12)
    ]
    return to_csv(rows, to / "campaigns.csv"), none()


@table
def ads_two_clicks(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=3, pool=3).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "pageview": guid(v.number),
            "ad": item,
            "pos": place + 1,
            "click_valid": click,
            "click_raw": int(click or rng.random() < 0.05),
        },
    )
    return to_csv(rows, to / "adclicks.csv"), Truth("long", {}, "uniform", asked=True)
