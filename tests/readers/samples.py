"""A small sample of every layout and every named standard, each written into a folder as its publishers name it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from tests.readers import standards
from tests.readers.test_criteo_paper import TEXT
from tests.readers.test_events import click_rows, own, ubi, world
from tests.readers.test_recognition import BANDIT, CRITEO, YANDEX
from tests.readers.test_session_logs import CLAX, SOGOU, written, xml
from tests.readers.test_shop_events import events, ga4, segment, snowplow
from tests.readers.test_standards import enriched_event
from tests.readers.test_without_slates import NONE, SHOP

Place = str | list[str]


def lists() -> list[dict[str, Any]]:
    """Impressions that were drawn uniformly, under names of a stranger."""
    log = own(world()).drop_columns("candidates").to_pylist()
    return [{"request_id": 10**6 + n, "shown": one["slate"], "clicked": one["clicks"]} for n, one in enumerate(log)]


def rows(click: str = "clicked") -> list[dict[str, Any]]:
    """The same with a row per item."""
    return [
        {"request_id": one["request_id"], "sku": item, "rank": place, click: hit}
        for one in lists()
        for place, (item, hit) in enumerate(zip(one["shown"], one["clicked"], strict=True), 1)
    ]


def lines(path: Path, *texts: Any) -> None:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in texts), encoding="utf-8")


def csv(folder: Path, name: str, table: list[dict[str, Any]] | Mapping[str, Any]) -> str:
    made = pa.Table.from_pylist(table) if isinstance(table, list) else pa.table(table)
    pyarrow.csv.write_csv(made, folder / name)
    return name


def wide(folder: Path) -> Place:
    pq.write_table(pa.Table.from_pylist(lists()), folder / "log.parquet")
    return "log.parquet"


def nested(folder: Path) -> Place:
    shown = [
        {"request_id": one["request_id"], "items": [{"sku": i, "clicked": c} for i, c in zip(*pair, strict=True)]}
        for one in lists()
        for pair in [(one["shown"], one["clicked"])]
    ]
    lines(folder / "log.jsonl", *shown)
    return "log.jsonl"


def sessions(folder: Path) -> Place:
    packed = (" ".join(f"N{i}-{c}" for i, c in zip(one["shown"], one["clicked"], strict=True)) for one in lists())
    lines(folder / "log.tsv", "id\timpressions", *(f"{n}\t{text}" for n, text in enumerate(packed)))
    return "log.tsv"


def two_tables(folder: Path) -> Place:
    clicks = [{"request_id": 10**6 + one["impression"], "sku": one["item"]} for one in click_rows(world())]
    bare = [{name: one[name] for name in ("request_id", "sku", "rank")} for one in rows()]
    return [csv(folder, "impressions.csv", bare), csv(folder, "clicks.csv", clicks)]


def stream(event: Callable[..., Any]) -> Callable[[Path], Place]:
    def made(folder: Path) -> Place:
        lines(folder / "events.ndjson", *events(world(text=True), event))
        return "events.ndjson"

    return made


def insights(folder: Path) -> Place:
    queries, clicked = ubi(world(text=True), "query_response_hit_ids", False)
    lines(folder / "ubi_queries.ndjson", *queries)
    lines(folder / "ubi_events.ndjson", *clicked)
    return "."


def text(name: str, content: str) -> Callable[[Path], Place]:
    def made(folder: Path) -> Place:
        (folder / name).write_text(content, encoding="utf-8")
        return name

    return made


def clax(folder: Path) -> Place:
    pq.write_table(pa.table({name: values * 20 for name, values in CLAX.items()}), folder / "part.parquet")
    return "part.parquet"


def tiangong(folder: Path) -> Place:
    interaction = ([(1, "a"), (2, "b"), (3, "c")], [2])
    return written(folder / "data.xml", *[xml(interaction, query=f"q{n}") for n in range(40)]).name


def standard(name: str) -> Callable[[Path], Place]:
    def made(folder: Path) -> Place:
        place = standards.MAKERS[name](folder)[0]
        return Path(place).name if Path(place) != folder else "."

    return made


def bandit(folder: Path) -> Place:
    text("all.csv", BANDIT)(folder)
    return text("item_context.csv", ",item_id,f\n0,0,a\n1,1,b\n")(folder) and "all.csv"


def sogou(folder: Path) -> Place:
    (folder / "SogouQ.txt").write_bytes("".join(SOGOU.splitlines(keepends=True)[:3] * 20).encode("gb18030"))
    return "SogouQ.txt"


LAYOUTS: Mapping[str, Callable[[Path], Place]] = {
    "wide": wide,
    "nested": nested,
    "long": lambda folder: csv(folder, "log.csv", rows()),
    "long, two clicks": lambda folder: csv(
        folder, "log.csv", [one | {"n_clicks": n % 3 // 2} for n, one in enumerate(rows("is_click"))]
    ),
    "sessions": sessions,
    "events": two_tables,
    "pairs": text("rank.train", "".join(f"{n % 3} qid:{n // 5} 1:0.{n % 7} 2:{n % 2}\n" for n in range(200))),
    "none": lambda folder: csv(folder, "ratings.csv", NONE["ratings"][0]),
}
"""Layout -> writes a table of it, without the names of any standard."""

STANDARDS: Mapping[str, Callable[[Path], Place]] = {
    "avito": standard("avito"),
    "clax": clax,
    "criteo": text("criteo.txt", CRITEO * 20),
    "criteo_paper": text("criteo.txt", TEXT),
    "diginetica": standard("diginetica"),
    "dsjson": standard("dsjson"),
    "expedia": standard("expedia"),
    "finn_slates": standard("finn_slates"),
    "ga4": stream(ga4),
    "kuairand": standard("kuairand"),
    "mind": text(
        "behaviors.tsv",
        "".join(
            f"{n}\tU{n % 9}\t11/11/2019 9:0{n % 9}:00 AM\tN1 N2\tN{n}-0 N{n + 1}-1 N{n + 2}-0\n" for n in range(60)
        ),
    ),
    "obp": standard("obp of npz"),
    "open_bandit": bandit,
    "otto": text(
        "otto.jsonl",
        "".join(
            f'{{"session": {n}, "events": [{{"aid": {n % 7}, "ts": {n}, "type": "clicks"}}]}}\n' for n in range(60)
        ),
    ),
    "recbole": text(
        "ml.inter", "user_id:token\titem_id:token\trating:float\n" + "".join(f"{n % 9}\t{n}\t3\n" for n in range(60))
    ),
    "retailrocket": lambda folder: csv(
        folder,
        "events.csv",
        {
            "timestamp": 1433221332117 + np.arange(len(SHOP)),
            "visitorid": np.arange(len(SHOP)) % 60,
            "event": SHOP,
            "itemid": np.arange(len(SHOP)) % 80,
            "transactionid": np.where(SHOP == "transaction", 7, None).tolist(),
        },
    ),
    "router": standard("router"),
    "segment": stream(segment),
    "snowplow": stream(snowplow),
    "snowplow_tsv": text("enriched.tsv", "".join(map(enriched_event, range(60)))),
    "sogou": sogou,
    "svmlight": standard("svmlight"),
    "tiangong": tiangong,
    "trivago2019": standard("trivago2019"),
    "ubi": insights,
    "yandex": text("train.txt", YANDEX),
}
"""Named standard -> writes a sample of it."""
