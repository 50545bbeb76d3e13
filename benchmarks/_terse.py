"""Tables of strangers from one line of words each: `search_id=I.uid sku=D.sku pos=P.1 clicked=C.01`.

The first letter of a kind is the role, so that what is true follows from what is written: I impression, D item, P position,
C click, K chance of a slot, R chance of a slate, L candidates. In a row a request, D, C, K and `l.` give lists.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._more_tables import saved, truth
from benchmarks._more_worlds import START, WORDS, Request, Shown, hashed, ms, requests, uid
from benchmarks._strangers_files import Maker, Table
from benchmarks._strangers_visits import Random, Row

ROLES = dict(I="impression", D="item", P="position", C="click", K="slot_propensity", R="propensity", L="candidates")
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


def value(kind: str, r: Request, i: Shown) -> Any:
    """What stands in a cell of this kind."""
    if kind[0] == "=":
        return float(kind[1:]) if kind[1:].replace(".", "", 1).isdigit() else kind[1:]
    if kind[:2] == "L.":
        return [IDS[kind[2:]](key) for key in r.candidates]
    if kind in ("l.s", "l.s.exp"):
        return [score if kind == "l.s" else round(math.exp(score), 6) for score in r.scores]
    if kind[:2] == "l.":
        return [value(kind[2:], r, one) for one in r.shown]
    if kind[:2] in ("D.", "I.", "T."):
        return IDS[kind[2:]](i.key if kind[0] == "D" else r.n if kind[0] == "I" else r.shown[1].key)
    if kind[:2] == "C.":
        return CLICKS[kind[2:]](i)
    if kind[:2] == "P.":
        return PLACES[kind[2:]](i.rank) if i.rank >= 0 else None
    if kind in "KR":
        return i.chance if kind == "K" else r.chance
    return ITEM[kind](i) if kind in ITEM else REQUEST[kind](r)


def cells(text: str) -> Iterator[tuple[str, str, str]]:
    """The columns of a line of words: the list of structs that each is in, its name and its kind."""
    inside = ""
    for word in text.split():
        name, kind = word.split("=", 1)
        if kind[0] == "[":
            inside, (name, kind) = name, kind[1:].split("=", 1)
        yield inside, name, kind.rstrip("]")
        inside = "" if kind[-1] == "]" else inside


def row(r: Request, found: list[tuple[str, str, str]], glue: str = "") -> Row:
    """A row a request: lists beside each other, lists of structs, or numbered columns."""
    line: Row = {}
    for inside, name, kind in found:
        if inside:
            things = line.setdefault(inside, [{} for _ in r.shown])
            for thing, i in zip(things, r.shown, strict=True):
                thing[name] = value(kind, r, i)
        elif "{" in name:
            line |= {name.format(i.rank + 1): value(kind, r, i) for i in r.shown}
        elif kind[0] in "DCKl" and kind[1:2] in (".", ""):
            listed = value("l." + kind.removeprefix("l."), r, r.shown[0])
            line[name] = glue.join(map(str, listed)) if glue else listed
        else:
            line[name] = (
                glue.join(map(str, made)) if isinstance(made := value(kind, r, r.shown[0]), list) and glue else made
            )
    return line


def roles(found: list[tuple[str, str, str]], wide: bool) -> dict[str, str]:
    """The columns by role."""
    of = ROLES | ({"D": "slate", "C": "clicks"} if wide else {})
    names = {
        kind[0]: (f"{inside}.{name}" if inside else name).replace("{}", "").strip("_") for inside, name, kind in found
    }
    return {of[first]: name for first, name in names.items() if first in of and not (wide and first == "I")}


def written(text: str, how: str, form: str, number: int, world: dict[str, Any], layout: str) -> list[Row]:
    """The rows of a table."""
    found, flags = list(cells(text)), world.pop("flags")
    made = requests(how, number, **world)
    if layout in ("wide", "sessions"):
        glue = next((flag[5:] for flag in flags if flag.startswith("glue=")), "")
        return [row(r, found, glue) for r in made]
    some = [(r, i) for r in made for i in (r.shown if layout not in ("none", "router") else r.shown[:1])]
    if "clicked" in flags:
        some = [(r, i) for r, i in some if i.click]
    if "all" in flags:
        some = [(r, i) for r in made for i in [*r.shown, *unseen(r)]]
    rows = [{name: value(kind, r, i) for _, name, kind in found} for r, i in some]
    if "mixed" in flags:
        rows = [rows[place] for place in np.random.default_rng(5).permutation(len(rows))]
    return rows


def terse(lines: str, into: dict[str, Maker]) -> None:
    """Add tables from pairs of lines: `name: layout form how drawn more`, and the columns."""
    for block in lines.strip().split("\n\n"):
        head, *rest = block.split("\n")
        name, said = head.split(": ")
        layout, form, how, drawn, *more = said.split()
        into[name] = _maker(" ".join(rest), layout, form, how, drawn.replace("-", ""), more, len(into))


def _maker(text: str, layout: str, form: str, how: str, drawn: str, more: list[str], number: int) -> Maker:
    found = list(cells(text))

    def write(_: Random, folder: Path) -> Table:
        world: dict[str, Any] = {"choice": 10} | {
            name: int(number) or None for name, number in (word.split("=") for word in more if word[-1].isdigit())
        }
        world["flags"] = [word for word in more if not word[-1].isdigit()]
        rows = written(text, how, form, number, world, layout)
        what = " ".join(f"{role}={column}" for role, column in roles(found, layout == "wide").items())
        score = next(
            (
                f"{inside}.{name}".strip(".")
                for inside, name, kind in found
                if kind.removeprefix("l.") in ("s", "s.exp")
            ),
            "",
        )
        return saved(rows, folder, form), truth(
            layout, drawn, f"{what} score={score}" if layout in ("long", "wide") else ""
        )

    return write
