"""What is true of a raw table, and how it is written to a file."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from benchmarks._strangers_visits import Random, Row, Visit


@dataclass(frozen=True)
class Truth:
    """What is true of a table.

    layout: how it is laid out, or its named standard; columns: role -> column. asked: whether a question is right.
    drawn: the law of `World`, "written" for true propensities, "" for what is no log; score: the column of its score.
    """

    layout: str
    columns: Mapping[str, str] = field(default_factory=dict)
    drawn: str = ""
    score: str = ""
    asked: bool = False


Table = tuple[Path, Truth]
Maker = Callable[[Random, Path], Table]
MAKERS: dict[str, Maker] = {}
DAY = datetime(2024, 3, 1, 6, tzinfo=UTC)


def table(make: Maker) -> Maker:
    """Keep what makes a table."""
    MAKERS[make.__name__] = make
    return make


def long(impression: str, item: str, position: str, click: str, drawn: str, score: str = "", **more: str) -> Truth:
    return Truth(
        "long", {"impression": impression, "item": item, "position": position, "click": click, **more}, drawn, score
    )


def wide(slate: str, clicks: str, drawn: str, score: str = "", **more: str) -> Truth:
    return Truth("wide", {"slate": slate, "clicks": clicks, **more}, drawn, score)


def none(asked: bool = True) -> Truth:
    return Truth("none", asked=asked)


def at(visit: Visit, seconds: float = 0) -> datetime:
    return DAY + timedelta(days=visit.day, seconds=37 * visit.number + seconds)


def guid(number: int) -> str:
    return str(uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 11) % 2**128))


def to_csv(rows: list[Row], path: Path, delimiter: str = ",", head: bool = True, packed: bool = False) -> Path:
    with gzip.open(path, "wt", newline="") if packed else path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        if head:
            writer.writeheader()
        writer.writerows(rows)
    return path


def to_lines(rows: list[Row], path: Path, packed: bool = False) -> Path:
    with gzip.open(path, "wt") if packed else path.open("w") as file:
        file.writelines(json.dumps(row, default=str) + "\n" for row in rows)
    return path


def to_parquet(rows: list[Row], path: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def to_arrow(rows: list[Row], path: Path) -> Path:
    feather.write_feather(pa.Table.from_pylist(rows), str(path))
    return path


def to_sqlite(rows: list[Row], path: Path, name: str) -> Path:
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE {name} ({', '.join(rows[0])})")
        base.executemany(
            f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows]
        )
    return path
