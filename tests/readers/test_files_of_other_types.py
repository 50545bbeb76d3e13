"""Files of one log whose columns have other types: whole numbers in one, fractions in the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, RowError
from offrank.log.source import Needs
from offrank.readers import impressions
from tests.readers.plain import codes, contents

SLATE = [[1, 2], [2, 1]]
FLOAT = pa.float32()
COLUMNS: dict[str, list[tuple[pa.DataType, list[Any]]]] = {
    "fractions": [(pa.int64(), [1, 2]), (pa.float64(), [0.1, 2.5])],
    "short fractions": [(FLOAT, [0.5, 2.5]), (pa.float64(), [0.1, 2.5])],
    "large numbers": [(pa.int8(), [1, 2]), (pa.int64(), [2**40, 3])],
    "nothing": [(pa.null(), [None, None]), (pa.list_(pa.float64()), [[0.25], []])],
    "categories": [(pa.dictionary(pa.int32(), pa.string()), ["a", "b"]), (pa.string(), ["c", "b"])],
    "times": [(pa.timestamp("ms"), [5, 6]), (pa.timestamp("us"), [7, 8])],
}


def files(folder: Path, kinds: list[tuple[pa.DataType, list[Any]]]) -> list[str]:
    """Two files with clicks of whole numbers, and another column of these types."""
    paths = [folder / f"{number}.parquet" for number in range(len(kinds))]
    for path, (kind, values) in zip(paths, kinds, strict=True):
        column = pa.array(values, kind)
        pq.write_table(pa.table({"slate": SLATE, "clicks": [[1, 0], [0, 1]], "more": column}), path)
    return [str(path) for path in paths]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("group", [1, 100])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_convert_keeps_every_value(
    name: str, turned: bool, group: int, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "offrank.readers.convert._GROUP_ROWS", group
    )  # the second file is in a group of its own, or not
    kinds = COLUMNS[name][::-1] if turned else COLUMNS[name]
    final = tmp_path / f"out{suffix}"
    assert offrank.convert(files(tmp_path, kinds), final).rows == 4
    found = pq.read_table(final) if suffix == ".parquet" else pa.ipc.open_file(final).read_all()
    expected = [one for kind, values in kinds for one in pa.array(values, kind).to_pylist()]
    assert found.column("more").to_pylist() == expected
    assert found.column("clicks").to_pylist() == [[1, 0], [0, 1]] * 2


@pytest.mark.parametrize("group", [1, 100])
def test_values_that_no_type_holds_are_refused(group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.readers.convert._GROUP_ROWS", group)
    for kinds, told in (
        ([(pa.bool_(), [True, False]), (pa.int64(), [2, 0])], "bool in the first rows and int64 later"),
        ([(pa.int64(), [1, 2]), (pa.string(), ["a", "b"])], "int64 in the first rows and string later"),
        ([(pa.float64(), [0.5, 2]), (pa.int64(), [2**60 + 1, 2])], "double in the first rows and int64 later"),
    ):
        with pytest.raises(LogError, match=f"column 'more' holds {told}"):
            offrank.convert(files(tmp_path, kinds), tmp_path / "out.parquet")
        assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("turned", [False, True])
def test_rows_left_out_are_counted_once(turned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.readers.convert._GROUP_ROWS", 1)
    rows = [{"slate": [1, 1], "clicks": [1, 0]}, {"slate": [1], "clicks": [1]}, {"slate": [1], "clicks": [0.5]}]
    for number, row in enumerate(rows[::-1] if turned else rows):
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / f"{number}.parquet")
    log = offrank.read_log(str(tmp_path / "*.parquet"), invalid="skip")
    done = offrank.convert(log, tmp_path / "out.parquet")
    assert (done.rows, done.skipped) == (2, {"duplicate-item": 1})
    assert sorted(pq.read_table(tmp_path / "out.parquet").column("clicks").to_pylist()) == [[0.5], [1.0]]


@pytest.mark.parametrize("room", [2, 10**6])
def test_scattered_rows(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The impressions of each file go on in the next: as if all had one type, in the order of the rows."""
    monkeypatch.setattr(impressions, "_ROOM", room)
    values: list[list[Any]] = [[1, 0, 2], [0.5, 0, 1], [3, 1, 0]]
    found = {}
    for folder in ("mixed", "same"):
        (tmp_path / folder).mkdir()
        for number, clicks in enumerate(values):
            kept = list(map(float, clicks)) if folder == "same" else clicks
            rows = {"impression": [7, 8, 9], "item": [30 - number] * 3, "position": [number + 1] * 3, "click": kept}
            more = {"impression": [7, 8, 9], "item": [20 - number] * 3, "position": [None] * 3, "click": [None] * 3}
            table = pa.table({name: column + more[name] for name, column in rows.items()})
            pq.write_table(table, tmp_path / folder / f"{number}.parquet")
        log = offrank.read_log(str(tmp_path / folder / "*.parquet"))
        found[folder] = contents(log, Needs(frozenset(["clicks", "candidates"])))
    assert [row["clicks"] for row in found["mixed"]] == [[1, 0.5, 3], [0, 0, 1], [2, 1, 0]]
    assert [row["candidates"] for row in found["mixed"]] == [codes([30, 20, 29, 19, 28, 18])] * 3
    assert found["mixed"] == found["same"]


HUGE = 2**70


def test_no_whole_number_is_another_without_its_sign() -> None:
    rows = {"slate": pa.array([[2**64 - 1]], pa.list_(pa.uint64())), "candidates": [[-1]], "clicks": [[1]]}
    with pytest.raises(RowError, match="not-a-candidate"):
        contents(offrank.read_log(pa.table(rows)), Needs(frozenset(["candidates"])))


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_an_item_is_the_same_in_every_type_of_whole_numbers(layout: str, tmp_path: Path) -> None:
    """Some warehouses write whole numbers as decimals; those of 2^63 and more are no whole numbers of Arrow's."""
    decimals = pa.decimal128(38, 0)
    most = 2**63 - 1
    kinds = [(pa.int64(), [7, most]), (decimals, [most, HUGE]), (decimals, [8, -9]), (pa.uint64(), [2**63, 8])]
    for number, (kind, slate) in enumerate(kinds):
        rows: dict[str, Any] = {"slate": pa.array([slate], pa.list_(kind)), "clicks": [[1, 0]]}
        if layout == "long":
            rows = {"impression": [number] * 2, "item": pa.array(slate, kind), "position": [1, 2], "click": [1, 0]}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    log = offrank.read_log(str(tmp_path / "*.parquet"))
    known = [codes([7, most]), codes([most, str(HUGE)]), codes([8, -9]), codes([str(2**63), 8])]
    assert [row["slate"] for row in contents(log)] == known
    assert {one.name for one in offrank.inspect(str(tmp_path / "*.parquet")).columns} == set(rows)


def test_groups_are_the_same_in_whole_numbers_and_in_fractions(tmp_path: Path) -> None:
    """As pandas writes a column of whole numbers on days on which some are missing."""
    short = pa.array(np.array([1, 2.5], np.float16))
    for number, column in enumerate([pa.array([1, 2]), pa.array([2.0, -0.0]), pa.array([None, 2.5], FLOAT), short]):
        rows = {"slate": [[1], [1]], "clicks": [[1], [0]], "propensity": [1.0] * 2, "kind": column}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    found = offrank.evaluate(str(tmp_path / "*.parquet"), "logged", "logged", ["logged"], by="kind")
    counted = {name: rows["logged"].n for name, rows in found.groups.items()}
    assert counted == {"0": 1, "1": 2, "2": 2, "2.5": 2, "null": 1}


def test_a_place_that_no_list_of_the_first_file_has(tmp_path: Path) -> None:
    """Its columns are of texts, beside those of numbers."""
    columns = "item_1,item_2,click_1,click_2,new_1,new_2"
    for number, rows in enumerate((["3,,1,,0.5,"], ["4,5,0,0.5,2.5,1.5", "5,,0,,1.0,"])):
        (tmp_path / f"{number}.csv").write_text("\n".join([columns, *rows]) + "\n")
    log = offrank.read_log(str(tmp_path / "*.csv"))
    found = contents(log, Needs(frozenset(["clicks", "candidates"]), scores=frozenset(["new"])))
    assert [row["clicks"] for row in found] == [[1], [0, 0.5], [0]]
    assert [row["new"] for row in found] == [[0.5], [2.5, 1.5], [1.0]]
    assert [len({*row["slate"]}) for row in found] == [1, 2, 1]
    assert found[1]["slate"][1] == found[2]["slate"][0]
