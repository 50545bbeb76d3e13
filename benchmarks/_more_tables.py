"""How further tables of strangers are made from requests, and what is true of them."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from benchmarks._more_worlds import Request, Shown, requests
from benchmarks._strangers_files import Maker, Table, Truth, to_parquet, to_sqlite
from benchmarks._strangers_visits import Random, Row

FIRST: dict[str, Maker] = {}
SECOND: dict[str, Maker] = {}
"""The tables of two batches by name, in the order in which they were written."""
TEN = {"choice": 10}
"""Ten candidates a request."""


def saved(rows: list[Row], folder: Path, form: str, name: str = "table") -> Path:
    """The rows as a file of this form.

    Text: csv, bom, semicolon, tab, gz, zst, bare, pandas, jsonl, json; others: parquet, hive, orc, sqlite, duckdb.
    """
    frame = pd.DataFrame(rows)
    if form in FILES:
        path = folder / f"{name}.{form}"
        FILES[form](rows, path)
        return path
    if form == "hive":
        day = next(iter(rows[0]))
        for value in {row[day]: 0 for row in rows}:
            (folder / f"{day}={value}").mkdir()
            part = [{key: row[key] for key in row if key != day} for row in rows if row[day] == value]
            pq.write_table(pa.Table.from_pylist(part), folder / f"{day}={value}" / "part-0.parquet")
        return folder
    if form in ("jsonl", "json"):
        lines = [json.dumps(row, default=str) for row in rows]
        path = folder / f"{name}.{form}"
        path.write_text("\n".join(lines) if form == "jsonl" else "[" + ",\n".join(lines) + "]")
        return path
    mark = {"semicolon": ";", "tab": "\t", "bare": "\t"}.get(form, ",")
    text = frame.to_csv(
        index=form == "pandas",
        sep=mark,
        header=form != "bare",
        decimal="," if form == "semicolon" else ".",
        quoting=csv.QUOTE_MINIMAL,
    )
    packed = {"gz": gzip.compress, "zst": lambda raw: pa.compress(raw, "zstd", asbytes=True)}.get(form)
    suffix = f"csv.{form}" if packed else "tsv" if mark == "\t" else "csv"
    raw = ("\ufeff" * (form == "bom") + text).encode()
    (folder / f"{name}.{suffix}").write_bytes(packed(raw) if packed else raw)
    return folder / f"{name}.{suffix}"


def _duckdb(rows: list[Row], path: Path) -> None:
    with duckdb.connect(str(path)) as base:
        base.register("rows", pa.Table.from_pylist(rows))
        base.execute("create table log as select * from rows")


FILES: dict[str, Callable[[list[Row], Path], object]] = {
    "parquet": to_parquet,
    "orc": lambda rows, path: orc.write_table(pa.Table.from_pylist(rows), path),
    "sqlite": lambda rows, path: to_sqlite(rows, path, "log"),
    "duckdb": _duckdb,
}
"""How files of one form are written."""


def long(
    name: str,
    how: str,
    drawn: str,
    roles: str,
    line: Callable[[Request, Shown], Row],
    *,
    form: str = "csv",
    mixed: bool = False,
    seen: Callable[[Shown], bool] | None = None,
    into: dict[str, Maker] = FIRST,
    **world: Any,
) -> None:
    """Add a table with a row an item; `roles` as in `said`. seen: which items have rows; mixed: in no order."""
    kind, number = "router" if world.get("k") == 1 else "long", len(into)

    def write(_: Random, folder: Path) -> Table:
        rows = [
            line(request, item)
            for request in requests(how, number, **world)
            for item in request.shown
            if seen is None or seen(item)
        ]
        if mixed:
            rows = [rows[place] for place in np.random.default_rng(5).permutation(len(rows))]
        return saved(rows, folder, form), truth(kind, drawn, roles)

    into[name] = write


def truth(layout: str, drawn: str, roles: str) -> Truth:
    """What is true, from a line such as `request sku pos clicked slot_propensity=p`: impression, item, rank, clicks."""
    plain = [word for word in roles.split() if "=" not in word]
    first = ("impression", "item", "position", "click") if layout != "wide" else ("", "slate", "position", "clicks")
    found = dict(zip(first, plain, strict=False)) | dict(word.split("=", 1) for word in roles.split() if "=" in word)
    score = found.pop("score", "")
    asked = layout in ("pairs", "none") or (layout == "router" and drawn != "written")
    return Truth(layout, {r: c for r, c in found.items() if c != "-" and r}, drawn, score, asked)


def listed(
    name: str,
    layout: str,
    how: str,
    drawn: str,
    roles: str,
    line: Callable[[Request], Row],
    *,
    form: str = "jsonl",
    into: dict[str, Maker] = FIRST,
    **world: Any,
) -> None:
    """Add a table with a row a request."""
    number = len(into)

    def write(_: Random, folder: Path) -> Table:
        rows = [line(request) for request in requests(how, number, **world)]
        return saved(rows, folder, form), truth(layout, drawn, roles)

    into[name] = write


def files(
    name: str,
    layout: str,
    drawn: str,
    roles: str,
    write: Callable[[Path, list[Request]], Path],
    *,
    into: dict[str, Maker] = FIRST,
) -> None:
    """Add a table or a folder that `write` makes from requests."""
    number = len(into)
    into[name] = lambda _, folder: (write(folder, requests("hidden", number, **TEN)), truth(layout, drawn, roles))


def plain(
    name: str,
    layout: str,
    form: str,
    row: Callable[[int, Random], Row],
    *,
    n: int = 1500,
    into: dict[str, Maker] = FIRST,
) -> None:
    """Add a table that is no log of slates."""
    number = len(into)

    def write(_: Random, folder: Path) -> Table:
        rng = np.random.default_rng([number, 7])
        return saved([row(place, rng) for place in range(n)], folder, form), truth(layout, "", "")

    into[name] = write
