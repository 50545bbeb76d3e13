"""Logs that come as streams: what can be given, in any shape; read in bounded memory; and what reads them twice."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import ColumnError, EmptyLogError, LogError, UsageError
from tests.readers.plain import contents
from tests.readers.test_read_log import LOG, LONG, NEEDED, TABLE, expected


class Capsule:
    """An object of a library that offers a stream and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return TABLE.to_reader(1).__arrow_c_stream__(requested_schema)


class Ibis:
    """What is asked of an Ibis table. Ibis 12 does not run with DuckDB 2, so the real one is not installed here."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.columns = table, tuple(table.column_names)

    def select(self, *names: str) -> Ibis:
        return Ibis(self.table.select(names))

    def to_pyarrow_batches(self, *, chunk_size: int) -> pa.RecordBatchReader:
        return self.table.to_reader(min(chunk_size, 3))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise AssertionError("the capsule would hold the whole result")


def relation() -> Any:
    found = duckdb.connect().from_arrow(TABLE)
    return found.project('*, 1 as "odd "" name"')


ONCE: dict[str, Callable[[], Any]] = {
    "reader": lambda: TABLE.to_reader(1),
    "capsule": Capsule,
    "batches": lambda: iter(TABLE.to_batches(1)),
    "dicts": lambda: (row for row in LOG),
}
AGAIN: dict[str, Callable[[], Any]] = {
    "function of a reader": lambda: lambda: TABLE.to_reader(1),
    "generator function": lambda: lambda: (yield from TABLE.to_batches(1)),
    "function of a table": lambda: lambda: TABLE,
    "DuckDB relation": relation,
    "Ibis table": lambda: Ibis(TABLE),
}


@pytest.mark.parametrize("kind", ONCE | AGAIN)
def test_what_is_read(kind: str) -> None:
    log = offrank.read_log((ONCE | AGAIN)[kind]())
    assert log.parts() == 1
    assert contents(log, NEEDED) == expected()
    if kind in AGAIN:
        assert contents(log, NEEDED) == expected()
    else:
        with pytest.raises(UsageError, match=r"(?s)only once, but it was read before.*lambda.*Parquet"):
            contents(log, NEEDED)


def test_sql_is_a_log_that_is_read_again(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "s.parquet")
    log = offrank.read_log(f"duckdb:select *\nfrom '{tmp_path}/s.parquet'")
    for _ in range(2):
        assert contents(pickle.loads(pickle.dumps(log)), NEEDED) == expected()
    assert log.describe() == f"duckdb:select * from '{tmp_path}/s.parquet'"


def test_sql_on_the_command_line(tmp_path: Path) -> None:
    pq.write_table(WIDE, tmp_path / "s.parquet")
    query = f"duckdb:select slate, clicks as tapped, s from \"{tmp_path}/s.parquet\" where query = 'a'"
    asked = ["--target", "top(s)", "--logging", "uniform", "-e", "ips", "--column", "clicks=tapped"]
    found = CliRunner().invoke(main, ["evaluate", query, *asked, "--json", str(tmp_path / "out.json")])
    assert found.exit_code == 0, found.output
    log = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["log"]
    assert log["impressions"] == WIDE.filter(pc.equal(WIDE["query"], "a")).num_rows == 32
    assert CliRunner().invoke(main, ["evaluate", "duckdb:selec", *asked]).output.startswith("error: 'duckdb:selec' ")


BAD_SQL = {
    "duckdb:selec": "'duckdb:selec' cannot be read: Parser Error(.|\n)*correct the query",
    "duckdb:from 'none.parquet'": "No files found",
    "duckdb:select 1 as slate, error('later') as clicks": "later",
    "duckdb:set threads = 2": "has no rows",
}


@pytest.mark.parametrize("query", BAD_SQL)
def test_sql_that_cannot_be_read(query: str) -> None:
    with pytest.raises((LogError, UsageError), match=BAD_SQL[query]):
        contents(offrank.read_log(query), NEEDED)


def test_duckdb_is_missing(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(offrank.errors.MissingExtraError, match=r"(?s)needs DuckDB.*pip install .*\[duckdb\]"):
        offrank.read_log("duckdb:select 1")


def test_a_relation_of_a_busy_connection() -> None:
    connection = duckdb.connect()
    long = connection.sql("select [1] as slate, [1] as clicks from range(400_000)")
    one, other = (offrank.read_log(long).batches(0) for _ in range(2))
    next(one)
    with pytest.raises(LogError, match=r"(?s)relation cannot be read.*nothing else with it"):
        next(other)


@pytest.mark.parametrize("kind", ["reader", "DuckDB relation"])
def test_what_cannot_be_sent_to_another_process(kind: str) -> None:
    with pytest.raises(UsageError, match=r"(?s)cannot be sent to other processes.*use threads"):
        pickle.dumps(offrank.read_log((ONCE | AGAIN)[kind]()))


# Batches that are not alike ------------------------------------------------------------------------------------------


def test_types_may_become_wider() -> None:
    whole, parts = {"slate": [1], "clicks": [1]}, {"slate": [1], "clicks": [0.5]}
    rows = [pa.Table.from_pylist([one]) for one in ({"slate": [2], "clicks": []}, whole, parts, whole)]
    with pytest.raises(offrank.errors.RowError, match="row 0"):  # and the row keeps its number
        list(offrank.read_log(iter(rows)).batches(0))
    found = offrank.evaluate(iter(rows[1:]), "uniform", "uniform", "ips")
    assert found["ips"].value == pytest.approx(2.5 / 3, rel=1e-12)


UNLIKE: dict[str, tuple[list[Any], type[Exception], str]] = {
    "other columns": ([TABLE, TABLE.drop_columns("query")], ColumnError, "tables of the stream differ.*same columns"),
    "text after numbers": (
        [pa.table({"slate": [[7]], "clicks": [[1]]}), pa.table({"slate": [["7"]], "clicks": [[1]]})],
        ColumnError,
        "tables of the stream differ.*slate",
    ),
    "a late key": (
        [{"slate": [1], "clicks": [1]}] * 1024 + [{"slate": [1], "clicks": [1], "inclusion": 0.5}],
        ColumnError,
        "first 1,024 rows of the stream have no 'inclusion'",
    ),
    "nothing": ([], EmptyLogError, "stream has no rows"),
    "no rows": ([TABLE.slice(0, 0)], EmptyLogError, "stream has no rows"),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_refused(case: str) -> None:
    given, error, words = UNLIKE[case]
    with pytest.raises(error, match=f"(?s){words}"):
        offrank.evaluate(iter(given), "uniform", "uniform", "ips")


def test_a_key_that_later_rows_lack_is_null() -> None:
    rows = [{"slate": [1], "clicks": [1], "inclusion": 1.0}] * 1024 + [{"slate": [1], "clicks": [1]}]
    with pytest.raises(offrank.errors.RowError, match=r"row 1024 .*'inclusion': None"):
        offrank.evaluate(iter(rows), "uniform", "uniform", "ips")


def test_small_batches_are_joined_and_large_ones_cut() -> None:
    table = pa.table({"slate": [[1]] * 140_000, "clicks": [[1]] * 140_000})
    for size in (70, 135_000):
        pieces = list(offrank.read_log(table.to_reader(size)).table.pieces(0, ("slate", "clicks")))  # type: ignore[attr-defined]
        lengths = [len(piece.data) for piece in pieces]
        assert sum(lengths) == 140_000
        assert max(lengths) <= 131_072
        assert len(lengths) <= 5
        assert np.concatenate([piece.rows for piece in pieces]).tolist() == list(range(140_000))


def test_a_function_that_returns_a_used_stream() -> None:
    reader = TABLE.to_reader()
    log = offrank.read_log(lambda: reader)
    contents(log, NEEDED)
    with pytest.raises(UsageError, match=r"<lambda>\(\) returns has no rows when called again(.|\n)*in each call"):
        contents(log, NEEDED)


# Jobs that read a log twice ------------------------------------------------------------------------------------------

ROWS = [
    {"slate": [1, 2], "clicks": [1, 0], "query": q, "s": [2.0, 1.0], "propensity": 0.5, "features": [[1], [2]]}
    for q in "aabb"
] + [
    {"slate": [2, 1], "clicks": [0, 1], "query": q, "s": [1.0, 2.0], "propensity": 0.5, "features": [[2], [1]]}
    for q in "abab"
]
WIDE = pa.Table.from_pylist(ROWS * 8)


def asked(log: Any, estimator: str = "ips", logging: str = "uniform") -> Any:
    return offrank.evaluate(log, "plackett_luce(s)", logging, estimator, cluster=None)


JOBS: dict[str, Callable[[Any, Path], Any]] = {
    "evaluate": lambda log, _: asked(log)["ips"].value,
    "groups": lambda log, _: offrank.evaluate(log, "uniform", "logged", "ips", by="query").groups["a"]["ips"].value,
    "compare": lambda log, _: (
        offrank.compare(log, ["uniform", "top(s)"], "uniform").difference("top(s)", "uniform").value
    ),
    "check": lambda log, _: [str(one) for one in offrank.check(log).facts["checks"]],
    "measure": lambda log, _: [one.value for one in offrank.measure(log, "s", "uniform").found.values()],
    "harvest": lambda log, _: str(offrank.harvest_clicks(log)).split("\n", 1)[1],
    "click model": lambda log, _: offrank.clicks.RCTR().fit(log).score(WIDE),
    "convert": lambda log, folder: offrank.convert(log, folder / "log.parquet", overwrite=True).rows,
}
TWICE: dict[str, Callable[[Any, Path], Any]] = {
    "counted": lambda log, _: asked(log, "ipm", "counted(by=query)"),
    "regression": lambda log, _: asked(log, "dr(lasso)"),
    "auto": lambda log, _: asked(log, "auto"),
    "select": lambda log, _: offrank.select_estimators(log, "plackett_luce(s)", "uniform"),
    "inspect": lambda log, _: offrank.inspect(log),
    "learn": lambda log, folder: offrank.learn(log, "ips", folder / "policy.npz", logging="uniform"),
}


def batches(read: list[int]) -> Iterator[pa.RecordBatch]:
    """The log in small batches; `read` counts them."""
    for data in WIDE.to_batches(10):
        read.append(len(data))
        yield data


@pytest.mark.parametrize("job", JOBS)
def test_one_pass(job: str, tmp_path: Path) -> None:
    read: list[int] = []
    assert JOBS[job](batches(read), tmp_path) == JOBS[job](WIDE, tmp_path)
    assert sum(read) == len(WIDE)


@pytest.mark.parametrize("job", TWICE)
def test_two_passes_are_refused_before_the_first(job: str, tmp_path: Path) -> None:
    read: list[int] = []
    with pytest.raises(UsageError, match=r"(?s)stream can be read only once, but .*what to do: give a function"):
        TWICE[job](batches(read), tmp_path)
    assert read == [10]  # the first tells the columns


def test_two_passes_of_a_function() -> None:
    calls: list[list[int]] = []

    def opened() -> Iterator[pa.RecordBatch]:
        calls.append([])
        return batches(calls[-1])

    found = asked(opened, "ipm", "counted(by=query)")
    assert found["ipm"].value == pytest.approx(asked(WIDE, "ipm", "counted(by=query)")["ipm"].value, rel=1e-12)
    assert list(map(sum, calls)) == [len(WIDE)] * 2


def test_packed_texts_of_a_function_are_told_from_more_than_its_first_batch() -> None:
    table = pa.table({"impressions": ["N1-0", "N2-0 N1-0", "N2-1 N1-0"]})
    found = offrank.evaluate(lambda: table.to_reader(1), "uniform", "uniform", "ips", cluster=None)["ips"]
    assert (found.value, found.n) == (pytest.approx(1 / 3), 3)


def test_the_long_layout_is_read_twice() -> None:
    table = pa.Table.from_pylist(LONG)
    with pytest.raises(UsageError, match=r"only once, but the order of the rows of the long layout"):
        contents(offrank.read_log(table.to_reader()), NEEDED)
    assert contents(offrank.read_log(lambda: table.to_reader(2)), NEEDED) == expected()


def test_the_bootstrap_of_a_stream_is_that_of_the_table() -> None:
    def found(log: Any) -> Any:
        return offrank.evaluate(log, "top(s)", "uniform", "snips", interval="bootstrap", cluster=None)["snips"]

    assert found(batches([])).standard_error == pytest.approx(found(WIDE).standard_error, rel=1e-12)


# Memory --------------------------------------------------------------------------------------------------------------

CHILD = """
import re, sys
from pathlib import Path
import numpy as np, pyarrow as pa, offrank

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

ROWS = 16 << 10
FIVE = [1, 2, 3, 4, 5]

def lists(row):
    return pa.FixedSizeListArray.from_arrays(pa.array(np.tile(row, ROWS)), 5)

def batches(count):
    for _ in range(count):
        pages = np.ones(8 << 20, np.uint8)  # a column that is not read, all of it new memory
        other = pa.FixedSizeBinaryArray.from_buffers(pa.binary(512), ROWS, [None, pa.py_buffer(pages)])
        columns = {"slate": lists(FIVE), "clicks": lists([1, 0, 0, 0, 0]), "s": lists([5.0, 4, 3, 2, 1])}
        yield pa.record_batch({**columns, "page": other})

def value(count):
    policy = "plackett_luce(s)"
    return offrank.evaluate(batches(count), policy, policy, ["ips", "snips"], cluster=None)["ips"]

value(4)
before = peak()
found = value(32)
print(found.n, found.value, 32 * 8, peak() - before)
"""


@pytest.mark.turns(3)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read where Linux tells it")
def test_a_stream_is_not_held() -> None:
    told = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True).stdout.split()
    rows, value, megabytes, grown = map(float, told)
    assert (rows, value, megabytes) == (32 * 16_384, 1.0, 256)
    assert grown < 32


# Data sets -----------------------------------------------------------------------------------------------------------


def test_partitions_and_filters_of_a_data_set(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(TABLE, tmp_path / f"day={day}" / "log.parquet")
    whole = ds.dataset(tmp_path, partitioning="hive")
    found = offrank.evaluate(whole.filter(ds.field("day") > 1), "uniform", "uniform", "ips", by="day", cluster=None)
    assert sorted(found.groups) == ["2", "3"]
    assert found["ips"].n == 2 * len(TABLE)
