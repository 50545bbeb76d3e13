"""Tables of strangers in a line of words each, as they stand in `spelled.txt`; and some that no line of words tells.

    hotel search: long csv top sorted mixed k=4
    search=I.uid sku=D'S{key:05d}' pos=P.1 price=price stars=(1+key%5) score=S clicked=C.01

The head names the layout, the form of the file, who drew the items (see `worlds`), what is true of that, flags and
sizes. Behind `~`, its law is spelled. Then the columns: a role, so that what is true follows from what is written, and
what stands in a cell: a word of `KINDS` (of ids, `x` is the number of a request or the key of an item), a text with
values in it, or an expression of what a request and an item have.

- roles: I impression, D item, P position, C click, K chance of a slot, R chance of a slate, L all candidates, S score,
  Q query, U user, V session, A arm; E names two kinds of events, T is another item, = a constant.
- lists: `l.` of what was shown, `c.` of all candidates; with a row a request, D, C and K are lists by themselves.
- `results=[id=D.int clicked=C.01]` is a list of structs, `hit.id=` a field of a struct, `item_{}=` a column a rank.
"""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.strangers import worlds
from benchmarks.strangers.forms import Row, saved
from benchmarks.strangers.worlds import DAY, Random, Request, Shown, dt, fresh, ms, ranked, uid


@dataclass(frozen=True)
class Truth:
    """What is true of a table.

    layout: how it is laid out, or its named standard; columns: role -> column. asked: whether a question is right.
    drawn: the law that drew it, "written" for true propensities, "" for what is no log; score: the column of its
    score, or the spelling of its law.
    """

    layout: str
    columns: Mapping[str, str] = field(default_factory=dict)
    drawn: str = ""
    score: str = ""
    asked: bool = False


Table = tuple[Path, Truth]
Maker = Callable[[Random, Path], Table]


ROLES = dict(zip("IDPCKRLSQUVA", (
    "impression", "item", "position", "click", "slot_propensity", "propensity", "candidates", "score", "query", "user",
    "session", "arm",
), strict=True))  # fmt: skip
USUAL = {"K": "chance", "R": "list_chance", "S": "score", "Q": "q", "U": "user", "A": "arm"}
"""What stands in a column that only a role is said of."""
_, *PARTS = re.split(r"^== (.+)$", (Path(__file__).parent / "spelled.txt").read_text("utf-8"), flags=re.MULTILINE)
SPELLED = dict(zip(PARTS[::2], PARTS[1::2], strict=True))
KINDS = dict(line.split(" = ", 1) for line in SPELLED["kinds"].strip().splitlines())
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
        makers[name] = globals()[re.sub(r"\W+", "_", name)] if said == "odd" else maker(block, len(makers))
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
    files = next((flag[6:] for flag in flags if flag.startswith("files=")), "impressions/clicks").split("/")

    def write(rng: Random, folder: Path) -> Table:
        draw = getattr(worlds, world or (how if how in ("rows", "picks") else "fresh"))
        known = {"how": how, "law": how, "rng": rng, "seed": number}
        known = {name: one for name, one in known.items() if name in inspect.signature(draw).parameters}
        made = list(draw(**known | sizes))
        path = saved(rows(parts[0], layout, flags, made, rng), folder, form, files[0] if parts[1:] else "table")
        for part in parts[1:]:
            saved(rows(part, layout, ["clicked"], made, rng), folder, form, files[1])
        if "dirty" in flags:
            told = path.read_text().splitlines()
            path.write_text("\n".join([*told[:900], *told[895:900], "R150,bro", *told[900:]]))
        return folder if parts[1:] else path, true(parts[0], layout, form, drawn.strip("-"), law, flags)

    return write


# Other people's standards, and events unlike each other ---------------------------------------------------------------


def open_bandit(rng: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for at in range(2400):
        item, place = int(rng.integers(20)), int(rng.integers(1, 4))
        rows.append({"": at, "timestamp": (DAY + dt.timedelta(seconds=at)).isoformat(), "item_id": item})
        rows[-1] |= {"position": place, "click": int(rng.random() < 0.05), "propensity_score": 0.05}
        rows[-1] |= {f"user_feature_{k}": f"{at % (k + 2):x}" for k in range(4)}
        rows[-1] |= {f"user-item_affinity_{k}": 0.0 for k in range(20)}
    items: list[Row] = [{"": item, "item_id": item, "item_feature_0": 0.1 * item} for item in range(20)]
    saved(items, folder, "plain", "item_context")
    return saved(rows, folder, "plain", "all"), Truth("open_bandit", {}, "written")


def _trec(folder: Path, name: str, lines: Iterable[str]) -> Table:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name, Truth("pairs", asked=True)


def trec_run(_: Random, folder: Path) -> Table:
    pairs = [(query, rank) for query in range(40) for rank in range(10)]
    return _trec(
        folder, "bm25.run", (f"{q} Q0 doc{(q * 31 + r * 7) % 500} {r + 1} {20 - r * 0.5} bm25" for q, r in pairs)
    )


def trec_qrels(rng: Random, folder: Path) -> Table:
    return _trec(folder, "qrels.txt", (f"{q} 0 doc{d} {int(rng.integers(0, 3))}" for q in range(40) for d in range(12)))


def a_run_and_its_judgements(_: Random, folder: Path) -> Table:
    found = [(r.n, i) for r in fresh("hidden", 4) for i in r.shown]
    _trec(folder, "trec/bm25.run", (f"{n} Q0 D{i.key} {i.rank + 1} {10 - i.rank} mine" for n, i in found))
    path, truth = _trec(folder, "trec/qrels.txt", (f"{n} 0 D{i.key} {i.click + i.order}" for n, i in found))
    return path.parent, truth


def judgements_alone(_: Random, folder: Path) -> Table:
    found = [(r.n, i) for r in fresh("hidden", 5) for i in r.shown]
    return _trec(folder, "trec/qrels.txt", (f"{n} 0 D{i.key} {i.click + i.order}" for n, i in found))


def a_run_alone(_: Random, folder: Path) -> Table:
    found = [(r.n, i) for r in fresh("hidden", 23) for i in r.shown]
    return _trec(folder, "bm25.trec", (f"q{n} Q0 D{i.key} {i.rank + 1} {9.5 - i.rank} bm25" for n, i in found))


def views_and_selections_of_GA4(_: Random, folder: Path) -> Table:  # noqa: N802  as the table is called
    rows: list[Row] = []
    for r in fresh("hidden", 20):
        items = [
            {"item_id": f"sku{i.key}", "item_name": f"Thing {i.key}", "index": i.rank + 1, "price": i.price}
            | {"item_list_id": f"list_{r.n}"}
            for i in r.shown
        ]
        session = {"key": "ga_session_id", "value": {"string_value": None, "int_value": 10**9 + r.n}}
        base = {"event_date": r.at.strftime("%Y%m%d"), "user_pseudo_id": f"{r.user}.77", "event_params": [session]}

        def event(name: str, items: list[Row], later: int = 0, r: Request = r, base: Row = base) -> Row:
            return base | {"event_timestamp": ms(r.at) * 1000 + later, "event_name": name, "items": items}

        rows.append(event("view_item_list", items))
        rows += [event("select_item", [items[i.rank]], 5 * 10**6) for i in r.shown if i.click]
    return saved(rows, folder, "jsonl"), Truth("ga4", {}, "fixed")


def slates_served_items_clicked(_: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for r in fresh("hidden", 21):

        def event(name: str, payload: Row, later: int = 0, r: Request = r) -> Row:
            return {"eventType": name, "eventTime": ms(r.at) + later, "payload": {"slateId": uid(r.n)} | payload}

        rows.append(event("SLATE_SERVED", {"items": [f"v{i.key}" for i in r.shown]}))
        rows += [event("ITEM_CLICKED", {"itemId": f"v{i.key}"}, 3000) for i in r.shown if i.click]
    return saved(rows, folder, "jsonl"), Truth("events", {}, "fixed")


def views_clicks_and_carts(_: Random, folder: Path) -> Table:
    rows: list[Row] = []
    kinds = {"list_view": lambda _: True, "product_click": lambda i: i.click, "add_to_cart": lambda i: i.order}
    for name, meant in kinds.items():
        for r in fresh("hidden", 22):
            time = (r.at if name == "list_view" else r.at.replace(second=59)).isoformat()
            rows += [
                {"eventName": name, "listId": uid("cv", r.n), "sku": f"s{i.key}"}
                | {"index": None if name == "add_to_cart" else i.rank + 1, "time": time}
                for i in r.shown
                if meant(i)
            ]
    return saved(sorted(rows, key=lambda row: str(row["time"])), folder, "jsonl"), Truth("events", {}, "fixed")


def tests_in_events(rng: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for r in ranked("arms", rng, n=4000, items=7, queries=120):
        own = {"serp": f"S{r.n}", "uid": r.user}
        seen: Row = {"variant": ("control", "treatment")[r.explored], "term": f"term{r.query}"}
        seen |= {"docs": [f"x{i.key}" for i in r.shown], "pool": [f"x{key}" for key in r.candidates]}
        seen |= {"score_control": r.scores, "score_treatment": r.others}
        rows.append({"type": "serp_view", "t": 10**6 + 60 * r.n, **own, **seen})
        clicked = [i for i in r.shown if i.click]
        rows += [{"type": "doc_click", "t": 10**6 + 60 * r.n + i.rank, **own, "doc": f"x{i.key}"} for i in clicked]
    return saved(rows, folder, "jsonl"), Truth("events", {}, "arms")


BATCHES = {name: tables(text) for name, text in SPELLED.items() if name != "kinds"}
"""The tables by when they were written; last, those of the trial."""
