"""How long it takes to read nested and packed tables, beside the same log in the plain wide layout.

Run `python benchmarks/unfolding.py [rows]`: one line a form, with the median of five readings of all columns.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import offrank
from offrank.log.source import Needs

SLOTS, TIMES = 10, 5


def columns(rows: int) -> dict[str, Any]:
    """Slates with clicks, positions and scores, as arrays [rows, SLOTS]."""
    rng = np.random.default_rng(1)
    return {
        "sku": rng.integers(10**6, 10**7, (rows, 1)) + np.arange(SLOTS),
        "hit": (rng.random((rows, SLOTS)) < 0.1).astype(np.int64),
        "rank": np.argsort(rng.random((rows, SLOTS)), axis=1) + 1,
        "score": rng.random((rows, SLOTS)).round(4),
    }


def lists(values: Any) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1) * SLOTS, pa.int32()), values.ravel())


def forms(found: dict[str, Any], folder: Path) -> dict[str, tuple[Path, dict[str, str], str]]:
    """Name -> file, columns, score."""
    flat = {name: pa.array(values.ravel()) for name, values in found.items()}
    structs = pa.StructArray.from_arrays(list(flat.values()), list(flat))
    rows = len(found["sku"])
    items = pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * SLOTS, pa.int32()), structs)
    plain = {name: lists(values) for name, values in found.items()}
    text = {name: ["|".join(map(str, row)) for row in values.tolist()] for name, values in found.items()}
    cells = [json.dumps(row) for row in items.to_pylist()]
    pairs = [
        " ".join(f"N{i}-{c}" for i, c in zip(*row, strict=True))
        for row in zip(*(found[n].tolist() for n in ("sku", "hit")), strict=True)
    ]
    own = {"slate": "sku", "clicks": "hit"}
    dotted = {"slate": "items.sku", "clicks": "items.hit"}
    written: dict[str, tuple[Path, dict[str, str], str]] = {}

    def write(name: str, table: dict[str, Any], names: dict[str, str], score: str, kind: str = "parquet") -> None:
        path = folder / f"{name.replace(' ', '-')}.{kind}"
        made = pa.table(table)
        pq.write_table(made, path) if kind == "parquet" else pyarrow.csv.write_csv(made, path)
        written[f"{name}, {kind}"] = path, names, score

    write("plain", plain, own, "score")
    write("plain by position", plain, {**own, "position": "rank"}, "score")
    write("structs", {"items": items}, dotted, "items.score")
    write("structs by position", {"items": items}, {**dotted, "position": "items.rank"}, "items.score")
    write("JSON lists", {n: [json.dumps(row) for row in v.tolist()] for n, v in found.items()}, own, "score", "csv")
    write("tokens", text, own, "score", "csv")
    write("JSON objects", {"items": cells}, dotted, "items.score", "csv")
    write("Python lists", {"items": list(map(repr, items.to_pylist()))}, dotted, "items.score", "csv")
    write("pairs", {"shown": pairs}, {"slate": "shown.item", "clicks": "shown.click"}, "", "csv")
    return written


def seconds(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(TIMES):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return median(times)


def read(path: Path, names: dict[str, str], score: str) -> int:
    needed = Needs(frozenset(["clicks"]), scores=frozenset([score] if score else []))
    log = offrank.read_log(path, names).select(needed)
    return sum(len(batch) for part in range(log.parts()) for batch in log.batches(part))


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = forms(columns(rows), Path(folder))
        print(f"{rows:,} impressions of {SLOTS} items\n\n| form | s | beside plain |\n|---|--:|--:|")
        plain: dict[str, float] = {}
        for name, (path, names, score) in found.items():
            assert read(path, names, score) == rows
            took = seconds(lambda: read(path, names, score))  # noqa: B023  called at once
            kind = path.suffix
            plain.setdefault(kind, took)
            print(f"| {name} | {took:.3f} | {took / plain[kind]:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
