"""What is true of a table of strangers, and the forms of file that it is written in."""

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather, orc

from benchmarks.strangers.worlds import Random

Row = dict[str, Any]


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

    def text(rows: list[Row]) -> str:
        writer = csv.writer(file := StringIO(), delimiter=delimiter)
        cells = (
            [str(one).replace(".", ",") if isinstance(one, float) else one for one in row.values()] for row in rows
        )
        lines: Iterable[Any] = cells if comma else (row.values() for row in rows)
        writer.writerows([list(rows[0]), *lines] if head else lines)
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
