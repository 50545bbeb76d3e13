"""Whoever looks at a source and whoever reads it share what was opened: nothing is opened or read twice for it."""

from __future__ import annotations

import gc
import gzip
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.readers import opening
from offrank.readers.csv_json import CsvJsonTable
from offrank.readers.files import Files

ROWS = {
    "search": [f"s{at // 3}" for at in range(60)],
    "sku": [f"p{at % 7}" for at in range(60)],
    "place": [at % 3 for at in range(60)],
    "tapped": [int(at % 5 == 0) for at in range(60)],
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often files are opened as a table, and how often rows of text files are read."""
    found: Counter[str] = Counter()

    def watch(owner: Any, name: str, what: str) -> None:
        inner = getattr(owner, name)

        def counting(*given: Any, **how: Any) -> Any:
            found[what] += 1
            return inner(*given, **how)

        monkeypatch.setattr(owner, name, counting)

    watch(opening, "_files", "opened")
    watch(CsvJsonTable, "pieces", "read")
    return found


def test_a_table_is_opened_once(tmp_path: Path, counted: Counter[str]) -> None:
    pa.csv.write_csv(pa.table(ROWS), tmp_path / "log.csv")
    log = offrank.read_log(tmp_path / "log.csv")
    assert log.description.layout != "none"
    assert log.description.columns["impression"] == "search"
    assert counted == {"opened": 1, "read": 2}  # texts that may be lists; the first rows


def test_a_table_that_is_no_log_is_opened_once(tmp_path: Path, counted: Counter[str]) -> None:
    rows = {"user": [1, 2, 1], "movie": ["a", "b", "c"], "rating": [3, 4, 5]}
    pa.csv.write_csv(pa.table(rows), tmp_path / "ratings.csv")
    assert offrank.inspect(tmp_path / "ratings.csv").layout == "none"
    assert counted == {"opened": 1, "read": 2}


def test_each_of_two_tables_is_opened_once(tmp_path: Path, counted: Counter[str]) -> None:
    shown = {name: ROWS[name] for name in ("search", "sku", "place")}
    clicked = {name: ROWS[name][::5] for name in ("search", "sku")}
    paths = [tmp_path / "shown.parquet", tmp_path / "clicked.parquet"]
    for path, rows in zip(paths, (shown, clicked), strict=True):
        pq.write_table(pa.table(rows), path)
    log = offrank.read_log(paths)
    assert log.description.format.startswith("events(")
    assert counted == {"opened": 3}  # as one table, and each alone


def test_an_iterator_keeps_its_first_rows() -> None:
    """What was opened to look at it is what is read: nothing of a stream is lost, where its names are not enough."""
    rows = [{"slate": ["a", "b"], "tapped": [at % 2, 0]} for at in range(4)]
    batches = pa.Table.from_pylist(rows).to_batches(max_chunksize=1)
    assert sum(map(len, offrank.read_log(iter(batches)).batches(0))) == 4


@pytest.mark.parametrize("packed", [False, True])
def test_who_reads_ahead_holds_no_number_that_the_next_file_gets(packed: bool, tmp_path: Path) -> None:
    """Arrow's own local streams are closed while its threads are about to read by their number: see `Files.open`."""
    path = tmp_path / "log.csv"
    path.write_bytes(gzip.compress(b"a\n1\n") if packed else b"a\n1\n")
    with Files((str(path),)).open(str(path)) as stream:
        held = [one for one in gc.get_objects() if type(one) is io.BufferedReader and one.name == str(path)]
        assert len(held) == 1
        assert stream.read() == b"a\n1\n"
    assert held[0].closed
