"""What carries checksums is told from what carries none, by `inspect` and by `convert`."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank

LONG = pa.table({"impression": [0, 0, 1], "item": [7, 8, 7], "position": [1, 2, 1], "click": [0, 1, 0]})
WIDE = pa.table({"slate": [[1, 2], [2, 1]] * 20, "clicks": [[0, 1], [1, 0]] * 20, "segment": ["a", "b"] * 20})


def packed(found: pa.Table, path: Path) -> None:
    plain = pa.BufferOutputStream()
    pa.csv.write_csv(found, plain)
    path.write_bytes(gzip.compress(plain.getvalue()))


Writes = Callable[[pa.Table, Path], Any]
FILES: dict[str, tuple[str, Writes, bool | None]] = {
    "Parquet": ("log.parquet", pq.write_table, False),
    "Parquet without dictionaries": ("log.parquet", partial(pq.write_table, use_dictionary=False), False),
    "Parquet, checksums": ("log.parquet", partial(pq.write_table, write_page_checksum=True), True),
    "Parquet, checksums, version 2": (
        "log.parquet",
        partial(pq.write_table, write_page_checksum=True, data_page_version="2.0", use_dictionary=False),
        True,
    ),
    "Arrow": ("log.arrow", partial(pa.feather.write_feather, compression="uncompressed"), False),
    "our Parquet": ("log.parquet", offrank.convert, True),
    "our Arrow": ("log.arrow", offrank.convert, True),
}


@pytest.mark.parametrize("kind", FILES)
def test_checksums_are_told_by_what_is_in_the_file(kind: str, tmp_path: Path) -> None:
    name, write, told = FILES[kind]
    write(WIDE, tmp_path / name)
    assert offrank.convert(tmp_path / name, tmp_path / "converted.parquet").checksums is told
    seen = offrank.inspect(tmp_path / name)
    assert (seen.to_dict()["checksums"], "a damaged number" in str(seen)) == (told, told is False)


@pytest.mark.parametrize("found", [LONG, WIDE.select([2]).append_column("slate", [["[1,2]", "[2,1]"] * 20])])
def test_text_is_protected_by_gzip_alone(found: pa.Table, tmp_path: Path) -> None:
    pa.csv.write_csv(found, tmp_path / "log.csv")
    packed(found, tmp_path / "log.csv.gz")
    told = [offrank.convert(tmp_path / name, tmp_path / f"{name}.arrow") for name in ("log.csv", "log.csv.gz")]
    assert [one.checksums for one in told] == [False, True]
    assert ["which the log itself does not have" in str(one) for one in told] == [True, False]


def test_a_table_in_memory_has_nothing_to_protect(tmp_path: Path) -> None:
    assert offrank.convert(WIDE, tmp_path / "a.parquet").checksums is None
    assert offrank.inspect(WIDE).to_dict()["checksums"] is None
