"""Logs as strangers write them: one log of our own form in other layouts, orders, names, types and forms of file.

    python -m benchmarks.strangers.forms [--tables 60] [--write]

Everything is drawn here; no real table is copied. What each column means is known, so that a reading can be judged: so
many tables are read rightly, asked about, or read wrongly.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather, orc

import offrank
from benchmarks._page import markdown_head, markdown_row, run
from offrank.errors import OffrankError
from offrank.readers.long import LongLog
from offrank.readers.wide import WideLog

Row = dict[str, Any]
Random = np.random.Generator

# Forms of file --------------------------------------------------------------------------------------------------------


def saved(rows: list[Row], folder: Path, form: str, name: str = "table") -> Path:
    """The rows as a file of this form, one of `FORMS` or of `TEXTS`; `hive` is a folder a value of the first column."""
    if form == "hive":
        day = next(iter(rows[0]))
        for value in {row[day]: 0 for row in rows}:
            (part := folder / f"{day}={value}").mkdir()
            kept = [{key: row[key] for key in row if key != day} for row in rows if row[day] == value]
            pq.write_table(pa.Table.from_pylist(kept), part / "part-0.parquet")
        return folder
    if form in FORMS:
        FORMS[form](rows, path := folder / f"{name}.{'parquet' if form == 'maps' else form}")
        return path
    suffix, text = TEXTS[form]
    path = folder / f"{name}.{suffix}"
    raw = text(rows).encode()
    pack = {"gz": gzip.compress, "zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}.get(suffix.split(".")[-1])
    path.write_bytes(pack(raw) if pack else raw)
    return path


def by_pandas(**options: Any) -> Callable[[list[Row]], str]:
    return lambda rows: str(pd.DataFrame(rows).to_csv(**({"index": False} | options)))


def by_csv(delimiter: str = ",", head: bool = True, comma: bool = False) -> Callable[[list[Row]], str]:
    """As Python writes it: whole numbers stay whole beside nothing. comma: write decimal commas."""

    def cell(value: Any) -> Any:
        return str(value).replace(".", ",") if comma and isinstance(value, float) else value

    def text(rows: list[Row]) -> str:
        writer = csv.writer(file := StringIO(), delimiter=delimiter)
        writer.writerows([list(rows[0])] if head else [])
        writer.writerows([cell(one) for one in row.values()] for row in rows)
        return file.getvalue()

    return text


def lines(rows: list[Row]) -> str:
    return "".join(json.dumps(row, default=str) + "\n" for row in rows)


TEXTS: Mapping[str, tuple[str, Callable[[list[Row]], str]]] = {
    "csv": ("csv", by_pandas()),
    "semicolon": ("csv", by_pandas(sep=";", decimal=",")),
    "tab": ("tsv", by_pandas(sep="\t")),
    "bare": ("tsv", by_pandas(sep="\t", header=False)),
    "pandas": ("csv", by_pandas(index=True)),
    "bom": ("csv", lambda rows: "\ufeff" + by_pandas()(rows)),
    "gz": ("csv.gz", by_pandas()),
    "zst": ("csv.zst", by_pandas()),
    "plain": ("csv", by_csv()),
    "plain;": ("csv", by_csv(";")),
    "plain;,": ("csv", by_csv(";", comma=True)),
    "plaintab": ("tsv", by_csv("\t")),
    "plaintxt": ("txt", by_csv("\t")),
    "plainbare": ("tsv", by_csv("\t", head=False)),
    "plaindat": ("dat", by_csv()),
    "plaingz": ("csv.gz", by_csv()),
    "jsonl": ("jsonl", lines),
    "jsongz": ("ndjson.gz", lines),
    "json": ("json", lambda rows: "[" + ",\n".join(lines(rows).splitlines()) + "]"),
}
"""Form -> what its file's name ends with, and its text. `plain` is written by Python, the others by pandas."""


def to_sqlite(rows: list[Row], path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE log ({', '.join(rows[0])})")
        asked = f"INSERT INTO log VALUES ({', '.join('?' * len(rows[0]))})"
        base.executemany(asked, [tuple(row.values()) for row in rows])


def to_duckdb(rows: list[Row], path: Path) -> None:
    with duckdb.connect(str(path)) as base:
        base.register("rows", pa.Table.from_pylist(rows))
        base.execute("create table log as select * from rows")


def to_maps(rows: list[Row], path: Path) -> None:
    """A Parquet file whose objects are maps."""
    maps = [name for name, value in rows[0].items() if isinstance(value, dict)]
    made = pa.Table.from_pylist([{name: value for name, value in row.items() if name not in maps} for row in rows])
    for name in maps:
        values = pa.array([list(row[name].items()) for row in rows], pa.map_(pa.string(), pa.float64()))
        made = made.append_column(name, values)
    pq.write_table(made, path)


FORMS: Mapping[str, Callable[[list[Row], Path], object]] = {
    "parquet": lambda rows, path: pq.write_table(pa.Table.from_pylist(rows), path),
    "arrow": lambda rows, path: feather.write_feather(pa.Table.from_pylist(rows), str(path)),
    "orc": lambda rows, path: orc.write_table(pa.Table.from_pylist(rows), path),
    "sqlite": to_sqlite,
    "maps": to_maps,
    "duckdb": to_duckdb,
}

# Forms of a log -------------------------------------------------------------------------------------------------------

ROLES = ("impression", "item", "position", "click", "query", "user")
VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    trade: dict(zip(ROLES, names.split(), strict=True))
    for trade, names in {
        "shop": "request_id sku slot is_click search_term uid",
        "search": "serp_id doc_id rank clicked query_id cookie",
        "adverts": "auction_id adId placement clk keyword uid",
        "music": "recUuid trackId pos clicks q listener_id",
        "travel": "srch_id prop_id position click_bool topic visitor_id",
        "news": "RankingID article display_position hasClicked query_text user_id",
        "letters": "list_no asin ordinal n_clicks Query member",
    }.items()
}
"""Role -> the name of its column, by trade."""


def wide_log(rng: Random, impressions: int = 120, slots: int = 4, pool: int = 12, queries: int = 15) -> list[Row]:
    """A log of our own form: Plackett-Luce slates of some candidates each, with clicks that favour the top."""
    appeal, rows = rng.random(pool), []
    for number in range(impressions):
        query = int(rng.integers(queries))
        items = rng.permutation(pool)[: slots + 3]
        score = np.round(1 + 3 * rng.random(pool)[items], 3)
        order = np.argsort(-(np.log(score) + rng.gumbel(size=len(items))))
        slate = items[order[:slots]]
        clicks = rng.random(slots) < appeal[slate] / (1 + np.arange(slots))
        row: Row = {"impression": number, "slate": [f"i{item}" for item in slate]}
        row |= {"candidates": [f"i{item}" for item in items[order]], "clicks": clicks.astype(int).tolist()}
        row |= {"score": score[order].tolist(), "query": f"q{query}", "user": f"u{int(rng.integers(30))}"}
        rows.append(row)
    return rows


def long_rows(rows: list[Row], *, pool: bool) -> list[Row]:
    """The same log with a row per item. pool: whether candidates that were not shown have rows."""
    made = []
    for row in rows:
        for place, item in enumerate(row["candidates"] if pool else row["slate"]):
            seen = place < len(row["slate"])
            one = {"impression": row["impression"], "item": item, "position": place + 1 if seen else None}
            one |= {"click": row["clicks"][place] if seen else None, "score": row["score"][place]}
            made.append(one | {"query": row["query"], "user": row["user"]})
    return made


CLICKS: Mapping[str, Callable[[int | None, int], Any]] = {
    "number": lambda click, _: click,
    "bool": lambda click, _: None if click is None else bool(click),
    "yes": lambda click, _: None if click is None else ("yes" if click else "no"),
    "True": lambda click, _: None if click is None else str(bool(click)),
    "time": lambda click, row: np.datetime64("2024-05-01T08:00:00", "ms") + row if click else None,
    "time text": lambda click, row: f"2024-05-01T08:{row % 60:02}:00Z" if click else "",
}
"""How clicks are written: from 1, 0 or None, and the number of the row."""
POSITIONS: Mapping[str, Callable[[int | None, int], Any]] = {
    "number": lambda place, top: None if place is None else place - 1 + top,
    "text": lambda place, top: None if place is None else str(place - 1 + top),
    "01": lambda place, top: "" if place is None else f"{place - 1 + top:02}",
    "1st": lambda place, _: None if place is None else ["", "1st", "2nd", "3rd"][place] if place < 4 else f"{place}th",
    "#1": lambda place, _: None if place is None else f"#{place}",
}
"""How positions are written: from 1 or None, and the number at the top."""


@dataclass(frozen=True)
class Form:
    """How a log is written. order: "by list", "shuffled" or "by position". decoys: the other columns."""

    vocabulary: str = "shop"
    layout: str = "long"
    order: str = "by list"
    top: int = 1
    click: str = "number"
    position: str = "number"
    pool: bool = True
    decoys: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, role: str) -> str:
        """The name of a column in this form."""
        role = {"slate": "item", "clicks": "click"}.get(role, role)
        return {**VOCABULARIES[self.vocabulary], **self.names}.get(role, role)


def decoys(rng: Random, row: Row, at: int) -> Row:
    """Columns that have no role, but for the session, in a row of this number."""
    shown, clicked = int(row["impression"]), bool(row.get("click"))
    return {
        "ts": np.datetime64("2024-05-01T00:00:00", "ms") + 977 * shown,
        "epoch": 1714521600 + 13 * shown,
        "price": round(float(rng.gamma(2, 20)), 2),
        "booked": int(clicked and rng.random() < 0.4),
        "Unnamed: 0": at,
        "page": 1,
        "device": ["phone", "desk", "tablet"][shown % 3],
        "in_stock": int(rng.random() < 0.9),
        "stars": int(rng.integers(1, 6)),
        "session_id": f"s{shown // 3}",
        "user_clicks_30d": int(rng.integers(0, 9)),
        "variant": "AB"[shown % 2],
        "revenue": round(float(rng.gamma(2, 9)), 2) if clicked and rng.random() < 0.3 else 0.0,
        "title": f"The {row.get('item')}",
    }


DECOYS = tuple(decoys(np.random.default_rng(0), {"impression": 0}, 0))


def written(rows: list[Row], form: Form, rng: Random) -> pa.Table:
    """A log of our own form as a stranger writes it; with a row per impression, decoys are of the row."""
    made = []
    for at, row in enumerate(rows if form.layout == "wide" else long_rows(rows, pool=form.pool)):
        one = (wide_row if form.layout == "wide" else long_row)(row, form, at)
        one[form.name("impression")] = f"{row['impression']:08x}-7c"
        made.append(one | {name: decoys(rng, row, at)[name] for name in form.decoys})
    if form.order == "shuffled":
        made = [made[at] for at in rng.permutation(len(made))]
    if form.order == "by position" and form.layout == "long":
        made.sort(key=lambda one: str(one[form.name("position")]))
    return pa.Table.from_pylist(made)


def long_row(row: Row, form: Form, at: int) -> Row:
    one = {form.name(role): value for role, value in row.items()}
    one[form.name("position")] = POSITIONS[form.position](row["position"], form.top)
    return one | {form.name("click"): CLICKS[form.click](row["click"], at)}


def wide_row(row: Row, form: Form, at: int) -> Row:
    one = {form.name("impression"): "", form.name("slate"): row["slate"]}
    one[form.name("clicks")] = [CLICKS[form.click](click, at) for click in row["clicks"]]
    one |= {"candidate_ids": row["candidates"]} if form.pool else {}
    one["score"] = row["score"][: None if form.pool else len(row["slate"])]
    return one | {form.name(role): row[role] for role in ("query", "user")}


def own_form(rows: list[Row], form: Form) -> list[Row]:
    """The log that a form must give back."""
    if form.pool:
        return rows
    return [{**row, "candidates": row["slate"], "score": row["score"][: len(row["slate"])]} for row in rows]


def roles(form: Form) -> dict[str, str]:
    """The columns of a form by role, as a reading must find them."""
    wide = ["slate", "clicks", *(["candidates"] if form.pool else [])]
    found = {role: form.name(role) for role in (*(wide if form.layout == "wide" else ROLES[:4]), "query", "user")}
    found |= {"session": "session_id"} if "session_id" in form.decoys else {}
    return {**found, "candidates": "candidate_ids"} if "candidates" in found else found


def random_form(rng: Random) -> Form:
    """A form drawn at random: names of several trades, other columns, any order and any way to write it."""
    trades = list(VOCABULARIES)
    names = {role: VOCABULARIES[str(rng.choice(trades))][role] for role in ROLES}
    layout = str(rng.choice(["long", "long", "wide"]))
    flags = ("number", "bool", "yes", "time") if layout == "wide" else tuple(CLICKS)
    order, top = str(rng.choice(["by list", "shuffled", "by position"])), int(rng.integers(2))
    click, position, pool = str(rng.choice(flags)), str(rng.choice(list(POSITIONS))), bool(rng.integers(2))
    beside = tuple(map(str, rng.permutation(DECOYS)[: rng.integers(0, 8)]))
    return Form("shop", layout, order, top, click, position, pool, beside, names)


# Tables that are no logs, or leave something open ---------------------------------------------------------------------


def ratings(rng: Random) -> pa.Table:
    """What users think of items: no list was shown."""
    pairs = [(user, item) for user in range(60) for item in rng.choice(40, 8, replace=False)]
    rows = [{"user_id": user, "movie_id": int(item), "rating": int(rng.integers(1, 6))} for user, item in pairs]
    return pa.Table.from_pylist([{**row, "timestamp": 1.6e9 + at} for at, row in enumerate(rows)])


def orders(rng: Random) -> pa.Table:
    """The lines of orders: they are numbered, but were not shown as a list."""
    rows = [
        {"order_id": f"o{order}", "line": line + 1, "product_id": int(item), "returned": int(rng.random() < 0.1)}
        for order in range(150)
        for line, item in enumerate(rng.choice(60, rng.integers(1, 7), replace=False))
    ]
    return pa.Table.from_pylist(rows)


def totals(rng: Random) -> pa.Table:
    """Counts of impressions and clicks by query, document and position."""
    rows = []
    for query in range(80):
        for place, doc in enumerate(rng.choice(50, 5, replace=False), 1):
            shown = int(rng.integers(20, 400))
            row = {"query": f"q{query}", "doc_id": int(doc), "position": place, "impressions": shown}
            rows.append({**row, "clicks": int(rng.binomial(shown, 0.3 / place))})
    return pa.Table.from_pylist(rows)


def query_lists(rng: Random) -> pa.Table:
    """Lists of few queries, with nothing that tells the impressions of one query apart."""
    rows = long_rows(wide_log(rng, queries=6), pool=False)
    return pa.Table.from_pylist(rows).select(["query", "item", "position", "click"])


def two_clicks(rng: Random) -> pa.Table:
    table = written(wide_log(rng), Form(pool=False), rng)
    return table.append_column("n_clicks", pa.array(rng.integers(0, 3, table.num_rows)))


def without(role: str) -> Callable[[Random], pa.Table]:
    return lambda rng: written(wide_log(rng), form := Form(pool=False), rng).drop_columns([form.name(role)])


FLAG = {"click": "flag"}
TRAPS: Mapping[str, Callable[[Random], pa.Table]] = {
    "ratings": ratings,
    "orders": orders,
    "totals": totals,
    "lists of queries": query_lists,
    "two clicks": two_clicks,
    "unnamed click": lambda rng: written(wide_log(rng), Form(pool=False, decoys=("in_stock",), names=FLAG), rng),
    "no click": without("click"),
    "no position": without("position"),
    "no impression": without("impression"),
    "no item": without("item"),
}
"""Tables that are no logs, or leave something open: none may be read without a question."""


def roles_read(table: pa.Table) -> dict[str, str] | None:
    """The columns by role as a table is read, None if a question is asked."""
    try:
        log = offrank.read_log(table)
    except OffrankError:
        return None
    assert isinstance(log, WideLog | LongLog)
    return dict(log.description.roles)


def outcome(seed: int) -> str:
    """What becomes of one random table."""
    rng = np.random.default_rng(seed)
    form = random_form(rng)
    found = roles_read(written(wide_log(rng, impressions=int(rng.integers(30, 300))), form, rng))
    if found is None:
        return "asked"
    return "right" if found == roles(form) else "wrong"


def any_table(*, tables: int = 60) -> Iterator[str]:
    """How many tables are read rightly, asked about, or read wrongly."""
    logs = Counter(outcome(seed) for seed in range(tables))
    opened = [roles_read(make(np.random.default_rng(0))) for make in TRAPS.values()]
    traps = Counter("asked" if found is None else "wrong" for found in opened)
    yield from markdown_head("Tables", "read rightly", "asked about", "read wrongly")
    for what, found in (("logs of any names, orders and types", logs), ("no logs, or something is open", traps)):
        yield markdown_row(f"{sum(found.values())} {what}", found["right"], found["asked"], found["wrong"])


COMMANDS = {any_table: "any table"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
