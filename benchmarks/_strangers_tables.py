"""Sixty raw tables as companies and public data sets have them, each with what is true of it."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from benchmarks._strangers_visits import Random, Row, Visit, World, by_item, shuffled


@dataclass(frozen=True)
class Truth:
    """What is true of a table.

    layout: how it is laid out, or its named standard; columns: role -> column. asked: whether a question is right.
    drawn: the law of `World`, "written" for true propensities, "" for what is no log; score: the column of its score.
    """

    layout: str
    columns: Mapping[str, str] = field(default_factory=dict)
    drawn: str = ""
    score: str = ""
    asked: bool = False


Table = tuple[Path, Truth]
Maker = Callable[[Random, Path], Table]
MAKERS: dict[str, Maker] = {}
DAY = datetime(2024, 3, 1, 6, tzinfo=UTC)


def table(make: Maker) -> Maker:
    """Keep what makes a table."""
    MAKERS[make.__name__] = make
    return make


def long(impression: str, item: str, position: str, click: str, drawn: str, score: str = "", **more: str) -> Truth:
    return Truth(
        "long", {"impression": impression, "item": item, "position": position, "click": click, **more}, drawn, score
    )


def wide(slate: str, clicks: str, drawn: str, score: str = "", **more: str) -> Truth:
    return Truth("wide", {"slate": slate, "clicks": clicks, **more}, drawn, score)


def none(asked: bool = True) -> Truth:
    return Truth("none", asked=asked)


def at(visit: Visit, seconds: float = 0) -> datetime:
    return DAY + timedelta(days=visit.day, seconds=37 * visit.number + seconds)


def guid(number: int) -> str:
    return str(uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 11) % 2**128))


def to_csv(rows: list[Row], path: Path, delimiter: str = ",", head: bool = True, packed: bool = False) -> Path:
    opened = gzip.open(path, "wt", newline="") if packed else path.open("w", newline="")
    with opened as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        if head:
            writer.writeheader()
        writer.writerows(rows)
    return path


def to_lines(rows: list[Row], path: Path, packed: bool = False) -> Path:
    opened = gzip.open(path, "wt") if packed else path.open("w")
    with opened as file:
        file.writelines(json.dumps(row, default=str) + "\n" for row in rows)
    return path


def to_parquet(rows: list[Row], path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def to_arrow(rows: list[Row], path: Path) -> Path:
    feather.write_feather(pa.Table.from_pylist(rows), str(path))
    return path


def to_sqlite(rows: list[Row], path: Path, name: str) -> Path:
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
        base.executemany(
            f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows]
        )
    return path


# --- shops ------------------------------------------------------------------------------------------------------------


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
    return to_csv(rows, to / "dump.tsv", "\t", head=False), Truth("long", {}, "fixed", asked=True)


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
            "country": "de fr it".split()[v.user % 3],
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


# --- adverts ----------------------------------------------------------------------------------------------------------


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


# --- music, video, news -------------------------------------------------------------------------------------------------


@table
def music_carousel(rng: Random, to: Path) -> Table:
    visits = World("epsilon", slots=4, pool=7, queries=25, visits=2500).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "carousel_view_id": guid(v.number),
            "track_uri": f"spotify:track:{item:x}",
            "card": None if place is None else place,
            "streamed": click,
            "affinity": v.score[item],
            "mood": f"m{v.query}",
            "ms_played": None if click is None else click * int(rng.integers(1, 200_000)),
        },
        pool=True,
    )
    return to_parquet(rows, to / "carousel.parquet"), long(
        "carousel_view_id", "track_uri", "card", "streamed", "epsilon", "affinity"
    )


@table
def video_home(rng: Random, to: Path) -> Table:
    visits = World("sorted", slots=6, pool=6, queries=60).draw(rng)
    rows = [
        {
            "page_id": guid(v.number),
            "profile": v.user,
            "row_titles": [f"v{i}" for i in v.shown],
            "plays": v.clicks,
            "model_score": [v.score[i] for i in v.shown],
        }
        for v in visits
    ]
    return to_parquet(rows, to / "home.parquet"), wide("row_titles", "plays", "sorted", "model_score", user="profile")


@table
def video_dwell(rng: Random, to: Path) -> Table:
    visits = World("hidden", slots=5, pool=5).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "feed_request": guid(v.number),
            "video_id": item,
            "feed_pos": place,
            "is_click": click,
            "watch_ms": click * int(rng.gamma(2, 9000)),
            "like": int(click and rng.random() < 0.1),
            "tab": f"tab{v.query}",
        },
    )
    return to_csv(shuffled(rows, rng), to / "feed.csv"), long(
        "feed_request", "video_id", "feed_pos", "is_click", "hidden"
    )


@table
def news_front(rng: Random, to: Path) -> Table:
    visits = World("arms", slots=5, pool=8).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "impr": v.number,
            "variant": v.arm,
            "story_id": item,
            "rank": None if place is None else place + 1,
            "clicked": click,
            "editor_score": v.score[item],
            "ctr_score": v.other[item],
            "section": f"sec{v.query}",
        },
        pool=True,
    )
    return to_parquet(rows, to / "front.parquet"), long("impr", "story_id", "rank", "clicked", "arms", "variant")


@table
def news_mind(rng: Random, to: Path) -> Table:
    visits = World("fixed", users=300, queries=300).draw(rng)
    rows = [
        {
            "i": v.number + 1,
            "u": f"U{v.user}",
            "t": at(v).strftime("%m/%d/%Y %I:%M:%S %p"),
            "h": " ".join(f"N{i}" for i in v.pool[:3]),
            "x": " ".join(f"N{i}-{c}" for i, c in zip(v.shown, v.clicks, strict=True)),
        }
        for v in visits
    ]
    return to_csv(rows, to / "behaviors.tsv", "\t", head=False), Truth("mind", {}, "fixed", asked=True)


@table
def news_sessions_text(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = [
        {
            "request": guid(v.number),
            "reader": v.user,
            "impressions": " ".join(f"N{i}-{c}" for i, c in zip(v.shown, v.clicks, strict=True)),
        }
        for v in visits
    ]
    return to_csv(rows, to / "sessions.csv"), Truth("wide", {}, "uniform")


@table
def news_mail(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=6, pool=6, visits=900).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "mailing": v.day,
            "send_id": guid(v.number),
            "recipient_hash": f"{v.user * 7919:08x}",
            "article": f"/a/{item}",
            "block_no": place + 1,
            "clicked_on": at(v, 90).isoformat() if click else "",
            "opened": 1,
        },
    )
    return to_csv(rows, to / "mail.csv"), long("send_id", "article", "block_no", "clicked_on", "uniform")


# --- travel, jobs, maps -------------------------------------------------------------------------------------------------


@table
def hotels(rng: Random, to: Path) -> Table:
    visits = World("hidden", slots=6, pool=6, queries=300).draw(rng)

    def row(v: Visit, item: int, place: int | None, click: int | None) -> Row:
        booked = int(bool(click) and rng.random() < 0.3)
        return {
            "srch_id": v.number,
            "date_time": at(v).strftime("%Y-%m-%d %H:%M:%S"),
            "site_id": 5,
            "prop_id": item,
            "prop_starrating": 1 + item % 5,
            "price_usd": round(float(rng.gamma(3, 40)), 2),
            "position": (place or 0) + 1,
            "srch_destination_id": v.query,
            "click_bool": click,
            "booking_bool": booked,
            "gross_bookings_usd": round(float(rng.gamma(3, 90)), 2) if booked else "",
        }

    return to_csv(shuffled(by_item(visits, row), rng), to / "train.csv"), long(
        "srch_id", "prop_id", "position", "click_bool", "hidden"
    )


@table
def hotels_random_flag(rng: Random, to: Path) -> Table:
    visits = World("bucket", slots=5, pool=5, visits=2500).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "search_key": guid(v.number),
            "hotel": item,
            "pos": (place or 0) + 1,
            "clicked": click,
            "random_bool": int(v.arm == "B"),
            "rank_score": v.score[item],
            "city": f"c{v.query}",
        },
    )
    return to_csv(rows, to / "hotels.csv"), long("search_key", "hotel", "pos", "clicked", "bucket", "random_bool")


@table
def flights_gaps(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=4, pool=4).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "offer_request": guid(v.number),
            "itinerary": guid(item),
            "display_pos": 2 * (place or 0) + 1,
            "selected": click,
            "route": f"R{v.query}",
        },
    )
    return to_csv(rows, to / "offers.csv"), Truth(
        "long",
        {"impression": "offer_request", "item": "itinerary", "position": "display_pos", "click": "selected"},
        "uniform",
        asked=True,
    )


@table
def jobs_board(rng: Random, to: Path) -> Table:
    visits = World("score", slots=6, pool=6).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "serp_key": f"{v.number:012d}",
            "job_posting": 4_000_000_000 + item,
            "result_no": f"{(place or 0) + 1}",
            "apply_clicked": "yes" if click else "no",
            "match": v.score[item],
            "seeker": v.user,
        },
    )
    return to_csv(rows, to / "jobs.csv"), long(
        "serp_key", "job_posting", "result_no", "apply_clicked", "score", "match", user="seeker"
    )


@table
def jobs_pages(rng: Random, to: Path) -> Table:
    visits = World("fixed", slots=6, pool=8).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "search": guid(v.number),
            "page": 1 + (place or 0) // 3,
            "pos_on_page": (place or 0) % 3 + 1,
            "job": item,
            "click": click,
            "title": f"t{v.query}",
        },
    )
    return to_csv(rows, to / "paged.csv"), Truth("long", {}, "fixed", asked=True)


@table
def maps_places(rng: Random, to: Path) -> Table:
    visits = World("sorted", slots=4, pool=4, queries=80).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "queryId": guid(v.number),
            "placeId": f"ChIJ{item:05x}",
            "ordinal": ["1st", "2nd", "3rd", "4th"][place or 0],
            "tapped": bool(click),
            "proximity": v.score[item],
            "area": f"g{v.query}",
        },
    )
    return to_lines(rows, to / "places.jsonl"), long("queryId", "placeId", "ordinal", "tapped", "sorted", "proximity")


@table
def appstore(rng: Random, to: Path) -> Table:
    visits = World("arms", slots=5, pool=5, users=300).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "sess": f"S{v.number // 2}",
            "req": guid(v.number),
            "app": f"com.x.app{item}",
            "idx": place,
            "installed": click,
            "bucket": v.arm,
            "score_v1": v.score[item],
            "score_v2": v.other[item],
            "term": f"t{v.query}",
        },
    )
    return to_sqlite(rows, to / "store.sqlite", "impressions"), long("req", "app", "idx", "installed", "arms", "bucket")


@table
def marketplace_hierarchy(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=5, pool=5).draw(rng)
    rows = by_item(
        visits,
        lambda v, item, place, click: {
            "session_id": f"{v.number // 4:05d}",
            "request_id": f"{v.number:07d}",
            "listing_id": f"{item:05d}",
            "position": place + 1,
            "contact": click,
            "seller": f"s{item % 9}",
        },
    )
    return to_csv(rows, to / "market.csv"), long(
        "request_id", "listing_id", "position", "contact", "uniform", session="session_id"
    )


@table
def marketplace_wide_pool(rng: Random, to: Path) -> Table:
    visits = World("score").draw(rng)
    rows = [
        {
            "uuid": guid(v.number),
            "ranked": v.shown,
            "click_vector": v.clicks,
            "eligible": v.pool,
            "eligible_scores": [v.score[i] for i in v.pool],
            "cat": f"c{v.query}",
        }
        for v in visits
    ]
    return to_parquet(rows, to / "wide.parquet"), wide(
        "ranked", "click_vector", "score", "eligible_scores", candidates="eligible"
    )


@table
def marketplace_wide_sharp(rng: Random, to: Path) -> Table:
    visits = World("sharp").draw(rng)
    rows = [
        {
            "rid": guid(v.number),
            "slate_ids": v.shown,
            "purchases": v.clicks,
            "candidate_ids": v.pool,
            "utility": [v.score[i] for i in v.pool],
            "query": v.query,
        }
        for v in visits
    ]
    return to_lines(rows, to / "wide.ndjson"), wide(
        "slate_ids", "purchases", "sharp", "utility", candidates="candidate_ids"
    )


# --- routers and bandits ------------------------------------------------------------------------------------------------


@table
def llm_router(rng: Random, to: Path) -> Table:
    visits = World("score", slots=1, pool=4, queries=12, items=4, visits=2500).draw(rng)
    rows = [
        {
            "trace_id": guid(v.number),
            "prompt_class": f"k{v.query}",
            "model": ["haiku", "mini", "flash", "large"][v.shown[0]],
            "routing_prob": v.chance,
            "thumbs_up": v.clicks[0],
            "latency_ms": int(rng.gamma(2, 300)),
        }
        for v in visits
    ]
    return to_lines(rows, to / "router.jsonl"), Truth("wide", {}, "written", asked=True)


@table
def open_bandit(rng: Random, to: Path) -> Table:
    rows = []
    for at_ in range(2400):
        item, place = int(rng.integers(20)), int(rng.integers(1, 4))
        rows.append(
            {
                "": at_,
                "timestamp": (DAY + timedelta(seconds=at_)).isoformat(),
                "item_id": item,
                "position": place,
                "click": int(rng.random() < 0.05),
                "propensity_score": 0.05,
                **{f"user_feature_{k}": f"{at_ % (k + 2):x}" for k in range(4)},
                **{f"user-item_affinity_{k}": 0.0 for k in range(20)},
            }
        )
    to_csv([{"": item, "item_id": item, "item_feature_0": 0.1 * item} for item in range(20)], to / "item_context.csv")
    return to_csv(rows, to / "all.csv"), Truth("open_bandit", {}, "written")


@table
def bandit_no_probability(rng: Random, to: Path) -> Table:
    visits = World("fixed", slots=1, visits=2000).draw(rng)
    rows = [
        {"event": guid(v.number), "context": v.query, "arm_pulled": v.shown[0], "reward": v.clicks[0]} for v in visits
    ]
    return to_csv(rows, to / "pulls.csv"), Truth("wide", {}, "fixed", asked=True)


@table
def slot_propensities(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=3, pool=6).draw(rng)
    rows = [
        {
            "rid": guid(v.number),
            "actions": v.shown,
            "rewards": v.clicks,
            "action_set": v.pool,
            "action_probs": [1 / 6, 1 / 5, 1 / 4],
        }
        for v in visits
    ]
    return to_parquet(rows, to / "probs.parquet"), wide(
        "actions", "rewards", "written", candidates="action_set", slot_propensity="action_probs"
    )


# --- retrieval, ratings, clicks alone -----------------------------------------------------------------------------------


@table
def trec_run(_: Random, to: Path) -> Table:
    path = to / "bm25.run"
    path.write_text(
        "".join(
            f"{q} Q0 doc{(q * 31 + r * 7) % 500} {r + 1} {20 - r * 0.5} bm25\n" for q in range(40) for r in range(10)
        )
    )
    return path, Truth("pairs", asked=True)


@table
def trec_qrels(rng: Random, to: Path) -> Table:
    path = to / "qrels.txt"
    path.write_text("".join(f"{q} 0 doc{d} {int(rng.integers(0, 3))}\n" for q in range(40) for d in range(12)))
    return path, Truth("pairs", asked=True)


@table
def movie_ratings(rng: Random, to: Path) -> Table:
    rows = [
        {"userId": u, "movieId": int(m), "rating": float(rng.integers(1, 11)) / 2, "timestamp": 964982703 + 100 * u}
        for u in range(200)
        for m in rng.choice(400, 12, replace=False)
    ]
    return to_csv(rows, to / "ratings.csv"), none()


@table
def clicks_only(rng: Random, to: Path) -> Table:
    rows = [
        {
            "session_id": s,
            "timestamp": (DAY + timedelta(seconds=60 * s + k)).isoformat(),
            "item_id": int(rng.integers(300)),
            "category": int(rng.integers(9)),
        }
        for s in range(600)
        for k in range(int(rng.integers(1, 6)))
    ]
    return to_csv(rows, to / "clicks.dat"), none()


@table
def retail_events(rng: Random, to: Path) -> Table:
    rows = [
        {
            "timestamp": 1433221332117 + 1000 * k,
            "visitorid": int(rng.integers(400)),
            "event": str(rng.choice(["view", "view", "view", "addtocart", "transaction"])),
            "itemid": int(rng.integers(500)),
            "transactionid": "",
        }
        for k in range(2500)
    ]
    return to_csv(rows, to / "events.csv"), none()


@table
def order_lines(rng: Random, to: Path) -> Table:
    rows = [
        {"order_id": o, "product_id": int(p), "add_to_cart_order": k + 1, "reordered": int(rng.random() < 0.5)}
        for o in range(400)
        for k, p in enumerate(rng.choice(300, int(rng.integers(2, 9)), replace=False))
    ]
    return to_csv(rows, to / "order_products.csv"), none()


@table
def search_console(rng: Random, to: Path) -> Table:
    rows = [
        {
            "Top queries": f"query {k}",
            "Clicks": int(rng.integers(0, 40)),
            "Impressions": int(rng.integers(40, 900)),
            "CTR": "3.1%",
            "Position": round(float(rng.gamma(2, 4)), 1),
        }
        for k in range(300)
    ]
    return to_csv(rows, to / "Queries.csv"), none()


@table
def letor_csv(rng: Random, to: Path) -> Table:
    rows = [
        {
            "qid": q,
            "docid": f"D{q}-{d}",
            "label": int(rng.integers(0, 5)),
            "f1": round(float(rng.random()), 4),
            "f2": round(float(rng.random()), 4),
        }
        for q in range(100)
        for d in range(9)
    ]
    return to_csv(rows, to / "letor.csv"), none()


@table
def sensor(rng: Random, to: Path) -> Table:
    rows = [
        {
            "device": f"d{k % 7}",
            "t": k,
            "temp": round(float(rng.normal(20, 2)), 2),
            "hum": round(float(rng.random()), 3),
            "fault": int(rng.random() < 0.02),
        }
        for k in range(900)
    ]
    return to_csv(rows, to / "sensors.csv"), none()


@table
def leaderboard(rng: Random, to: Path) -> Table:
    rows = [
        {
            "race_id": r,
            "driver": int(d),
            "rank": k + 1,
            "fastest_lap": int(rng.random() < 0.08),
            "points": max(0, 25 - 3 * k),
        }
        for r in range(150)
        for k, d in enumerate(rng.choice(40, 10, replace=False))
    ]
    return to_csv(rows, to / "races.csv"), Truth("none", drawn="fixed", asked=True)
