"""The world of adverts in the text format of paper criteo-test-bed."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from .advert_pools import Pool


def write_text(path: str | Path, tables: Iterator[pa.Table], pools: Mapping[int, Pool]) -> None:
    """Write rows of an AdvertWorld; packed where the name ends in `.gz`.

    The products shown come first, in order; what the format has no place for (scores, contexts) is lost.
    """
    packed = str(path).endswith(".gz")
    with gzip.open(path, "wt", compresslevel=1) if packed else Path(path).open("w", encoding="ascii") as file:
        number = 0
        for table in tables:
            for row in table.drop_columns(["features", "feature_values", "old_score"]).to_pylist():
                file.write(_impression(number, row, pools[row["slots"]]))
                number += 1


def _impression(number: int, row: Mapping[str, Any], pool: Pool) -> str:
    context = row["query"] - pool.first
    heads, lines = pool.texts
    clicks = dict(zip(row["slate"], row["clicks"], strict=True))
    name = hashlib.sha256(str((pool.seed, number)).encode()).hexdigest()
    head = (int(any(row["clicks"])), f"{row['propensity']:.6e}", len(row["slate"]), len(row["candidates"]))
    items = (*row["slate"], *(item for item in row["candidates"] if item not in clicks))
    below = (f"{clicks.get(item, 0)} exid:{number} {lines[context][item % 100]}\n" for item in items)
    return f"example {number}: {name} {' '.join(map(str, head))} {heads[context]}\n" + "".join(below)
