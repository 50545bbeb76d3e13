"""One log, in everything that `read_log` takes."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import ColumnError, EmptyLogError, LogError, RowError, SpellingError, UsageError
from offrank.log.source import Needs
from tests.readers.plain import EVERYTHING, codes, contents, rows

LOG: list[dict[str, Any]] = [
    {"slate": [3, 1], "candidates": [1, 2, 3], "clicks": [1, 0], "score": [0.5, 1.5, 2.5], "query": "a"},
    {"slate": [7], "candidates": [7, 9], "clicks": [0], "score": [1.0, 0.0], "query": "b"},
    {
        "slate": [1, 2, 4],
        "candidates": [4, 2, 1],
        "clicks": [0, 1, 1],
        "score": [3.0, 2.0, 1.0],
        "query": "a",
    },
    {"slate": [5], "candidates": [5], "clicks": [1], "score": [-1.0], "query": "c"},
]
LONG = [
    {
        "impression": number,
        "item": item,
        "position": row["slate"].index(item) + 1 if item in row["slate"] else None,
        "click": float(row["clicks"][row["slate"].index(item)]) if item in row["slate"] else None,
        "score": score,
        "query": row["query"],
    }
    for number, row in enumerate(LOG)
    for item, score in zip(row["candidates"], row["score"], strict=True)
]
NEEDED = EVERYTHING | Needs(scores=frozenset(["score"]), labels=frozenset(["query"]))
TABLE = pa.Table.from_pylist(LOG)


def expected(as_text: bool = False) -> list[dict[str, Any]]:
    """The log as it must come out. CSV files hold ids as text."""
    return [
        {
            "candidates": codes([str(i) for i in row["candidates"]] if as_text else row["candidates"]),
            "slate": codes([str(i) for i in row["slate"]] if as_text else row["slate"]),
            "inclusion": 1.0,
            "clicks": [float(c) for c in row["clicks"]],
            "score": row["score"],
            "label:query": row["query"],
        }
        for row in LOG
    ]


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "log.parquet")
    return folder / "log.parquet"


def parts(folder: Path) -> Path:
    for number in range(4):
        pq.write_table(TABLE.slice(number, 1), folder / f"part-{number}.parquet")
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "README.txt").write_text("not a log", encoding="utf-8")
    (folder / "result.json").write_text("{}", encoding="utf-8")
    return folder


def feather(folder: Path) -> Path:
    pyarrow.feather.write_feather(TABLE, str(folder / "log.feather"))
    return folder / "log.feather"


def stream(folder: Path) -> Path:
    with pa.ipc.new_stream(folder / "log.arrow", TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=3)
    return folder / "log.arrow"


def folders(folder: Path) -> str:
    for number in range(4):
        day = folder / f"day={number}"
        day.mkdir()
        pq.write_table(TABLE.slice(number, 1), day / "part.parquet")
        (day / ".part.parquet.crc").write_bytes(b"crc")
    return str(folder / "day=*")


def hive(folder: Path) -> str:
    for number in range(4):
        day = folder / "hive" / f"day={number // 2}"
        day.mkdir(parents=True, exist_ok=True)
        pq.write_table(TABLE.slice(number, 1), day / f"{number}.parquet")
    return str(folder / "hive")


def json_lines(folder: Path) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in LOG), encoding="utf-8")
    return path


def lists_as_text(folder: Path, separator: str = ",") -> Path:
    path = folder / f"log.{'csv' if separator == ',' else 'tsv'}"
    frame = pd.DataFrame(
        [{name: json.dumps(value) if name != "query" else value for name, value in r.items()} for r in LOG]
    )
    frame.to_csv(path, index=False, sep=separator)
    return path


FILES: dict[str, Callable[[Path], Any]] = {
    "parquet": parquet,
    "parquet as text": lambda folder: str(parquet(folder)),
    "folder": parts,
    "glob": lambda folder: str(parts(folder) / "part-*.parquet"),
    "list": lambda folder: [parts(folder) / f"part-{number}.parquet" for number in range(4)],
    "list of globs": lambda folder: [str(parts(folder) / g) for g in ("part-[01].parquet", "part-[23].parquet")],
    "glob of folders": folders,
    "glob of folders and files": lambda folder: str(Path(folders(folder)).parent / "**"),
    "hive folders": hive,
    "address": lambda folder: f"file://{parquet(folder)}",
    "JSON lines": json_lines,
    "lists as text in CSV": lists_as_text,
    "lists as text in TSV": lambda folder: lists_as_text(folder, "\t"),
    "feather": feather,
    "arrow stream": stream,
}
FRAMES: dict[str, Callable[[], Any]] = {
    "dicts": lambda: LOG,
    "tuple of dicts": lambda: tuple(LOG),
    "pandas": lambda: pd.DataFrame(LOG),
    "polars": lambda: pl.DataFrame(LOG),
    "arrow table": lambda: TABLE,
    "polars lazy": lambda: pl.LazyFrame(LOG),
    "data set": lambda: ds.dataset(TABLE),
    "filtered data set": lambda: ds.dataset(pa.concat_tables([TABLE, TABLE.slice(0, 0)])).filter(
        ds.field("query") != ""
    ),
    "record batch reader": lambda: TABLE.to_reader(max_chunksize=1),
    "iterator of tables": lambda: iter([TABLE.slice(0, 1), pl.DataFrame(LOG[1:3]), TABLE.slice(3)]),
    "iterator of dicts": lambda: iter(LOG),
    "arrow batch": lambda: TABLE.to_batches()[0],
    "arrow table in chunks": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1, 0), TABLE.slice(1)]),
}


@pytest.mark.parametrize("kind", FILES)
def test_files(kind: str, tmp_path: Path) -> None:
    assert contents(offrank.read_log(FILES[kind](tmp_path)), NEEDED) == expected()


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    assert contents(offrank.read_log(FRAMES[kind]()), NEEDED) == expected()


@pytest.mark.parametrize("kind", ["dicts", "pandas", "polars", "parquet"])
def test_the_long_layout(kind: str, tmp_path: Path) -> None:
    table = pa.Table.from_pylist(LONG)
    pq.write_table(table, tmp_path / "long.parquet", row_group_size=2)
    sources = {
        "dicts": LONG,
        "pandas": pd.DataFrame(LONG),
        "polars": pl.DataFrame(LONG),
        "parquet": tmp_path / "long.parquet",
    }
    assert contents(offrank.read_log(sources[kind]), NEEDED) == expected()


@pytest.mark.parametrize("packed", [False, True])
def test_csv(packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pd.DataFrame(LONG).to_csv(path, index=False)
    if packed:
        path, plain = tmp_path / "log.csv.gz", path
        path.write_bytes(gzip.compress(plain.read_bytes()))
    assert contents(offrank.read_log(path), NEEDED) == expected(as_text=True)


def test_several_csv_files_are_one_log(tmp_path: Path) -> None:
    frame = pd.DataFrame(LONG)
    frame[frame.impression < 2].to_csv(tmp_path / "1.csv", index=False)
    frame[frame.impression >= 2].to_csv(tmp_path / "2.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    log, whole = offrank.read_log(str(tmp_path / "[12].csv")), offrank.read_log(tmp_path / "all.csv")
    assert rows(log, NEEDED) == rows(whole, NEEDED)


def test_ids_in_csv_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('impression,item,position,click\n1,007,1,0\n1,"NA",2,1\n', encoding="utf-8")
    [row] = rows(offrank.read_log(path))
    assert row["slate"] == codes(["007", "NA"])


def test_renamed_columns() -> None:
    log = [{"shown": [1, 2], "tapped": [0, 1], "pool": [1, 2, 3]}]
    names = {"slate": "shown", "clicks": "tapped", "candidates": "pool"}
    [row] = rows(offrank.read_log(log, columns=names))
    assert (row["slate"], row["clicks"], row["candidates"]) == ([1, 2], [0, 1], [1, 2, 3])


def test_renamed_columns_of_the_long_layout() -> None:
    log = [
        {"request": 1, "product": 5, "rank": 1, "tap": 1, "paid": 0.5, "q": "x"},
        {"request": 1, "product": 6, "rank": 2, "tap": 0, "paid": 0.5, "q": "x"},
    ]
    names = {"impression": "request", "item": "product", "position": "rank", "click": "tap"}
    source = offrank.read_log(log, columns=names | {"reward": "paid", "query": "q"})
    [row] = rows(source, EVERYTHING | Needs(keys=frozenset(["query"])))
    assert (row["slate"], row["clicks"], row["reward"]) == ([5, 6], [1, 0], 0.5)


def test_format_named_by_the_user(tmp_path: Path) -> None:
    parquet(tmp_path).rename(tmp_path / "part-0")
    assert contents(offrank.read_log(tmp_path / "part-0", format="parquet"), NEEDED) == expected()
    assert contents(offrank.read_log(tmp_path, format="parquet"), NEEDED) == expected()


@pytest.mark.parametrize("kind", ["parquet", "feather", "folder"])
def test_a_source_can_be_sent_to_another_process(kind: str, tmp_path: Path) -> None:
    source = offrank.read_log(FILES[kind](tmp_path)).select(NEEDED)
    assert contents(pickle.loads(pickle.dumps(source)), NEEDED) == expected()


def test_a_long_source_can_be_sent_to_another_process() -> None:
    source = offrank.read_log(LONG).select(NEEDED)
    assert contents(pickle.loads(pickle.dumps(source)), NEEDED) == expected()


def test_describe(tmp_path: Path) -> None:
    assert offrank.read_log(parquet(tmp_path)).describe() == str(tmp_path / "log.parquet")
    assert offrank.read_log(LOG).describe() == "list in memory"
    (tmp_path / "parts").mkdir()
    assert offrank.read_log(parts(tmp_path / "parts")).describe().endswith("part-0.parquet (with 3 more files)")


REFUSED: dict[str, tuple[Callable[[Path], Any], dict[str, Any], type[Exception], str]] = {
    "unknown role": (lambda _: LOG, {"columns": {"slat": "x"}}, UsageError, "did you mean 'slate'"),
    "unknown role, nothing near": (
        lambda _: LOG,
        {"columns": {"xyzzy": "x"}},
        UsageError,
        "roles are slate, clicks",
    ),
    "missing column": (
        lambda _: [{"slatte": [1]}],
        {},
        ColumnError,
        r"nearest name is 'slatte'.*columns=\{\"slate\": ",
    ),
    "renamed to nothing": (lambda _: LOG, {"columns": {"slate": "scores"}}, ColumnError, "'scores'.*'score'"),
    "long without position": (
        lambda _: [{"impression": 1, "item": 2}],
        {},
        ColumnError,
        "no column 'position'",
    ),
    "invalid": (lambda _: LOG, {"invalid": "ignore"}, UsageError, '"raise" or "skip"'),
    "ids of two kinds": (lambda _: [{"slate": ["a", 1]}], {}, ColumnError, "column 'slate'.*same kind"),
    "ids of two kinds in pandas": (
        lambda _: pd.DataFrame({"slate": [["a", 1]]}),
        {},
        ColumnError,
        "column slate.*same kind",
    ),
    "no rows": (lambda _: TABLE.slice(0, 0), {}, EmptyLogError, "no rows"),
    "empty list": (lambda _: [], {}, EmptyLogError, "no rows"),
    "a number": (lambda _: 7, {}, UsageError, "cannot read a log from int"),
    "a stream of numbers": (lambda _: iter([1]), {}, UsageError, "cannot read a table from int.*tables or dicts"),
    "no file": (lambda folder: folder / "none.parquet", {}, LogError, "no log at .*quote the glob"),
    "empty folder": (lambda folder: folder, {}, LogError, "no log at"),
    "unknown format": (parquet, {"format": "xml"}, SpellingError, "name from: ab_test, arrow"),
    "fixed columns": (
        lambda _: "x",
        {"format": "yandex", "columns": {"slate": "s"}},
        UsageError,
        "are fixed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path) -> None:
    source, options, error, words = REFUSED[case]
    with pytest.raises(error, match=f"(?s){words}"):
        offrank.read_log(source(tmp_path), **options)


BROKEN: dict[str, tuple[str, bytes, type[Exception], str]] = {
    "no bytes": ("log.parquet", b"", EmptyLogError, "is empty"),
    "not parquet": (
        "log.parquet",
        b"PAR1, slate,clicks\n",
        LogError,
        "cannot be read as a Parquet file: Parquet magic",
    ),
    "not arrow": ("log.arrow", b"\xff\xff\xff\xff, slate,clicks\n", LogError, "not an Arrow IPC file"),
    "not arrow's file": ("log.arrow", b"ARROW1, slate,clicks\n", LogError, "cannot be read as an Arrow IPC file"),
    "text in Parquet's name": ("log.parquet", b"impression,item,position\n", ColumnError, "no column 'click'"),
    "unknown suffix": ("log.xls", b"x\n", EmptyLogError, "log.xls.*no rows"),
    "no clicks": (
        "log.csv",
        b"impression,item,position\n",
        ColumnError,
        "no column 'click' .number, for a shown",
    ),
    "not gzip": ("log.csv.gz", b"impression,item,position\n", ColumnError, "no column 'click'"),
    "cut gzip": ("log.csv.gz", gzip.compress(b"impression,item,position\n")[:-9], LogError, "cut off or damaged"),
    "not csv": ("log.csv", b"\n\n", LogError, "header"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files(case: str, tmp_path: Path) -> None:
    name, content, error, words = BROKEN[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=f"(?s){words}"):
        rows(offrank.read_log(tmp_path / name))


def test_files_of_several_kinds(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"several kinds: arrow \(.*feather\), parquet \(.*parquet\)"):
        offrank.read_log([parquet(tmp_path), feather(tmp_path)])


def test_empty_files_beside_full_ones(tmp_path: Path) -> None:
    pq.write_table(TABLE.slice(0, 0), tmp_path / "0.parquet")
    pq.write_table(TABLE, tmp_path / "1.parquet")
    assert contents(offrank.read_log(tmp_path), NEEDED) == expected()


def test_empty_arrow_file(tmp_path: Path) -> None:
    pyarrow.feather.write_feather(TABLE.slice(0, 0), str(tmp_path / "log.feather"))
    with pytest.raises(EmptyLogError, match="no rows"):
        offrank.read_log(tmp_path / "log.feather")


def test_csv_without_rows(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"impression,item,position,click\n")
    assert rows(offrank.read_log(tmp_path / "log.csv")) == []


def test_csv_with_an_unfit_value(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("impression,item,position,click\n1,5,1,0\n2,5,first,0\n", encoding="utf-8")
    with pytest.raises(
        LogError, match=r"log\.csv, line 3, row 1 \(the first is 0\), column 'position', cannot be read.*'first'"
    ):
        rows(offrank.read_log(tmp_path / "log.csv"))


def test_a_file_that_lacks_a_column(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "1.parquet")
    pq.write_table(TABLE.drop_columns(["clicks"]), tmp_path / "2.parquet")
    with pytest.raises(ColumnError, match=r"2\.parquet has no column 'clicks', but .*1\.parquet has one"):
        rows(offrank.read_log(tmp_path))


def test_a_key_that_the_first_dict_lacks_is_not_dropped() -> None:
    kept = [dict(row) for row in LOG]
    for row in kept[1:]:
        row["inclusion"] = 0.5
    with pytest.raises(RowError, match=r"row 0 .*'inclusion': None"):
        rows(offrank.read_log(kept))
    kept[0]["inclusion"] = 1.0
    assert len(rows(offrank.read_log(kept))) == len(LOG)


def test_a_missing_score_is_named_at_once() -> None:
    with pytest.raises(ColumnError, match="no column 'scoer'"):
        offrank.read_log(LOG).select(Needs(scores=frozenset(["scoer"])))


def test_a_log_says_what_it_is(tmp_path: Path) -> None:
    table = pa.table({"slate": [[1, 2], [2, 1]], "clicks": [[0, 1], [0, 0]], "query": ["a", "b"]})
    pq.write_table(table, tmp_path / "a.parquet")
    columns = [f"  {name}: {kind}" for name, kind in zip(table.schema.names, table.schema.types, strict=True)]
    assert repr(offrank.read_log(table)).splitlines() == ["table in memory: wide layout, 2 rows", *columns]
    first, *names = repr(offrank.read_log(tmp_path / "a.parquet")).splitlines()
    assert first.endswith("a.parquet: wide layout, 2 rows")
    assert [line.split(":")[0].strip() for line in names] == table.schema.names
    (tmp_path / "a.csv").write_text("impression,item,position\n1,a,1\n1,b,2\n")
    first, *names = repr(offrank.read_log(tmp_path / "a.csv")).splitlines()
    assert first.endswith("a.csv: long layout")  # how many rows it has nobody knows before it is read
    assert [line.split(":")[0].strip() for line in names] == ["impression", "item", "position"]
