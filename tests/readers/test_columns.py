"""Every kind of Arrow column that can hold ids, numbers or lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError
from offrank.log.source import Needs
from offrank.readers.long import LongLog
from offrank.readers.tables import MemoryTable, Piece
from offrank.readers.wide import WideLog
from tests.readers.plain import EVERYTHING, code, codes, contents

SLATES = [[3, 1], [2, 4], [1, 9]]
TWICE = pa.Table.from_arrays(
    [pa.array(SLATES), pa.array([[1, 0], [0, 0], [0, 1]]), pa.array([1, 2, 3]), pa.array([4, 5, 6])],
    names=["slate", "clicks", "weekday", "weekday"],
)
TEXTS = [[str(item) for item in slate] for slate in SLATES]
CLICKS = [[1, 0], [0, 0], [0, 1]]


def ids(values: list[Any], kind: pa.DataType) -> pa.Array:
    """A list column of ids of this kind."""
    return pa.array(values, pa.list_(kind))


def encoded(values: list[list[str]], index: pa.DataType) -> pa.Array:
    """A list column of dictionary-encoded ids."""
    flat = pa.array([item for row in values for item in row]).dictionary_encode()
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int32)
    cast = pa.DictionaryArray.from_arrays(flat.indices.cast(index), flat.dictionary)
    return pa.ListArray.from_arrays(pa.array(offsets), cast)


INTEGERS = {
    "int64": ids(SLATES, pa.int64()),
    "int8": ids(SLATES, pa.int8()),
    "uint32": ids(SLATES, pa.uint32()),
    "large_list": pa.array(SLATES, pa.large_list(pa.int64())),
    "fixed_size_list": pa.array(SLATES, pa.list_(pa.int64(), 2)),
    "list_view": pa.array(SLATES, pa.list_view(pa.int64())),
    "sliced": ids([[5], *SLATES, [6, 7]], pa.int64()).slice(1, 3),
    "sliced fixed_size_list": pa.array([[5, 6], *SLATES, [6, 7]], pa.list_(pa.int64(), 2)).slice(1, 3),
    "polars": pl.Series(SLATES).to_arrow(),
}
STRINGS = {
    "string": ids(TEXTS, pa.string()),
    "large_string": ids(TEXTS, pa.large_string()),
    "string_view": ids(TEXTS, pa.string_view()),
    "dictionary": encoded(TEXTS, pa.int32()),
    "small dictionary": encoded(TEXTS, pa.uint8()),
    "sliced dictionary": encoded([["x"], *TEXTS], pa.int32()).slice(1),
    "sliced": ids([["x", "y"], *TEXTS], pa.string()).slice(1),
    "binary": ids([[t.encode() for t in row] for row in TEXTS], pa.binary()),
    "polars": pl.Series(TEXTS).to_arrow(),
    "polars categories": pl.Series(TEXTS, dtype=pl.List(pl.Categorical)).to_arrow(),
}


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_ids(kind: str) -> None:
    log = pa.table({"slate": INTEGERS[kind], "clicks": CLICKS})
    assert [row["slate"] for row in contents(offrank.read_log(log))] == SLATES


@pytest.mark.parametrize("kind", STRINGS)
def test_string_ids(kind: str) -> None:
    log = pa.table({"slate": STRINGS[kind], "clicks": CLICKS})
    assert [row["slate"] for row in contents(offrank.read_log(log))] == [codes(row) for row in TEXTS]


def test_candidates_may_be_encoded_otherwise_than_the_slate() -> None:
    log = pa.table({"slate": STRINGS["string"], "candidates": STRINGS["dictionary"], "clicks": CLICKS})
    assert [row["slate"] for row in contents(offrank.read_log(log))] == [codes(row) for row in TEXTS]


NUMBERS = {
    "float": pa.array(CLICKS, pa.list_(pa.float64())),
    "float32": pa.array(CLICKS, pa.list_(pa.float32())),
    "float16": pa.array(np.array(CLICKS, np.float16).tolist(), pa.list_(pa.float16())),
    "integer": pa.array(CLICKS, pa.list_(pa.uint8())),
    "boolean": pa.array([[bool(c) for c in row] for row in CLICKS]),
    "decimal": pa.array(CLICKS, pa.list_(pa.int64())).cast(pa.list_(pa.decimal128(21, 2))),
    "fixed_size_list": pa.array(CLICKS, pa.list_(pa.float64(), 2)),
    "sliced": pa.array([[9], *CLICKS], pa.list_(pa.float64())).slice(1),
    "polars": pl.Series(CLICKS).to_arrow(),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers(kind: str) -> None:
    log = pa.table({"slate": SLATES, "clicks": NUMBERS[kind]})
    assert [row["clicks"] for row in contents(offrank.read_log(log))] == CLICKS


@pytest.mark.parametrize("kind", ["float32", "integer", "boolean", "decimal"])
def test_reward(kind: str) -> None:
    reward = NUMBERS[kind].flatten()[:3]
    log = pa.table({"slate": SLATES, "reward": reward})
    assert [row["reward"] for row in contents(offrank.read_log(log), Needs(frozenset(["reward"])))] == [
        1,
        0,
        0,
    ]


QUERIES = {
    "string": pa.array(["a", "b", "a"]),
    "string_view": pa.array(["a", "b", "a"], pa.string_view()),
    "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
    "sliced dictionary": pa.array(["z", "a", "b", "a"]).dictionary_encode().slice(1),
    "polars": pl.Series(["a", "b", "a"]).to_arrow(),
}


@pytest.mark.parametrize("kind", QUERIES)
def test_keys_and_labels(kind: str) -> None:
    log = pa.table({"slate": SLATES, "clicks": CLICKS, "query": QUERIES[kind]})
    found = contents(offrank.read_log(log), EVERYTHING | Needs(keys=frozenset(["query"]), labels=frozenset(["query"])))
    assert [row["label:query"] for row in found] == ["a", "b", "a"]
    assert [row["key:query"] for row in found] == [code("a"), code("b"), code("a")]


@pytest.mark.parametrize("kind", QUERIES)
def test_keys_and_labels_of_the_long_layout(kind: str) -> None:
    log = pa.table(
        {"impression": QUERIES[kind], "item": [1, 2, 3], "position": [1, 1, 1], "click": [0, 1, 0]}
    ).append_column("query", QUERIES[kind])
    found = contents(offrank.read_log(log.slice(0, 2)), EVERYTHING | Needs(labels=frozenset(["query"])))
    assert [row["label:query"] for row in found] == ["a", "b"]


def test_categories_that_differ_from_row_group_to_row_group(tmp_path: Path) -> None:
    items = ["a", "b", "c", "d", "e"]
    log = pa.table({"impression": [1, 1, 2, 2, 3], "position": [1, 2, 1, 2, 1], "click": [0] * 5})
    log = log.append_column("item", pa.array(items).dictionary_encode())
    log = log.append_column("banner", pa.array(["x", "x", "y", "y", "z"]).dictionary_encode())
    pq.write_table(log, tmp_path / "log.parquet", row_group_size=1)
    found = contents(offrank.read_log(tmp_path), EVERYTHING | Needs(labels=frozenset(["banner"])))
    assert [row["slate"] for row in found] == [codes(["a", "b"]), codes(["c", "d"]), codes(["e"])]
    assert [row["label:banner"] for row in found] == ["x", "y", "z"]


def test_null_labels_are_a_group() -> None:
    log = pa.table({"slate": SLATES, "clicks": CLICKS, "banner": pa.array([None, 2, None])})
    found = contents(offrank.read_log(log), EVERYTHING | Needs(labels=frozenset(["banner"])))
    assert [row["label:banner"] for row in found] == ["null", "2", "null"]


UNFIT = {
    "scalar slate": ({"slate": [1, 2]}, "'slate' holds int64, not lists.*write a list per row"),
    "text slate": ({"slate": ["a b, c"]}, "row 0 .*'slate': 'a b, c' is not a JSON list.*as JSON"),
    "float ids": ({"slate": [[1.0]]}, "'slate' holds double ids.*integers or strings"),
    "text clicks": ({"slate": [[1]], "clicks": [["1"]]}, "'clicks' holds string, not numbers"),
    "scalar clicks": ({"slate": [[1]], "clicks": [1]}, "'clicks' holds int64, not lists"),
    "text reward": ({"slate": [[1]], "clicks": [[1]], "reward": ["1"]}, "'reward' holds string, not numbers"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_unfit_columns(case: str) -> None:
    columns, words = UNFIT[case]
    log = pa.table({"clicks": [[0]] * len(columns["slate"])} | columns)
    with pytest.raises(LogError, match=f"(?s){words}"):
        contents(offrank.read_log(log), EVERYTHING | Needs(frozenset(["reward"])))


@dataclass(frozen=True)
class Spy:
    """A table that notes which columns are asked for."""

    table: MemoryTable
    asked: set[str] = field(default_factory=set)

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        self.asked.update(columns)
        return self.table.pieces(part, columns)


WIDE = {
    "slate": [[1]], "candidates": [[1, 2]], "clicks": [[0]], "reward": [0.0], "propensity": [1.0],
    "inclusion": [1.0], "query": ["q"], "score": [[1.0, 2.0]], "other": [[1.0, 2.0]], "heavy": ["x"],
}  # fmt: skip
READ = {
    "clicks": (Needs(frozenset(["clicks"])), {"slate", "clicks", "inclusion"}),
    "reward": (Needs(frozenset(["reward"])), {"slate", "clicks", "inclusion", "reward"}),
    "score": (
        Needs(frozenset(["candidates"]), scores=frozenset(["score"])),
        {"slate", "candidates", "clicks", "inclusion", "score"},
    ),
    "query": (Needs(keys=frozenset(["query"])), {"slate", "clicks", "inclusion", "query"}),
}


@pytest.mark.parametrize("case", READ)
def test_only_needed_columns_are_read(case: str) -> None:
    needed, columns = READ[case]
    spy = Spy(MemoryTable(pa.table(WIDE)))
    contents(WideLog(spy, {}), needed)
    assert spy.asked == columns


def test_only_needed_columns_of_the_long_layout_are_read() -> None:
    log = {"impression": [1], "item": [2], "position": [1], "click": [0.0], "score": [1.0], "query": ["q"]}
    spy = Spy(MemoryTable(pa.table(log | {"heavy": ["x"]})))
    contents(LongLog(spy, {}), Needs(frozenset(["clicks"]), scores=frozenset(["score"])))
    assert spy.asked == {"impression", "item", "position", "click", "score"}


def written(form: str, folder: Path) -> Any:
    """A log with two columns of one name, as a user may have it."""
    if form == "parquet":
        pq.write_table(TWICE, folder / "log.parquet")
        return folder / "log.parquet"
    if form == "csv":
        (folder / "log.csv").write_text("impression,item,position,click,weekday,weekday\n1,a,1,0,4,5\n")
        return folder / "log.csv"
    if form == "pandas":
        return (
            TWICE.rename_columns(["slate", "clicks", "weekday", "other"])
            .to_pandas()
            .rename(columns={"other": "weekday"})
        )
    return TWICE if form == "table" else TWICE.to_reader()


@pytest.mark.parametrize("form", ["parquet", "csv", "table", "pandas", "stream"])
@pytest.mark.parametrize("verb", ["inspect", "check", "evaluate"])
def test_two_columns_of_one_name_are_one_clear_error(form: str, verb: str, tmp_path: Path) -> None:
    log = written(form, tmp_path)
    asked = {"evaluate": {"target": "uniform", "logging": "uniform"}, "check": {"logging": "uniform"}}.get(verb, {})
    with pytest.raises(LogError, match="has two columns called 'weekday'") as raised:
        getattr(offrank, verb)(log, **asked)
    assert raised.value.remedy == "give each column its own name"


def test_intervals_are_texts(tmp_path: Path) -> None:
    held = pa.array([(1, 2, 3), None], pa.month_day_nano_interval())
    table = pa.table({"slate": [[1, 2], [2, 1]], "clicks": [[1, 0], [0, 1]], "held": held})
    offrank.inspect(table)
    offrank.convert(table, tmp_path / "log.parquet")
    assert pq.read_table(tmp_path / "log.parquet")["held"].to_pylist() == [str(held[0].as_py()), None]
