"""Logs as strangers write them: one log of our own form in other layouts, orders, names and types, among other columns.

Everything is drawn here; no real table is copied. What each column means is known, so that a reading can be judged:
`python -m benchmarks.strangers.forms` counts how many tables are read rightly, asked about, or read wrongly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import offrank
from benchmarks._page import markdown_head, markdown_row, run
from offrank.errors import OffrankError
from offrank.readers.long import LongLog
from offrank.readers.wide import WideLog

Row = dict[str, Any]
Random = np.random.Generator

_TRADES = {
    "shop": ("request_id", "sku", "slot", "is_click", "search_term", "uid"),
    "search": ("serp_id", "doc_id", "rank", "clicked", "query_id", "cookie"),
    "adverts": ("auction_id", "adId", "placement", "clk", "keyword", "uid"),
    "music": ("recUuid", "trackId", "pos", "clicks", "q", "listener_id"),
    "travel": ("srch_id", "prop_id", "position", "click_bool", "topic", "visitor_id"),
    "news": ("RankingID", "article", "display_position", "hasClicked", "query_text", "user_id"),
    "letters": ("list_no", "asin", "ordinal", "n_clicks", "Query", "member"),
}
VOCABULARIES: Mapping[str, Mapping[str, str]] = {
    trade: dict(zip(("impression", "item", "position", "click", "query", "user"), names, strict=True))
    for trade, names in _TRADES.items()
}
"""Role -> the name of its column, by trade."""


def wide_log(rng: Random, impressions: int = 120, slots: int = 4, pool: int = 12, queries: int = 15) -> list[Row]:
    """Return a log of our own form: Plackett-Luce slates of some candidates each, with clicks that favour the top."""
    appeal, rows = rng.random(pool), []
    for number in range(impressions):
        query = int(rng.integers(queries))
        items = rng.permutation(pool)[: slots + 3]
        score = np.round(1 + 3 * rng.random(pool)[items], 3)
        order = np.argsort(-(np.log(score) + rng.gumbel(size=len(items))))
        slate = items[order[:slots]]
        clicks = rng.random(slots) < appeal[slate] / (1 + np.arange(slots))
        rows.append(
            {
                "impression": number,
                "slate": [f"i{item}" for item in slate],
                "candidates": [f"i{item}" for item in items[order]],
                "clicks": [int(click) for click in clicks],
                "score": [float(one) for one in score[order]],
                "query": f"q{query}",
                "user": f"u{int(rng.integers(30))}",
            }
        )
    return rows


def long_rows(rows: list[Row], *, pool: bool) -> list[Row]:
    """Return the same log with a row per item. pool: whether candidates that were not shown have rows."""
    made = []
    for row in rows:
        shown = len(row["slate"])
        for place, item in enumerate(row["candidates"] if pool else row["slate"]):
            made.append(
                {
                    "impression": row["impression"],
                    "item": item,
                    "position": place + 1 if place < shown else None,
                    "click": row["clicks"][place] if place < shown else None,
                    "score": row["score"][place],
                    "query": row["query"],
                    "user": row["user"],
                }
            )
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


def decoy(name: str, rng: Random, row: Row, at: int) -> Any:
    """Return the value of a column that has no role. at: the number of the row."""
    shown, clicked = int(row["impression"]), bool(row.get("click"))
    values: Mapping[str, Any] = {
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
    return values[name]


DECOYS = (
    *("ts", "epoch", "price", "booked", "Unnamed: 0", "page", "device", "in_stock", "stars", "session_id"),
    *("user_clicks_30d", "variant", "revenue", "title"),
)
"""Columns that have no role, but for the session."""


def written(rows: list[Row], form: Form, rng: Random) -> pa.Table:
    """Return a log of our own form as a stranger writes it."""
    if form.layout == "wide":
        return _wide(rows, form, rng)
    made = []
    for at, row in enumerate(long_rows(rows, pool=form.pool)):
        place, click = row["position"], row["click"]
        one = {form.name(role): value for role, value in row.items()}
        one[form.name("impression")] = f"{row['impression']:08x}-7c"
        one[form.name("position")] = POSITIONS[form.position](place, form.top)
        one[form.name("click")] = CLICKS[form.click](click, at)
        made.append(one | {name: decoy(name, rng, row, at) for name in form.decoys})
    if form.order == "shuffled":
        made = [made[at] for at in rng.permutation(len(made))]
    if form.order == "by position":
        made.sort(key=lambda one: str(one[form.name("position")]))
    return pa.Table.from_pylist(made)


def _wide(rows: list[Row], form: Form, rng: Random) -> pa.Table:
    """Return a log with a row per impression. Decoys are of the row, but for those of an item."""
    made = []
    for at, row in enumerate(rows):
        one = {form.name("impression"): f"{row['impression']:08x}-7c", form.name("slate"): row["slate"]}
        one[form.name("clicks")] = [CLICKS[form.click](click, at) for click in row["clicks"]]
        if form.pool:
            one |= {"candidate_ids": row["candidates"], "score": row["score"]}
        else:
            one |= {"score": row["score"][: len(row["slate"])]}
        one |= {form.name(role): row[role] for role in ("query", "user")}
        made.append(one | {name: decoy(name, rng, row, at) for name in form.decoys})
    if form.order == "shuffled":
        made = [made[at] for at in rng.permutation(len(made))]
    return pa.Table.from_pylist(made)


def own_form(rows: list[Row], form: Form) -> list[Row]:
    """Return the log that a form must give back."""
    if form.pool:
        return rows
    shown = [len(row["slate"]) for row in rows]
    return [
        {**row, "candidates": row["slate"], "score": row["score"][:slots]}
        for row, slots in zip(rows, shown, strict=True)
    ]


def roles(form: Form) -> dict[str, str]:
    """Return the columns of a form by role, as a reading must find them."""
    wide = ["slate", "clicks", *(["candidates"] if form.pool else [])]
    known = wide if form.layout == "wide" else ["impression", "item", "position", "click"]
    found = {role: form.name(role) for role in (*known, "query", "user")}
    found |= {"session": "session_id"} if "session_id" in form.decoys else {}
    return {**found, "candidates": "candidate_ids"} if "candidates" in found else found


def random_form(rng: Random) -> Form:
    """Return a form drawn at random: names of several trades, other columns, any order and any way to write it."""
    trades = list(VOCABULARIES)
    names = {role: VOCABULARIES[str(rng.choice(trades))][role] for role in VOCABULARIES["shop"]}
    layout = str(rng.choice(["long", "long", "wide"]))
    flags = ("number", "bool", "yes", "time") if layout == "wide" else tuple(CLICKS)
    return Form(
        layout=layout,
        order=str(rng.choice(["by list", "shuffled", "by position"])),
        top=int(rng.integers(2)),
        click=str(rng.choice(flags)),
        position=str(rng.choice(list(POSITIONS))),
        pool=bool(rng.integers(2)),
        decoys=tuple(map(str, rng.permutation(DECOYS)[: rng.integers(0, 8)])),
        names=names,
    )


def ratings(rng: Random) -> pa.Table:
    """Return what users think of items: no list was shown."""
    pairs = [(user, item) for user in range(60) for item in rng.choice(40, 8, replace=False)]
    rows = [{"user_id": user, "movie_id": int(item), "rating": int(rng.integers(1, 6))} for user, item in pairs]
    return pa.Table.from_pylist([{**row, "timestamp": 1.6e9 + at} for at, row in enumerate(rows)])


def orders(rng: Random) -> pa.Table:
    """Return the lines of orders: they are numbered, but were not shown as a list."""
    rows = [
        {"order_id": f"o{order}", "line": line + 1, "product_id": int(item), "returned": int(rng.random() < 0.1)}
        for order in range(150)
        for line, item in enumerate(rng.choice(60, rng.integers(1, 7), replace=False))
    ]
    return pa.Table.from_pylist(rows)


def totals(rng: Random) -> pa.Table:
    """Return counts of impressions and clicks by query, document and position."""
    rows = []
    for query in range(80):
        for place, doc in enumerate(rng.choice(50, 5, replace=False)):
            shown = int(rng.integers(20, 400))
            clicks = int(rng.binomial(shown, 0.3 / (place + 1)))
            rows.append(
                {
                    "query": f"q{query}",
                    "doc_id": int(doc),
                    "position": place + 1,
                    "impressions": shown,
                    "clicks": clicks,
                }
            )
    return pa.Table.from_pylist(rows)


def query_lists(rng: Random) -> pa.Table:
    """Return lists of few queries, with nothing that tells the impressions of one query apart."""
    rows = long_rows(wide_log(rng, queries=6), pool=False)
    return pa.Table.from_pylist(rows).select(["query", "item", "position", "click"])


def two_clicks(rng: Random) -> pa.Table:
    """Return a log with two kinds of clicks."""
    table = written(wide_log(rng), Form(pool=False), rng)
    return table.append_column("n_clicks", pa.array(rng.integers(0, 3, table.num_rows)))


def unnamed_click(rng: Random) -> pa.Table:
    """Return a log whose click is called as any other flag."""
    return written(wide_log(rng), Form(pool=False, decoys=("in_stock",), names={"click": "flag"}), rng)


def without(role: str) -> Callable[[Random], pa.Table]:
    """Return what makes a log that lacks a column."""
    return lambda rng: written(wide_log(rng), form := Form(pool=False), rng).drop_columns([form.name(role)])


TRAPS: Mapping[str, Callable[[Random], pa.Table]] = {
    "ratings": ratings,
    "orders": orders,
    "totals": totals,
    "lists of queries": query_lists,
    "two clicks": two_clicks,
    "unnamed click": unnamed_click,
    "no click": without("click"),
    "no position": without("position"),
    "no impression": without("impression"),
    "no item": without("item"),
}
"""Tables that are no logs, or leave something open: none may be read without a question."""


def roles_read(table: pa.Table) -> dict[str, str] | None:
    """Return the columns by role as a table is read, None if a question is asked."""
    try:
        log = offrank.read_log(table)
    except OffrankError:
        return None
    assert isinstance(log, WideLog | LongLog)
    return dict(log.description.roles)


def outcome(seed: int) -> str:
    """Return what becomes of one random table."""
    rng = np.random.default_rng(seed)
    form = random_form(rng)
    found = roles_read(written(wide_log(rng, impressions=int(rng.integers(30, 300))), form, rng))
    if found is None:
        return "asked"
    return "right" if found == roles(form) else "wrong"


def any_table(*, tables: int = 60) -> Iterator[str]:
    """How many tables are read rightly, asked about, or read wrongly."""
    logs = Counter(outcome(seed) for seed in range(tables))
    traps = Counter(
        "asked" if roles_read(make(np.random.default_rng(0))) is None else "wrong" for make in TRAPS.values()
    )
    yield from markdown_head("Tables", "read rightly", "asked about", "read wrongly")
    for what, found in (("logs of any names, orders and types", logs), ("no logs, or something is open", traps)):
        yield markdown_row(f"{sum(found.values())} {what}", found["right"], found["asked"], found["wrong"])


COMMANDS = {any_table: "any table"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
