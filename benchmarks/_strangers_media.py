"""Raw tables of media, travel, jobs and market places."""

from __future__ import annotations

from pathlib import Path

from benchmarks._strangers_files import (
    Table,
    Truth,
    at,
    guid,
    long,
    table,
    to_csv,
    to_lines,
    to_parquet,
    to_sqlite,
    wide,
)
from benchmarks._strangers_visits import Random, Row, Visit, World, by_item, shuffled


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
