"""Tables of strangers from one line of words each: `search_id=I.uid sku=D.sku pos=P.1 clicked=C.01`.

The first letter of a kind is the role, so that what is true follows from what is written: I impression, D item,
P position, C click, K chance of a slot, R chance of a slate, L candidates. In a row a request, D, C, K and `l.` give
lists.
"""

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._more_tables import saved, truth
from benchmarks._more_worlds import START, WORDS, Request, Shown, hashed, ms, requests, uid
from benchmarks._strangers_files import Maker, Table, Truth
from benchmarks._strangers_visits import Random, Row

ROLES = {
    "I": "impression",
    "D": "item",
    "P": "position",
    "C": "click",
    "K": "slot_propensity",
    "R": "propensity",
    "L": "candidates",
}
IDS: dict[str, Callable[[int], Any]] = {
    "int": lambda key: 40000 + key,
    "small": lambda key: key,
    "sku": lambda key: f"SKU-{key:04d}",
    "pad": lambda key: f"{key:05d}",
    "uid": lambda key: uid("d", key),
    "hash": lambda key: hashed("d", key),
    "big": lambda key: 9007199254740993 + 7 * key,
    "url": lambda key: f"https://example.org/p/{key}",
    "word": lambda key: f"{WORDS[key % 10].replace(' ', '-')}-{key}",
    "seq": lambda n: 500000 + n,
    "hex": lambda n: f"{hashed('q', n) % 2**64:016x}",
    "req": lambda n: f"R{n:06d}",
}
CLICKS: dict[str, Callable[[Shown], Any]] = {
    "01": lambda i: i.click,
    "bool": lambda i: bool(i.click),
    "f": lambda i: float(i.click),
    "null": lambda i: 1 if i.click else None,
    "yn": lambda i: "Y" if i.click else "N",
    "ja": lambda i: "ja" if i.click else "nein",
    "oui": lambda i: "oui" if i.click else "non",
    "word": lambda i: "click" if i.click else "none",
    "n": lambda i: i.click * (1 + i.key % 3),
    "at": lambda i: stamp(START + dt.timedelta(seconds=97 * i.key + 13 * i.rank)) if i.click else None,
}
PLACES: dict[str, Callable[[int], Any]] = {
    "0": lambda rank: rank,
    "1": lambda rank: rank + 1,
    "f": lambda rank: rank + 1.0,
    "pad": lambda rank: f"{rank + 1:02d}",
    "hash": lambda rank: f"#{rank + 1}",
    "th": lambda rank: f"{rank + 1}" + {0: "st", 1: "nd", 2: "rd"}.get(rank, "th"),
}
ITEM: dict[str, Callable[[Shown], Any]] = {
    "s": lambda i: i.score,
    "s.exp": lambda i: round(math.exp(i.score), 6),
    "s.ctr": lambda i: round(1 / (1 + math.exp(2 - i.score)), 5),
    "s.neg": lambda i: round(4 - i.score, 4),
    "other": lambda i: i.other,
    "ctr": lambda i: round(1 / (1 + math.exp(2.5 - i.other)), 5),
    "price": lambda i: i.price,
    "cents": lambda i: round(100 * i.price),
    "dist": lambda i: i.distance,
    "order": lambda i: i.order,
    "orders": lambda i: bool(i.order),
    "rev": lambda i: round(i.price * i.order, 2),
    "dwell": lambda i: i.dwell,
    "dwells": lambda i: i.dwell or None,
    "pub": lambda i: stamp(START - dt.timedelta(hours=3 * i.key)),
    "age": lambda i: 3 * i.key,
    "cat": lambda i: f"cat{i.key % 5}",
    "brand": lambda i: 100 + i.key % 7,
    "title": lambda i: f"{WORDS[i.key % 10]} {i.key}",
    "stars": lambda i: 1 + i.key % 5,
    "ad": lambda i: int(i.key % 4 == 0),
    "stock": lambda i: i.key * 13 % 50,
    "logp": lambda i: round(math.log(i.chance), 6),
    "vec": lambda i: [round(math.sin(i.key + n), 3) for n in range(4)],
}
REQUEST: dict[str, Callable[[Request], Any]] = {
    "at": lambda r: stamp(r.at),
    "iso": lambda r: r.at.isoformat(),
    "ms": lambda r: ms(r.at),
    "sec": lambda r: ms(r.at) // 1000,
    "date": lambda r: r.at.strftime("%Y-%m-%d"),
    "de": lambda r: r.at.strftime("%d.%m.%Y %H:%M"),
    "hour": lambda r: r.at.hour,
    "user": lambda r: 7000 + r.user,
    "user.uid": lambda r: uid("u", r.user),
    "user.hex": lambda r: f"{hashed('u', r.user) % 2**48:012x}",
    "sess": lambda r: f"{r.user}-{r.n // 40}",
    "dev": lambda r: ("ios", "android", "web")[r.user % 3],
    "mobile": lambda r: r.user % 2,
    "land": lambda r: ("DE", "FR", "ES", "PL", "NA")[r.user % 5],
    "q": lambda r: r.query,
    "arm": lambda r: r.arm,
    "arm.name": lambda r: {"A": "control", "B": "treatment"}[r.arm],
    "expl": lambda r: r.explored,
    "n": lambda r: r.n,
    "page": lambda _: 1,
    "logr": lambda r: round(math.log(r.chance), 6),
    "any": lambda r: hashed("any", r.n) % 100,
    "any2": lambda r: round(hashed("y", r.n) % 10000 / 9973, 4),
    "few": lambda r: hashed("few", r.n) % 5 + 1,
    "clicks": lambda r: sum(i.click for i in r.shown),
    "which": lambda r: next((i.rank + 1 for i in r.shown if i.click), None),
    "sold": lambda r: int(any(i.order for i in r.shown)),
    "text": lambda r: " ".join(f"N{i.key}-{i.click}" for i in r.shown),
    "money": lambda r: round(sum(i.price * i.order for i in r.shown), 2),
}


def stamp(at: dt.datetime) -> str:
    """A time as databases print it."""
    return at.strftime("%Y-%m-%d %H:%M:%S")


def unseen(r: Request) -> list[Shown]:
    """The candidates of a request that were not shown."""
    shown = {i.key for i in r.shown}
    known = zip(r.candidates, r.scores, strict=True)
    return [Shown(key, -1, score, 0, 0, 0, 0, 0, 0, 0) for key, score in known if key not in shown]


PREFIXED: dict[str, Callable[[str, Request, Shown], Any]] = {
    "=": lambda kind, _r, _i: float(kind) if kind.replace(".", "", 1).isdigit() else kind,
    "I": lambda kind, r, _i: IDS[kind[1:]](r.n),
    "D": lambda kind, _r, i: IDS[kind[1:]](i.key),
    "T": lambda kind, r, _i: IDS[kind[1:]](r.shown[1].key),
    "L": lambda kind, r, _i: [IDS[kind[1:]](key) for key in r.candidates],
    "P": lambda kind, _r, i: PLACES[kind[1:]](i.rank) if i.rank >= 0 else None,
    "C": lambda kind, _r, i: CLICKS[kind[1:]](i),
    "K": lambda _kind, _r, i: i.chance,
    "R": lambda _kind, r, _i: r.chance,
}


def value(kind: str, r: Request, i: Shown) -> Any:
    """What stands in a cell of this kind."""
    if kind in ("l.s", "l.s.exp"):
        return [score if kind == "l.s" else round(math.exp(score), 6) for score in r.scores]
    if kind[:2] == "l.":
        return [value(kind[2:], r, one) for one in r.shown]
    if kind[0] in PREFIXED:
        return PREFIXED[kind[0]](kind[1:], r, i)
    return ITEM[kind](i) if kind in ITEM else REQUEST[kind](r)


@dataclass(frozen=True)
class Column:
    """A column, and the list of structs that it is in."""

    inside: str
    name: str
    kind: str

    @property
    def listed(self) -> bool:
        """Whether a row a request holds a list of it."""
        return self.kind[:2] in ("D.", "C.", "K", "l.")

    @property
    def full(self) -> str:
        """Its name as it is read: with dots, and without numbers."""
        return f"{self.inside}.{self.name}".strip(".").replace("{}", "").strip("_")


def columns(text: str) -> list[Column]:
    """The columns of a line of words."""
    inside, found = "", []
    for word in text.split():
        name, kind = word.split("=", 1)
        if kind[0] == "[":
            inside, (name, kind) = name, kind[1:].split("=", 1)
        found.append(Column(inside, name, kind.rstrip("]")))
        inside = "" if kind[-1] == "]" else inside
    return found


def row(r: Request, found: list[Column], glue: str) -> Row:
    """A row a request: lists beside each other, joined where there is glue, lists of structs, or numbered columns."""
    line: Row = {}
    for column in found:
        if column.inside:
            things = line.setdefault(column.inside, [{} for _ in r.shown])
            for thing, i in zip(things, r.shown, strict=True):
                thing[column.name] = value(column.kind, r, i)
        elif "{" in column.name:
            line |= {column.name.format(i.rank + 1): value(column.kind, r, i) for i in r.shown}
        else:
            kind = "l." + column.kind.removeprefix("l.") if column.listed else column.kind
            cell = value(kind, r, r.shown[0])
            line[column.name] = glue.join(map(str, cell)) if glue and isinstance(cell, list) else cell
    return line


def rows(found: list[Column], layout: str, flags: list[str], made: list[Request]) -> list[Row]:
    """The rows of a table."""
    if layout in ("wide", "sessions"):
        return [row(r, found, next((flag[5:] for flag in flags if flag.startswith("glue=")), "")) for r in made]
    if layout == "stream":
        return [
            {one.name: one.kind[2:].split("/")[n] if one.kind[0] == "E" else value(one.kind, r, i) for one in found}
            for r in made
            for n in (0, 1)
            for i in r.shown
            if i.click or not n
        ]
    single = layout in ("none", "router") and "clicked" not in flags
    some = [(r, i) for r in made for i in (r.shown[:1] if single else r.shown) if i.click or "clicked" not in flags]
    if "all" in flags:
        some = [(r, i) for r in made for i in [*r.shown, *unseen(r)]]
    lines = [{one.name: value(one.kind, r, i) for one in found} for r, i in some]
    return [lines[at] for at in np.random.default_rng(5).permutation(len(lines))] if "mixed" in flags else lines


def true(found: list[Column], layout: str, form: str, drawn: str) -> Truth:
    """What is true of a table: roles, law, the score that it was sorted or drawn by."""
    if form == "bare":
        found = [Column("", f"column_{n}", one.kind) for n, one in enumerate(found, 1)]
    if layout not in ("long", "wide"):
        return truth("events" if layout in ("stream", "two") else layout, drawn, "")
    of = ROLES | ({"I": "", "D": "slate", "C": "clicks"} if layout == "wide" else {})
    told = {of.get(one.kind[0], ""): one.full for one in found if not (one.inside and one.kind[0] == "P")}
    score = next((one.full for one in found if one.kind.removeprefix("l.") in ("s", "s.exp")), "")
    return truth(layout, drawn, " ".join(f"{role}={name}" for role, name in told.items() if role) + f" score={score}")


def terse(lines: str, into: dict[str, Maker]) -> None:
    """Add tables, some lines each: `name: layout form how drawn`, flags and sizes; and the columns."""
    for block in lines.strip().split("\n\n"):
        head, text = block.split("\n", 1)
        name, said = head.split(": ")
        into[name] = _maker(text, said.split(), len(into))


def _maker(text: str, said: list[str], number: int) -> Maker:
    layout, form, how, drawn, *more = said
    sizes = {name: int(size) or None for name, size in (word.split("=") for word in more if word[-1].isdigit())}
    parts = [columns(part) for part in text.split("||")]

    def write(_: Random, folder: Path) -> Table:
        made = requests(how, number, **({"choice": 10} | sizes))
        for part, name, flags in zip(parts, ("impressions", "clicks"), (more, [*more, "clicked"]), strict=False):
            path = saved(rows(part, layout, flags, made), folder, form, name if parts[1:] else "table")
        return folder if parts[1:] else path, true(parts[0], layout, form, drawn.replace("-", ""))

    return write
