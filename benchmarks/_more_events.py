"""Further tables of strangers: events, judged pairs, and what is no log of slates at all."""

from pathlib import Path

from benchmarks._more_tables import files, plain, saved
from benchmarks._more_worlds import Request, ms, uid
from benchmarks._strangers_visits import Row


def _joined(folder: Path, found: list[Request]) -> Path:
    (folder / "log").mkdir()
    shown = [
        {
            "impression_id": uid(r.n),
            "served_at": r.at.isoformat(),
            "item_id": i.key,
            "position": i.rank + 1,
            "score": i.score,
        }
        for r in found
        for i in r.shown
    ]
    clicked = [
        {"click_id": uid("k", r.n, i.rank), "impression_id": uid(r.n), "item_id": i.key, "clicked_at": r.at.isoformat()}
        for r in found
        for i in r.shown
        if i.click
    ]
    saved(shown, folder / "log", "csv").rename(folder / "log" / "impressions.csv")
    saved(clicked, folder / "log", "csv").rename(folder / "log" / "clicks.csv")
    return folder / "log"


def _stream(folder: Path, found: list[Request]) -> Path:
    rows: list[Row] = []
    for r in found:
        rows += [
            {
                "event_id": uid("e", r.n, i.rank),
                "event_type": "impression",
                "request_id": uid(r.n),
                "item_id": f"i{i.key}",
                "position": i.rank,
                "ts": ms(r.at),
            }
            for i in r.shown
        ]
        rows += [
            {
                "event_id": uid("k", r.n, i.rank),
                "event_type": "click",
                "request_id": uid(r.n),
                "item_id": f"i{i.key}",
                "position": None,
                "ts": ms(r.at) + 4000,
            }
            for i in r.shown
            if i.click
        ]
    return saved(rows, folder, "jsonl")


def _ga4(folder: Path, found: list[Request]) -> Path:
    rows: list[Row] = []
    for r in found:
        items = [
            {
                "item_id": f"sku{i.key}",
                "item_name": f"Thing {i.key}",
                "index": i.rank + 1,
                "price": i.price,
                "item_list_id": f"list_{r.n}",
            }
            for i in r.shown
        ]
        base = {
            "event_date": r.at.strftime("%Y%m%d"),
            "user_pseudo_id": f"{r.user}.77",
            "event_params": [{"key": "ga_session_id", "value": {"string_value": None, "int_value": 10**9 + r.n}}],
        }
        rows.append(base | {"event_timestamp": ms(r.at) * 1000, "event_name": "view_item_list", "items": items})
        rows += [
            base
            | {"event_timestamp": ms(r.at) * 1000 + 5 * 10**6, "event_name": "select_item", "items": [items[i.rank]]}
            for i in r.shown
            if i.click
        ]
    return saved(rows, folder, "jsonl")


def _kafka(folder: Path, found: list[Request]) -> Path:
    rows: list[Row] = []
    for r in found:
        rows.append(
            {
                "eventType": "SLATE_SERVED",
                "eventTime": ms(r.at),
                "payload": {"slateId": uid(r.n), "items": [f"v{i.key}" for i in r.shown]},
            }
        )
        rows += [
            {
                "eventType": "ITEM_CLICKED",
                "eventTime": ms(r.at) + 3000,
                "payload": {"slateId": uid(r.n), "itemId": f"v{i.key}"},
            }
            for i in r.shown
            if i.click
        ]
    return saved(rows, folder, "jsonl")


def _qrels(folder: Path, found: list[Request], run: bool = True) -> Path:
    (folder / "trec").mkdir()
    judged = [f"{r.n} 0 D{i.key} {i.click + i.order}" for r in found for i in r.shown]
    ranked = [f"{r.n} Q0 D{i.key} {i.rank + 1} {10 - i.rank} mine" for r in found for i in r.shown]
    (folder / "trec" / "qrels.txt").write_text("\n".join(judged) + "\n")
    if not run:
        return folder / "trec" / "qrels.txt"
    (folder / "trec" / "bm25.run").write_text("\n".join(ranked) + "\n")
    return folder / "trec"


files("impressions and clicks in two files", "events", "fixed", "impression_id item_id position -", _joined)
files("one stream of two kinds", "events", "fixed", "request_id item_id position event_type", _stream)
files("views and selections of GA4", "ga4", "fixed", "", _ga4)
files("slates served, items clicked", "events", "fixed", "", _kafka)
files("a run and its judgements", "pairs", "", "", _qrels)
files("judgements alone", "pairs", "", "", lambda folder, found: _qrels(folder, found, run=False))


plain(
    "queries judged by people",
    "pairs",
    "csv",
    lambda n, rng: {
        "query": f"red shoes {n // 10}",
        "product_id": int(rng.integers(400)),
        "relevance": int(rng.integers(4)),
        "annotator": f"a{n % 5}",
    },
)
plain(
    "ratings",
    "none",
    "csv",
    lambda n, rng: {
        "userId": n // 12,
        "movieId": int(rng.integers(300)),
        "rating": float(rng.integers(1, 11)) / 2,
        "timestamp": 10**9 + 311 * n,
    },
)
plain(
    "click rates by day",
    "none",
    "csv",
    lambda n, rng: {
        "date": f"2025-0{n // 200 % 9 + 1}-{n % 28 + 1:02d}",
        "item_id": n % 50,
        "position": n % 5 + 1,
        "impressions": int(rng.integers(100, 900)),
        "clicks": int(rng.integers(0, 60)),
        "ctr": round(float(rng.random() / 10), 4),
    },
)
plain(
    "predictions of a model",
    "none",
    "parquet",
    lambda n, rng: {
        "user_id": n // 10,
        "item_id": int(rng.integers(500)),
        "prediction": float(rng.random()),
        "model_version": "v7",
    },
)
plain(
    "baskets",
    "none",
    "csv",
    lambda n, rng: {
        "order_id": n // 6,
        "product_id": int(rng.integers(300)),
        "add_to_cart_order": n % 6 + 1,
        "reordered": int(rng.random() < 0.5),
    },
)
plain(
    "plays",
    "none",
    "tab",
    lambda n, rng: {
        "user": f"user_{n // 30:06d}",
        "artist_mbid": uid(int(rng.integers(90))),
        "artist_name": f"Artist {n % 90}",
        "plays": int(rng.geometric(0.02)),
    },
)
plain(
    "results of experiments",
    "none",
    "csv",
    lambda n, rng: {
        "experiment": f"exp_{n // 14}",
        "variant": "AB"[n % 2],
        "day": f"2025-04-{n // 2 % 28 + 1:02d}",
        "users": int(rng.integers(900, 1100)),
        "conversions": int(rng.integers(30, 60)),
        "revenue": round(float(rng.gamma(3, 100)), 2),
    },
    n=280,
)
plain(
    "a catalogue",
    "none",
    "jsonl",
    lambda n, rng: {
        "sku": f"SKU{n:05d}",
        "title": f"Thing number {n}",
        "price": round(float(rng.gamma(3, 10)), 2),
        "in_stock": bool(rng.random() < 0.9),
        "category": f"cat{n % 9}",
    },
)
plain(
    "users",
    "none",
    "semicolon",
    lambda n, rng: {
        "kunden_nr": n + 1,
        "geburtsjahr": int(rng.integers(1940, 2008)),
        "plz": f"{int(rng.integers(1000, 99999)):05d}",
        "newsletter": int(rng.random() < 0.3),
        "umsatz": round(float(rng.gamma(2, 100)), 2),
    },
)
plain(
    "clicks alone",
    "none",
    "csv",
    lambda n, rng: {
        "session_id": n // 4,
        "timestamp": f"2025-04-{n % 28 + 1:02d}T10:{n % 60:02d}:00Z",
        "item_id": int(rng.integers(300)),
        "category": int(rng.integers(9)),
    },
)
plain(
    "turns of a chat",
    "none",
    "jsonl",
    lambda n, rng: {
        "conversation_id": uid(n // 6),
        "turn": n % 6 + 1,
        "role": "user" if n % 2 == 0 else "assistant",
        "text": f"words {int(rng.integers(1000))}",
        "tokens": int(rng.integers(5, 300)),
    },
)
