"""Nested tables, JSON in cells and packed texts are read as the same log in our own wide form, to the bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import RowError
from offrank.log.source import Needs
from offrank.readers.opening import open_table
from offrank.readers.tables import MemoryTable, Table
from offrank.readers.unfolding import unfolded
from tests.readers.plain import contents, skipped

Row = dict[str, Any]

NEEDED = Needs(
    frozenset(["clicks", "candidates", "reward", "slot_propensity"]),
    scores=frozenset(["old", "new"]),
    keys=frozenset(["query"]),
)
IDS = {"numbers": lambda item: (1 << 53) + 1 + item, "zeros": lambda item: f"{item:05d}", "unicode": lambda i: f"ü-{i}"}


def world(rows: int = 60, ids: Callable[[int], Any] = IDS["zeros"], seed: int = 1) -> list[Row]:
    """Impressions in our own wide form."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(rows):
        pool = rng.permutation(50)[: rng.integers(2, 9)]
        shown = pool[rng.permutation(len(pool))[: rng.integers(1, len(pool) + 1)]]
        found.append(
            {
                "query": f"red shoes {number % 7}",
                "slate": [ids(int(item)) for item in shown],
                "clicks": [int(rng.random() < 0.4) for _ in shown],
                "candidates": [ids(int(item)) for item in pool],
                "old": [round(float(x), 3) for x in rng.random(len(pool)) + 0.1],
                "new": [round(float(x), 3) for x in rng.random(len(pool))],
                "slot_propensity": [round(float(x), 3) for x in rng.random(len(shown)) * 0.5 + 0.1],
            }
        )
    return found


def objects(row: Row) -> list[Row]:
    """The items of an impression, an object each, in the order of the candidates."""
    found = []
    for place, item in enumerate(row["candidates"]):
        rank = row["slate"].index(item) if item in row["slate"] else None
        found.append(
            {
                "sku": item,
                "rank": None if rank is None else rank + 1,
                "hit": None if rank is None else row["clicks"][rank],
                "model": {"old": row["old"][place], "new": row["new"][place]},
                "p": None if rank is None else row["slot_propensity"][rank],
            }
        )
    return found


def nested(log: list[Row]) -> list[Row]:
    """A list of structs, with structs in them, beside a plain struct."""
    return [
        {"context": {"user": number, "text": row["query"]}, "shown": objects(row)} for number, row in enumerate(log)
    ]


NESTED = {
    "query": "context.text",
    "slate": "shown.sku",
    "clicks": "shown.hit",
    "position": "shown.rank",
    "slot_propensity": "shown.p",
}
NESTED_NEEDED = Needs(NEEDED.roles, scores=frozenset(["shown.model.old", "shown.model.new"]), keys=NEEDED.keys)


def of_lists(log: list[Row]) -> list[Row]:
    """Structs of lists."""
    return [
        {
            "q": row["query"],
            "shown": {"ids": row["slate"], "hits": row["clicks"], "p": row["slot_propensity"]},
            "pool": {"ids": row["candidates"], "old": row["old"], "new": row["new"]},
        }
        for row in log
    ]


OF_LISTS = {
    "query": "q",
    "slate": "shown.ids",
    "clicks": "shown.hits",
    "slot_propensity": "shown.p",
    "candidates": "pool.ids",
}
OF_LISTS_NEEDED = Needs(NEEDED.roles, scores=frozenset(["pool.old", "pool.new"]), keys=NEEDED.keys)

PHYSICAL: dict[str, Callable[[list[Row], Path], Any]] = {}


def physical(way: Callable[[list[Row], Path], Any]) -> Callable[[list[Row], Path], Any]:
    PHYSICAL[way.__name__] = way
    return way


@physical
def dicts(log: list[Row], folder: Path) -> Any:
    return log


@physical
def stream(log: list[Row], folder: Path) -> Any:
    return pa.table({name: [row[name] for row in log] for name in log[0]}).to_reader(7)


@physical
def function(log: list[Row], folder: Path) -> Any:
    return lambda: stream(log, folder)


@physical
def parquet(log: list[Row], folder: Path) -> Any:
    pq.write_table(pa.Table.from_pylist(log), folder / "log.parquet", row_group_size=13)
    return folder / "log.parquet"


@physical
def arrow(log: list[Row], folder: Path) -> Any:
    pyarrow.feather.write_feather(pa.Table.from_pylist(log), str(folder / "log.arrow"), chunksize=13)
    return folder / "log.arrow"


@physical
def large_lists(log: list[Row], folder: Path) -> Any:
    table = pa.Table.from_pylist(log)
    large = [pa.large_list(kind.value_type) if pa.types.is_list(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(list(zip(table.schema.names, large, strict=True)))).slice(0)


@physical
def json_lines(log: list[Row], folder: Path) -> Any:
    (folder / "log.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in log), "utf-8")
    return folder / "log.jsonl"


def in_cells(write: Callable[[Any], str]) -> Callable[[list[Row], Path], Any]:
    """CSV with nested values as text."""

    def way(log: list[Row], folder: Path) -> Any:
        rows = [{name: write(v) if isinstance(v, list | dict) else v for name, v in row.items()} for row in log]
        pyarrow.csv.write_csv(pa.Table.from_pylist(rows), folder / "log.csv")
        return folder / "log.csv"

    return way


PHYSICAL["json_in_csv"] = in_cells(lambda value: json.dumps(value, ensure_ascii=False))
PHYSICAL["python_in_csv"] = in_cells(repr)


def same(found: Any, needed: Needs, log: list[Row]) -> None:
    """Compare a source with our own wide form; scores have other names."""

    def plain(row: Row) -> Row:
        return {name.rpartition(".")[2]: value for name, value in row.items()}

    assert [plain(row) for row in contents(found, needed)] == contents(offrank.read_log(log), NEEDED)


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("way", PHYSICAL)
def test_structs_in_lists(way: str, ids: str, tmp_path: Path) -> None:
    log = world(ids=IDS[ids])
    found = offrank.read_log(PHYSICAL[way](nested(log), tmp_path), NESTED)
    same(found, NESTED_NEEDED, log)


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("way", PHYSICAL)
def test_structs_of_lists(way: str, ids: str, tmp_path: Path) -> None:
    log = world(ids=IDS[ids])
    found = offrank.read_log(PHYSICAL[way](of_lists(log), tmp_path), OF_LISTS)
    same(found, OF_LISTS_NEEDED, log)


PLAIN = {
    "ours": {"slate": [["a", "b"]], "clicks": [[0, 1]], "query": ["red shoes"]},
    "long": {"impression": [1, 1], "item": ["a", "b"], "position": [1, 2], "click": [0, 1], "note": ["a|b", "c"]},
    "lists of lists": {"slate": [["a"]], "clicks": [[1]], "features": [[[1, 2]]]},
    "maps": {"slate": [["a"]], "scores": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))},
    "empty structs": {"slate": [["a"]], "empty": pa.array([{}], pa.struct([]))},
    "a name that is taken": {"items": [{"sku": "a"}], "items.sku": ["b"]},
}


@pytest.mark.parametrize("case", PLAIN)
def test_nothing_to_unfold_is_the_same_table(case: str) -> None:
    table = MemoryTable(pa.table(PLAIN[case]))
    assert unfolded(table) is table


class Counted(MemoryTable):
    """A table that notes what is read of it."""

    read: list[tuple[str, ...]] = []  # noqa: RUF012

    def pieces(self, part: int, columns: tuple[str, ...]) -> Any:
        self.read.append(columns)
        return super().pieces(part, columns)


def test_a_log_without_texts_is_not_looked_at() -> None:
    Counted.read.clear()
    numbers = pa.table({"slate": [[1]], "clicks": [[1]], "items": [[{"x": 1}]]})
    assert unfolded(Counted(numbers)).names == ("slate", "clicks", "items.x")
    assert not Counted.read
    for query in ("red", "red shoes"):
        unfolded(Counted(pa.table({"slate": [[1]], "old": [[0.5]], "query": [query]})))
    assert Counted.read == [("query",), ("query",)]
    unfolded(Counted(pa.table({"slate": [[1]], "old": [[0.5]], "query": ["1|2"]})))
    assert Counted.read[2:] == [("query",), ("slate", "old")]


def test_rows_parts_types_and_files_are_those_of_the_table(tmp_path: Path) -> None:
    log = nested(world(40))
    log[33]["shown"][0]["sku"] = None
    table: Table = unfolded(open_table(parquet(log, tmp_path)))
    assert table.parts() == 4
    source = offrank.read_log(tmp_path / "log.parquet", NESTED)
    assert repr(source).splitlines()[:3] == [
        f"{tmp_path / 'log.parquet'}: wide layout, 40 rows",
        "  context.user: int64",
        "  context.text: string",
    ]
    assert source.stamp() == open_table(tmp_path / "log.parquet").stamp()
    with pytest.raises(RowError, match=r"row 33 .*column 'shown\.sku'.*is null"):
        contents(source)
    assert skipped(offrank.read_log(tmp_path / "log.parquet", NESTED, invalid="skip")) == {"null": 1}


def test_null_structs_and_null_lists_are_named() -> None:
    kind = pa.list_(pa.struct({"sku": pa.string(), "hit": pa.int64()}))
    fine = [{"sku": "a", "hit": 1}]
    for bad in (None, [*fine, None]):
        table = pa.table({"shown": pa.array([fine, bad, fine], kind)})
        log = offrank.read_log(table, {"slate": "shown.sku", "clicks": "shown.hit"})
        with pytest.raises(RowError, match=r"row 1 .*'shown\.sku'.*is null"):
            contents(log)
    within = pa.table({"shown": pa.array([None, {"ids": ["a"]}], pa.struct({"ids": pa.list_(pa.string())}))})
    with pytest.raises(RowError, match=r"row 0 .*'shown\.ids'.*is null"):
        contents(offrank.read_log(within, {"slate": "shown.ids"}), Needs())


def test_a_long_log_with_objects_keeps_its_ids_as_text(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(
        'impression,item,position,click,context\n1,007,1,0,"{""user"": 5}"\n1,7,2,1,"{""user"": 5}"\n'
    )
    log = offrank.read_log(tmp_path / "log.csv")
    assert log.table.names == ("impression", "item", "position", "click", "context.user")
    plain = pa.table({"impression": [1, 1], "item": ["007", "7"], "position": [1, 2], "click": [0, 1]})
    assert contents(log) == contents(offrank.read_log(plain))


def test_inspect_and_convert_know_the_dotted_names(tmp_path: Path) -> None:
    log = offrank.read_log(json_lines(nested(world(40)), tmp_path), NESTED)
    uses = {one.name: (one.type, one.use) for one in offrank.inspect(log).columns}
    assert uses["shown.sku"] == ("list of string", "slate")
    assert uses["shown.rank"] == ("list of int64", "position")
    assert uses["shown.model.new"] == ("list of double", "score")
    offrank.convert(log, tmp_path / "plain.parquet")
    names = ["shown.model.old", "shown.model.new"]
    asked = Needs(NEEDED.roles, frozenset(names), keys=NEEDED.keys)
    assert contents(offrank.read_log(tmp_path / "plain.parquet"), asked) == contents(log, asked)
