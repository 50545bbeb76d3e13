"""Damaged and dirty files: what an evaluation says of them, and what others do with the same ones.

    python -m benchmarks.damage damage [--variants 200] [--write]
    python -m benchmarks.damage dirty-data [--write]

`damage`: bits flipped, bytes changed and ends cut, of every format. Each file is read in a process of its own kind,
which is started again if damage ends it: that is counted as a crash. `dirty-data`: a file holds the log of `rows()`
with one thing wrong in row 700 of 1,000. offrank is asked for the mean reward, the others read the file as their
documentation begins: `duckdb.read_csv`, `polars.read_csv`, `pandas.read_csv`, and so on.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

import offrank
from benchmarks._page import markdown_head, markdown_row, run
from offrank.errors import OffrankError

N = 120
OUTCOMES = ("refused, named", "the same answer", "another answer", "refused, not named", "foreign exception", "crash")
CHECKED = ("converted", "state", "checksums", "gz")
"""What the names of formats with checksums hold."""


def log(rows: int = N) -> pa.Table:
    """A log of texts, whole numbers, fractions and nulls."""
    rng = np.random.default_rng(0)
    items = [[f"i{item}" for item in rng.permutation(6)[:4]] for _ in range(rows)]
    return pa.table(
        {
            "slate": [each[:3] for each in items],
            "candidates": items,
            "clicks": rng.integers(0, 2, (rows, 3)).tolist(),
            "propensity": rng.uniform(0.1, 1, rows),
            "inclusion": rng.uniform(0.1, 1, rows),
            "new": rng.random((rows, 4)).tolist(),
            "segment": [[None, "a", "b"][i % 3] for i in range(rows)],
        }
    )


def parquet(rows: int = N, **how: Any) -> Callable[[Path], object]:
    """What writes a log in three row groups."""
    return lambda path: pq.write_table(log(rows), path, row_group_size=rows // 3, **how)


def arrow(compression: str | None, rows: int = N) -> Callable[[Path], None]:
    """What writes an Arrow file of three batches."""

    def write(path: Path) -> None:
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(path, log().schema, options=options) as file:
            file.write_table(log(rows), max_chunksize=rows // 3)

    return write


def stream(path: Path, rows: int = N) -> None:
    """Write an Arrow stream of three batches."""
    with pa.ipc.new_stream(path, log().schema) as file:
        file.write_table(log(rows), max_chunksize=rows // 3)


def lines() -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in log().to_pylist()).encode()


def state(path: Path) -> None:
    offrank.evaluate(log(), "top(new)", "logged", "ips", cluster=None, state=path)


FORMATS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "Parquet, not compressed": ("a.parquet", parquet(compression="none")),
    "Parquet, snappy": ("a.parquet", parquet(compression="snappy")),
    "Parquet, zstd": ("a.parquet", parquet(compression="zstd")),
    "Parquet, snappy, page checksums": ("a.parquet", parquet(compression="snappy", write_page_checksum=True)),
    "Parquet, converted": ("a.parquet", lambda path: offrank.convert(log(), path)),
    "Arrow file": ("a.arrow", arrow(None)),
    "Arrow file, lz4": ("a.arrow", arrow("lz4")),
    "Arrow stream": ("a.arrows", stream),
    "Arrow file, converted": ("a.arrow", lambda path: offrank.convert(log(), path)),
    "JSON lines": ("a.jsonl", lambda path: path.write_bytes(lines())),
    "JSON lines, gz": ("a.jsonl.gz", lambda path: path.write_bytes(gzip.compress(lines()))),
    "state": ("a.state", state),
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Flip one bit, or change up to four bytes, two thirds of them near the ends; or cut the file."""
    kind, found = rng.random(), bytearray(content)
    if kind < 0.15:
        return content[: rng.randrange(len(content))]
    ends = min(len(content), 2000)
    for _ in range(1 if kind < 0.7 else rng.randint(2, 4)):
        at = rng.choice([rng.randrange(len(found)), rng.randrange(ends), len(found) - 1 - rng.randrange(ends)])
        found[at] ^= 1 << rng.randrange(8) if kind < 0.7 else rng.randrange(1, 256)
    return bytes(found)


def answer(path: Path) -> tuple[float, int]:
    if path.suffix == ".state":
        found = offrank.merge(path)["ips"]
    else:
        found = offrank.evaluate(path, "top(new)", "logged", "ips", cluster=None)["ips"]
    return found.value, found.n


def variants(*, name: str = "JSON lines", first: int = 0, last: int = 0) -> None:
    """Read variants of one format, and print how each ends, one line for each: a process that damage may end."""
    file, write = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        write(path)
        content, truth = path.read_bytes(), answer(path)
        for number in range(first, last):
            path.write_bytes(damaged(content, random.Random(f"{name} {number}")))
            print(number, end=" ", flush=True)
            try:
                found = answer(path)
            except OffrankError as error:
                print(OUTCOMES[0] if file in str(error) else OUTCOMES[3], flush=True)
            except Exception as error:  # noqa: BLE001  these are what is counted
                print(OUTCOMES[4], flush=True)
                print(name, number, repr(error), file=sys.stderr)
            else:
                print(OUTCOMES[1] if found == truth else OUTCOMES[2], flush=True)


def outcomes(name: str, count: int) -> Counter[str]:
    """Return how the variants of a format end; a process that ends has crashed at the one it was at."""
    found: list[str] = []
    while len(found) < count:
        words = [sys.executable, "-m", "benchmarks.damage", "variants", "--name", name]
        words += ["--first", str(len(found)), "--last", str(count)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        said = [line.partition(" ")[2] for line in done.stdout.splitlines()]
        if done.returncode == 0 and len(said) < count - len(found):
            raise SystemExit(f"{name}: {len(said)} variants were read of {count - len(found)}")
        found += [one.strip() or "crash" for one in said]
        if done.returncode and not said:
            raise SystemExit(f"{name} cannot be read even whole")
    return Counter(found)


def damage(*, variants: int = 200) -> Iterator[str]:
    """Damaged files: so many variants of each format, and how each ends."""
    found: dict[str, Counter[str]] = {}
    yield from markdown_head("what is damaged", "variants", *OUTCOMES)
    for name in FORMATS:
        found[name] = outcomes(name, variants)
        yield markdown_row(name, found[name].total(), *(found[name][one] for one in OUTCOMES))
    every = sum(found.values(), Counter[str]())
    yield markdown_row("all", every.total(), *(every[one] for one in OUTCOMES))
    kept, bare = (
        sum((each for name, each in found.items() if any(mark in name for mark in CHECKED) == checked), Counter[str]())
        for checked in (True, False)
    )
    share = 100 * bare["another answer"] / max(bare.total(), 1)
    yield ""
    yield f"Of files with checksums {kept['another answer']} of {kept.total()} gave another answer,"
    yield f"of files without {bare['another answer']} of {bare.total()} ({share:.1f} %)."


LENGTH, BAD = 1000, 700
Row = dict[str, Any]


def rows() -> list[Row]:
    """A log with a row per item: two items in each list, drawn by a coin, the first of which is clicked in a half."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(LENGTH // 2):
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


def parquet_of(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
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
        parquet_of(lambda table: table.set_column(3, "click", pa.nulls(len(table), pa.int64()))),
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
    lost = "" if count == LENGTH else f"{count:,} rows, "
    return "as it is" if not lost and abs(value - TRUTH) <= 1e-12 else f"{lost}{value:.4g}"


_NEAR = "|".join(map(str, (BAD - 1, BAD, BAD + 1, BAD + 2, LENGTH - 1, LENGTH, LENGTH + 1)))
_LINE = re.compile(rf"\b(line:?|row|[Rr]ow #?|starting at row)\s*({_NEAR})\b")


def dirty_data() -> Iterator[str]:
    """Dirty files: what offrank, DuckDB, Polars and pandas do with the same ones."""
    yield markdown_row(f"a log of {LENGTH:,} rows with", *TOOLS)
    yield "|---|" + "---|" * len(TOOLS)
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, content) in FILES.items():
            path = Path(folder) / file
            content(path) if callable(content) else path.write_bytes(content)
            yield markdown_row(name, *(outcome(read, path) for read in TOOLS.values()))


COMMANDS = {damage: "damage", dirty_data: "dirty data", variants: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
