"""Dirty files: what offrank, DuckDB, Polars and pandas do with the same ones.

    python -m benchmarks.dirty_data --page docs/contributing/reliability.md

A file holds the log of `rows()` with one thing wrong in row 700 of 1,000. offrank is asked for the mean reward, the
others read the file as their documentation begins: `duckdb.read_csv`, `polars.read_csv`, `pandas.read_csv`, and so on.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import offrank
from benchmarks._page import generated

N, BAD = 1000, 700
Row = dict[str, Any]


def rows() -> list[Row]:
    """A log with a row per item: two items in each list, drawn by a coin, the first of which is clicked in a half."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(N // 2):
        for position, item in enumerate(rng.permutation([11, 12]).tolist(), 1):
            found.append(
                {
                    "impression": number,
                    "item": item,
                    "position": position,
                    "click": int(position == 1 and rng.random() < 0.5),
                    "price": round(float(rng.uniform(1, 9)), 2),
                }
            )
    return found


TRUTH = float(np.mean([row["click"] for row in rows() if row["position"] == 1]))


def csv(change: Callable[[list[str]], None], separator: str = ",") -> bytes:
    """The log as CSV, of which some lines are changed."""
    lines = [separator.join(rows()[0]), *(separator.join(map(str, row.values())) for row in rows())]
    change(lines)
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def cell(column: int, value: str, line: int = BAD + 1) -> Callable[[list[str]], None]:
    """Write another value into a cell of a line."""

    def change(lines: list[str]) -> None:
        cells = lines[line].split(",")
        lines[line] = ",".join([*cells[:column], value, *cells[column + 1 :]])

    return change


def every(column: int, written: Callable[[str], str]) -> Callable[[list[str]], None]:
    """Write all cells of a column in another way."""

    def change(lines: list[str]) -> None:
        for number in range(1, len(lines)):
            cells = lines[number].split(",")
            lines[number] = ",".join([*cells[:column], written(cells[column]), *cells[column + 1 :]])

    return change


def jsonl(change: Callable[[list[Row]], Any]) -> bytes:
    """The log as lines of JSON, of which some rows are changed."""
    found = rows()
    change(found)
    return "".join(json.dumps(row) + "\n" for row in found).encode()


def german(lines: list[str]) -> None:
    """Commas in the place of points, and semicolons between cells."""
    lines[:] = [line.replace(",", ";").replace(".", ",") for line in lines]


def parquet(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    return lambda path: pq.write_table(change(pa.Table.from_pylist(rows())), path)


FILES: dict[str, tuple[str, bytes | Callable[[Path], None]]] = {
    "a line with a cell too many": ("a.csv", csv(lambda lines: lines.__setitem__(BAD + 1, lines[BAD + 1] + ",9"))),
    "a line cut short": ("a.csv", csv(lambda lines: lines.__setitem__(BAD + 1, lines[BAD + 1][:5]))),
    "a click `banana`": ("a.csv", csv(cell(3, "banana"))),
    "a click missing": ("a.csv", csv(cell(3, ""))),
    "all clicks missing": ("a.csv", csv(every(3, lambda _: ""))),
    "an id of 10^30": ("a.csv", csv(cell(1, "1" + "0" * 30))),
    "ids with zeros before, one without": ("a.csv", csv(every(1, lambda item: "0" + item))),
    "decimal commas": ("a.csv", csv(german)),
    "a byte that is not UTF-8, in an id": ("a.csv", csv(cell(1, "caf\udce9"))),
    "a byte 0": ("a.csv", csv(cell(1, "1\x002"))),
    "an item line twice": ("a.csv", csv(lambda lines: lines.insert(BAD, lines[BAD]))),
    "`1.043` clicks": ("a.csv", csv(cell(3, "1.043"))),
    "a position 1e400": ("a.csv", csv(cell(2, "1e400"))),
    "two columns of one name": ("a.csv", csv(lambda lines: lines.__setitem__(0, lines[0].replace("price", "click")))),
    "a quote that is not closed": ("a.csv", csv(cell(4, '"1'))),
    'ids 11 and "11"': ("a.jsonl", jsonl(lambda found: found[BAD].update(item=str(found[BAD]["item"])))),
    "ids that become text halfway": (
        "a.jsonl",
        jsonl(lambda found: [row.update(item=f"i{row['item']}") for row in found[BAD:]]),
    ),
    "a number written `NaN`": ("a.jsonl", jsonl(lambda found: found[BAD].update(click=float("nan")))),
    "a key missing in one line": ("a.jsonl", jsonl(lambda found: found[BAD].pop("click"))),
    "a last line cut short": ("a.jsonl", jsonl(lambda _: None)[:-20]),
    "clicks null in all rows": (
        "a.parquet",
        parquet(lambda table: table.set_column(3, "click", pa.nulls(len(table), pa.int64()))),
    ),
}


def of_offrank(path: Path) -> tuple[int, float]:
    found = offrank.evaluate(path, "uniform", "uniform", "ips", cluster=None)["ips"]
    return 2 * found.n, found.value


def of_duckdb(path: Path) -> tuple[int, float]:
    read = {".csv": "read_csv", ".jsonl": "read_json", ".parquet": "read_parquet"}[path.suffix]
    n, mean = duckdb.sql(f"select count(*), 2 * avg(click) from {read}('{path}')").fetchall()[0]
    return int(n), float("nan") if mean is None else float(mean)


def of_polars(path: Path) -> tuple[int, float]:
    read = {".csv": pl.read_csv, ".jsonl": pl.read_ndjson, ".parquet": pl.read_parquet}[path.suffix]
    found = read(path)
    return len(found), 2 * float(found["click"].cast(pl.Float64).mean() or float("nan"))  # type: ignore[arg-type]


def of_pandas(path: Path) -> tuple[int, float]:
    read = {".csv": pd.read_csv, ".parquet": pd.read_parquet}.get(path.suffix)
    found = pd.read_json(path, lines=True) if read is None else read(path)
    return len(found), 2 * float(found["click"].mean())


TOOLS: dict[str, Callable[[Path], tuple[int, float]]] = {
    "offrank": of_offrank,
    "DuckDB": of_duckdb,
    "Polars": of_polars,
    "pandas": of_pandas,
}


def outcome(read: Callable[[Path], tuple[int, float]], path: Path) -> str:
    """Return in a few words what becomes of a file: an error, with the line of the fault or without, or numbers."""
    try:
        count, value = read(path)
    except Exception as error:  # noqa: BLE001  all of them are what is counted
        return f"error{(_LINE.search(str(error)) and ', line') or ''}"
    lost = "" if count == N else f"{count:,} rows, "
    return "as it is" if not lost and abs(value - TRUTH) <= 1e-12 else f"{lost}{value:.4g}"


_LINE = re.compile(
    rf"\b(line:?|row|[Rr]ow #?|starting at row)\s*({BAD - 1}|{BAD}|{BAD + 1}|{BAD + 2}|{N - 1}|{N}|{N + 1})\b"
)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=Path)
    page = parser.parse_args(given).page
    lines = [f"| a log of {N:,} rows with | {' | '.join(TOOLS)} |", "|---|" + "---|" * len(TOOLS)]
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, content) in FILES.items():
            path = Path(folder) / file
            content(path) if callable(content) else path.write_bytes(content)
            lines.append(f"| {name} | {' | '.join(outcome(read, path) for read in TOOLS.values())} |")
    print(*lines, sep="\n")
    if page:
        generated(page, "dirty data", lines, "benchmarks/dirty_data.py")


if __name__ == "__main__":
    main()
