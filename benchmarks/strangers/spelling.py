"""Tables of strangers in a line of words each, as they stand in `spelled/*.txt`.

    hotel search: long csv top sorted mixed k=4
    search=I.uid sku=D'S{key:05d}' pos=P.1 price=price stars=(1+key%5) score=S clicked=C.01

The head names the layout, the form of the file, who drew the items (see `worlds`), what is true of that, flags and
sizes. Behind `~`, its law is spelled. Then the columns: a role, so that what is true follows from what is written, and
what stands in a cell: a word of `KINDS`, a text with values in it, or an expression of what a request and an item have.

- roles: I impression, D item, P position, C click, K chance of a slot, R chance of a slate, L all candidates, S score,
  Q query, U user, V session, A arm; E names two kinds of events, T is another item, = a constant.
- lists: `l.` of what was shown, `c.` of all candidates; with a row a request, D, C and K are lists by themselves.
- `results=[id=D.int clicked=C.01]` is a list of structs, `hit.id=` a field of a struct, `item_{}=` a column a rank.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.strangers import odd, worlds
from benchmarks.strangers.files import Maker, Row, Table, Truth, saved
from benchmarks.strangers.worlds import Random, Request, Shown, dt

ROLES = {
    "I": "impression",
    "D": "item",
    "P": "position",
    "C": "click",
    "K": "slot_propensity",
    "R": "propensity",
    "L": "candidates",
    "S": "score",
    "Q": "query",
    "U": "user",
    "V": "session",
    "A": "arm",
}
USUAL = {"K": "chance", "R": "list_chance", "S": "score", "Q": "q", "U": "user", "A": "arm"}
"""What stands in a column that only a role is said of."""
KINDS = dict(
    line.split(" = ", 1)
    for line in """
ids.int = 40000+x
ids.small = x
ids.sku = f"SKU-{x:04d}"
ids.pad = f"{x:05d}"
ids.uid = uid("d", x)
ids.guid = guid(x)
ids.hash = hashed("d", x)
ids.big = 9007199254740993+7*x
ids.url = f"https://example.org/p/{x}"
ids.word = f"{WORDS[x%10].replace(' ', '-')}-{x}"
ids.seq = 500000+x
ids.hex = f"{hashed('q', x)%2**64:016x}"
ids.req = f"R{x:06d}"
guid = guid(n)
P.0 = rank
P.1 = rank+1
P.f = rank+1.0
P.pad = f"{rank+1:02d}"
P.hash = f"#{rank+1}"
P.th = f"{rank+1}"+{0: "st", 1: "nd", 2: "rd"}.get(rank, "th")
C.01 = click
C.bool = bool(click)
C.f = float(click)
C.null = 1 if click else None
C.yn = "Y" if click else "N"
C.yes = "yes" if click else "no"
C.Yes = "Yes" if click else "No"
C.ja = "ja" if click else "nein"
C.oui = "oui" if click else "non"
C.word = "click" if click else "none"
C.n = click*(1+key%3)
C.at = stamp(START+seconds(97*key+13*rank)) if click else None
S.exp = round(exp(score), 6)
ctr = round(1/(1+exp(2.5-other)), 5)
s.ctr = round(1/(1+exp(2-score)), 5)
cents = round(100*price)
dist = distance
orders = bool(order)
rev = round(price*order, 2)
dwells = dwell or None
pub = stamp(START-dt.timedelta(hours=3*key))
age = 3*key
cat = f"cat{key%5}"
brand = 100+key%7
stars = 1+key%5
ad = int(key%4==0)
logp = round(log(chance), 6)
at = stamp(at)
iso = at.isoformat()
ms = ms(at)
sec = ms(at)//1000
date = at.strftime("%Y-%m-%d")
de = at.strftime("%d.%m.%Y %H:%M")
hour = at.hour
user = 7000+user
user.uid = uid("u", user)
user.hex = f"{hashed('u', user)%2**48:012x}"
sess = f"{user}-{n//40}"
dev = ("ios", "android", "web")[user%3]
mobile = user%2
land = ("DE", "FR", "ES", "PL", "NA")[user%5]
q = query
arm.name = {"A": "control", "B": "treatment"}[arm]
expl = explored
logr = round(log(list_chance), 6)
any = hashed("any", n)%100
any2 = round(hashed("y", n)%10000/9973, 4)
few = hashed("few", n)%5+1
clicks = sum(i.click for i in shown)
first = next((i.rank+1 for i in shown if i.click), None)
text = " ".join(f"N{i.key}-{i.click}" for i in shown)
""".strip().splitlines()
)
"""Words for what stands in a cell; of ids, `x` is the number of a request or the key of an item."""
KNOWN = vars(worlds) | {name: getattr(math, name) for name in ("exp", "log", "sin")}
KNOWN |= {"stamp": lambda at: at.strftime("%Y-%m-%d %H:%M:%S"), "seconds": lambda n: dt.timedelta(seconds=n)}
KNOWN |= {"json": json, "math": math}
Cell = Callable[[Request, Shown | None, Random, int], Any]
"""What stands in a cell: of a request, an item, what else is drawn, and the number of the event."""


def expression(text: str) -> Cell:
    """What gives the value of an expression. The names: those of the request and of the item, and `KNOWN`."""
    code = compile(text, text, "eval")

    def value(r: Request, i: Shown | None, rng: Random, event: int) -> Any:
        names = {"rng": rng, "event": event, "list_chance": r.chance, "row": r.row} | vars(r) | (vars(i) if i else {})
        return eval(code, KNOWN | names)

    return value


def cell(kind: str) -> Cell:
    """What gives the value of a kind."""
    if kind[0] == "L" or kind[:2] in ("l.", "c."):
        one = cell("D" + kind[1:] if kind[0] == "L" else kind[2:])
        return lambda r, _, rng, event: [one(r, i, rng, event) for i in (r.shown if kind[0] == "l" else r.pool)]
    role, rest = (kind[0], kind[1:]) if kind[0] in (*ROLES, *"ET=") else ("", kind)
    if role == "=":
        constant = float(rest) if rest.replace(".", "", 1).isdigit() else rest
        return lambda *_: constant
    if role == "E":
        return lambda _r, _i, _rng, event: rest[1:].split("/")[event]
    word = rest.removeprefix(".") or USUAL[role]
    if rest[:1] in ("(", "'"):
        text = rest[1:-1] if rest[0] == "(" else f"f{rest}"
    elif f"ids.{word}" in KINDS and role in ("I", "D", "T"):
        text = f"(lambda x: {KINDS[f'ids.{word}']})({ {'I': 'n', 'D': 'key', 'T': 'shown[1].key'}[role] })"
    else:
        text = KINDS.get(f"{role}.{word}") or KINDS.get(word, word)
    if role in ("P", "K", "C"):
        text = f"None if {'click' if role == 'C' else 'rank'} is None else {text}"
    return expression(text)


@dataclass(frozen=True)
class Column:
    """A column, and the list of structs that it is in."""

    inside: str
    name: str
    kind: str
    value: Cell

    @property
    def role(self) -> str:
        """The letter of its role, or nothing."""
        letter = self.kind.removeprefix("l.").removeprefix("c.")[0]
        return letter if letter in ROLES else ""

    @property
    def many(self) -> bool:
        """Whether a row a request has a value of it for each item."""
        return bool(self.inside) or "{" in self.name or self.kind[0] in "DCK"

    @property
    def full(self) -> str:
        """Its name as it is read: with dots, and without numbers."""
        return f"{self.inside}.{self.name}".strip(".").replace("{}", "").replace("{1}", "").rstrip("_")


def words(text: str) -> Iterator[str]:
    """Split at spaces that are in no brackets and no quotes."""
    depth, quote, word = 0, "", ""
    for sign in f"{text} ":
        if sign.isspace() and not depth and not quote:
            if word:
                yield word
            word = ""
            continue
        word += sign
        if not depth and sign in "'\"":
            quote = "" if quote == sign else quote or sign
        depth += 0 if quote else {"(": 1, ")": -1}.get(sign, 0)


def columns(text: str) -> list[Column]:
    """The columns of lines of words."""
    inside, found = "", []
    for word in words(text):
        name, kind = word.split("=", 1)
        if kind[0] == "[":
            inside, (name, kind) = name, kind[1:].split("=", 1)
        kind, last = kind.removesuffix("]"), kind[-1] == "]"
        stem, _, times = name.replace('"', "").partition("*")
        names = [stem.format(at) for at in range(int(times))] if times else [stem]
        found += [Column(inside, name, kind, cell(kind)) for name in names]
        inside = "" if last else inside
    return found


def put(line: Row, name: str, value: Any) -> None:
    """Set a value, in structs where the name has dots."""
    *outer, last = name.split(".")
    for one in outer:
        line = line.setdefault(one, {})
    line[last] = value


def listed(r: Request, found: list[Column], glue: str, rng: Random) -> Row:
    """A row a request: lists beside each other, joined where there is glue, lists of structs, or numbered columns."""
    line: Row = {}
    structs: dict[str, list[Row]] = {}
    for column in found:
        each = [column.value(r, i, rng, 0) for i in r.shown] if column.many else []
        if column.inside:
            things = structs.setdefault(column.inside, [{} for _ in r.shown])
            for thing, value in zip(things, each, strict=True):
                put(thing, column.name, value)
            put(line, column.inside, things)
        elif "{" in column.name:
            line |= {column.name.format(i.rank + 1, i.rank): one for i, one in zip(r.shown, each, strict=True)}
        else:
            put(line, column.name, each if column.many else column.value(r, r.shown[0] if r.shown else None, rng, 0))
    return {name: joined(value, glue) for name, value in line.items()} if glue else line


def joined(value: Any, glue: str) -> Any:
    """Lists as texts."""
    if not isinstance(value, list):
        return value
    return {"json": json.dumps, "python": str}.get(glue, lambda one: glue.join(map(str, one)))(value)


def rows(found: list[Column], layout: str, flags: list[str], made: Iterable[Request], rng: Random) -> list[Row]:
    """The rows of a table."""
    said = dict(flag.split("=", 1) for flag in flags if "=" in flag)
    only = expression(said.get("only", "(True)"))
    if layout in ("wide", "sessions") or "each" in flags:
        return [listed(r, found, said.get("glue", ""), rng) for r in made if only(r, None, rng, 0)]
    some = (
        (r, i, event)
        for r in made
        for event in range(1 + (layout == "stream"))
        for i in (r.able if "all" in flags else r.shown[:1] if "one" in flags else r.shown)
        if i.click or not (event or "clicked" in flags)
    )
    lines = [line(found, r, i, rng, event) for r, i, event in some if only(r, i, rng, event)]
    if "by" in said:
        lines.sort(key=lambda one: one[said["by"]])
    order = rng if "scattered" in flags else np.random.default_rng(5) if "mixed" in flags else None
    return [lines[at] for at in order.permutation(len(lines))] if order else lines


def line(found: list[Column], r: Request, i: Shown, rng: Random, event: int) -> Row:
    """A row an item."""
    made = r.row = {}
    for column in found:
        put(made, column.name, column.value(r, i, rng, event))
    return made


def true(found: list[Column], layout: str, form: str, drawn: str, law: str, flags: list[str]) -> Truth:
    """What is true of a table: roles, law, the score that it was sorted or drawn by."""
    if form in ("bare", "plainbare"):
        found = [Column("", f"column_{n}", one.kind, one.value) for n, one in enumerate(found, 1)]
    of = ROLES | ({"I": "", "D": "slate", "C": "clicks"} if layout == "wide" else {})
    told = {of[one.role]: one.full for one in found if one.role and not (one.inside and one.role == "P")}
    told |= dict(flag.split("=", 1) for flag in flags if flag.split("=")[0] in (*of.values(), "slate", "clicks"))
    score = law or told.get("score", "")
    named = {role: name for role, name in told.items() if role not in ("", "score")}
    asked = layout in ("pairs", "none") or (layout == "router" and drawn not in ("written", "law")) or "asked" in flags
    kind = "events" if layout in ("stream", "two") else layout
    return Truth(kind, {} if asked and "told" not in flags else named, drawn, score, asked)


def tables(text: str) -> dict[str, Maker]:
    """The tables of a file, by name."""
    makers: dict[str, Maker] = {}
    for block in text.strip().split("\n\n"):
        name, said = block.split("\n")[0].split(": ", 1)
        makers[name] = getattr(odd, re.sub(r"\W+", "_", name)) if said == "odd" else maker(block, len(makers))
    return makers


def maker(block: str, number: int) -> Maker:
    """What makes the table that a few lines tell."""
    (head, *more), law = block.split("\n"), ""
    if more[0][:2] == "~ ":
        law, *more = more[0][2:], *more[1:]
    layout, form, how, drawn, *flags = words(head.split(": ", 1)[1])
    sizes = {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)(?!\S)", " ".join(flags))}
    parts = [columns(part) for part in " ".join(more).split(" || ")]
    world, _, how = how.rpartition(":")

    def write(rng: Random, folder: Path) -> Table:
        draw = getattr(worlds, world or (how if how in ("rows", "picks") else "fresh"))
        known = {"how": how, "law": how, "rng": rng, "seed": number}
        known = {name: one for name, one in known.items() if name in inspect.signature(draw).parameters}
        made = list(draw(**known | sizes))
        path = saved(rows(parts[0], layout, flags, made, rng), folder, form, "impressions" if parts[1:] else "table")
        for part in parts[1:]:
            saved(rows(part, layout, ["clicked"], made, rng), folder, form, "clicks")
        if "dirty" in flags:
            told = path.read_text().splitlines()
            path.write_text("\n".join([*told[:900], *told[895:900], "R150,bro", *told[900:]]))
        return folder if parts[1:] else path, true(parts[0], layout, form, drawn.strip("-"), law, flags)

    return write


BATCHES: dict[str, dict[str, Maker]] = {
    batch: tables((Path(__file__).parent / f"spelled/{batch.replace(' ', '_')}.txt").read_text(encoding="utf-8"))
    for batch in ("usual", "further", "blind", "unseen", "second unseen", "third unseen", "fourth unseen")
}
"""The tables by when they were written."""
