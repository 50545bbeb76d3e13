"""Further tables of strangers with lists, events and no slates at all, written after the detector was mended."""

import json
from pathlib import Path

from benchmarks._more_tables import SECOND, TEN, files, listed, plain, saved
from benchmarks._more_worlds import Request, hashed, ms, uid

INTO = {"into": SECOND}

listed(
    "columns for each place",
    "wide",
    "hidden",
    "fixed",
    "- product - click",
    lambda r: (
        {"session": uid("np", r.n)}
        | {f"product_{i.rank}": f"sku{i.key}" for i in r.shown}
        | {f"click_{i.rank}": i.click for i in r.shown}
        | {f"price_{i.rank}": i.price for i in r.shown}
    ),
    form="csv",
    **TEN,
    **INTO,
)
listed(
    "lists printed by Python",
    "wide",
    "hidden",
    "fixed",
    "- shown - clicks",
    lambda r: {"req": r.n, "shown": str([f"a{i.key}" for i in r.shown]), "clicks": str([i.click for i in r.shown])},
    form="csv",
    **TEN,
    **INTO,
)
listed(
    "a map of scores",
    "wide",
    "top",
    "sorted",
    "- ranking - clicked_ids",
    lambda r: {
        "id": uid("ms", r.n),
        "ranking": [f"d{i.key}" for i in r.shown],
        "score": [i.score for i in r.shown],
        "clicked_ids": [f"d{i.key}" for i in r.shown if i.click],
    },
    form="jsonl",
    **TEN,
    **INTO,
)
listed(
    "nested twice",
    "wide",
    "hidden",
    "fixed",
    "- response.sections.ads.adId - response.sections.ads.clk",
    lambda r: {
        "ts": ms(r.at),
        "response": {
            "requestId": uid("n2", r.n),
            "sections": {"ads": [{"adId": i.key, "clk": i.click, "bid": i.price} for i in r.shown]},
        },
    },
    form="jsonl",
    **TEN,
    **INTO,
)
listed(
    "feed cards and their dwell",
    "wide",
    "hidden",
    "fixed",
    "- cards.card_id - cards.tapped",
    lambda r: {
        "feed_id": hashed("fd", r.n),
        "cards": [
            {"card_id": f"c{i.key}", "dwell_ms": int(i.dwell * 1000), "tapped": i.click, "is_ad": int(i.key % 5 == 0)}
            for i in r.shown
        ],
    },
    form="parquet",
    **TEN,
    **INTO,
)
listed(
    "uniform with its pool",
    "wide",
    "uniform",
    "uniform",
    "- slate - clicks candidates=pool",
    lambda r: {
        "rid": uid("up", r.n),
        "pool": [f"x{c}" for c in sorted(r.candidates)],
        "slate": [f"x{i.key}" for i in r.shown],
        "clicks": [i.click for i in r.shown],
    },
    form="parquet",
    n=900,
    k=2,
    pool=6,
    choice=4,
    **INTO,
)


def _carts(folder: Path, found: list[Request]) -> Path:
    rows = [
        {
            "eventName": "list_view",
            "listId": uid("cv", r.n),
            "sku": f"s{i.key}",
            "index": i.rank + 1,
            "time": r.at.isoformat(),
        }
        for r in found
        for i in r.shown
    ]
    rows += [
        {
            "eventName": "product_click",
            "listId": uid("cv", r.n),
            "sku": f"s{i.key}",
            "index": i.rank + 1,
            "time": r.at.replace(second=59).isoformat(),
        }
        for r in found
        for i in r.shown
        if i.click
    ]
    rows += [
        {
            "eventName": "add_to_cart",
            "listId": uid("cv", r.n),
            "sku": f"s{i.key}",
            "index": None,
            "time": r.at.replace(second=59).isoformat(),
        }
        for r in found
        for i in r.shown
        if i.order
    ]
    return saved(sorted(rows, key=lambda row: str(row["time"])), folder, "jsonl")


def _run(folder: Path, found: list[Request]) -> Path:
    (folder / "bm25.trec").write_text(
        "\n".join(f"q{r.n} Q0 D{i.key} {i.rank + 1} {9.5 - i.rank} bm25" for r in found for i in r.shown) + "\n"
    )
    return folder / "bm25.trec"


files("views, clicks and carts", "events", "fixed", "", _carts, **INTO)
files("a run alone", "pairs", "", "", _run, **INTO)
plain(
    "stock by day",
    "none",
    "csv",
    lambda n, rng: {
        "day": f"2025-03-{n // 50 % 28 + 1:02d}",
        "sku": n % 50,
        "shelf": n % 7 + 1,
        "stock": int(rng.integers(90)),
        "sold": int(rng.integers(9)),
    },
    **INTO,
)
plain(
    "lines of invoices",
    "none",
    "semicolon",
    lambda n, rng: {
        "Rechnung": 90000 + n // 4,
        "Zeile": n % 4 + 1,
        "Artikel": int(rng.integers(200)),
        "Menge": int(rng.integers(1, 9)),
        "Storno": int(rng.random() < 0.05),
    },
    **INTO,
)
plain(
    "steps of a funnel",
    "none",
    "csv",
    lambda n, rng: {
        "visitor": uid("fu", n // 5),
        "step": n % 5 + 1,
        "page": ("home", "search", "item", "cart", "pay")[n % 5],
        "reached": int(rng.random() < 0.9 - 0.15 * (n % 5)),
    },
    **INTO,
)
plain(
    "answers to a survey",
    "none",
    "csv",
    lambda n, rng: {"respondent": n + 1} | {f"q{k}": int(rng.integers(1, 6)) for k in range(1, 9)},
    **INTO,
)
plain(
    "judgements of a model",
    "pairs",
    "jsonl",
    lambda n, rng: {
        "prompt_id": n // 2,
        "model": "ab"[n % 2],
        "judge_score": int(rng.integers(1, 11)),
        "answer": json.dumps({"words": int(rng.integers(90))}),
    },
    **INTO,
)
plain(
    "positions of players",
    "none",
    "csv",
    lambda n, rng: {
        "match_id": n // 11,
        "player_id": int(rng.integers(400)),
        "shirt": n % 11 + 1,
        "scored": int(rng.random() < 0.1),
        "minutes": int(rng.integers(10, 90)),
    },
    **INTO,
)
