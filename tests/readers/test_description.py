"""What is found of a table once, and carried by its log: how clicks and groups are told, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.readers import sampling
from offrank.readers.names import words_of
from tests.readers.standards import of_avito

SLATES = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "c", "b"]]
WRITTEN: dict[str, tuple[Any, str]] = {
    "ones": ([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0]], "values"),
    "words": ([["yes", "no", "no"], ["no", "yes", "no"], ["no"] * 3, ["yes", "no", "no"]], "values"),
    "or nothing": ([[1, None, None], [None, 1, None], [None] * 3, [1, None, None]], "filled"),
    "ids": ([["a"], ["c"], [], ["a", "b"]], "items"),
    "the only id": (["a", "c", None, "a"], "items"),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_how_clicks_are_written_stands_in_the_description(how: str) -> None:
    clicked, wanted = WRITTEN[how]
    log = offrank.read_log(pa.table({"slate": SLATES, "tapped": clicked}), {"clicks": "tapped"})
    assert log.description.clicks_as == wanted


def test_so_do_groups_and_files_that_are_left_out(tmp_path: Path) -> None:
    rows = {"impression": [1, 1, 2, 2], "item": [7, 8, 8, 7], "position": [1, 2, 1, 2], "click": [1, 0, 0, 0]}
    pa.csv.write_csv(pa.table({**rows, "user_id": [5, 5, 6, 6]}), tmp_path / "log.csv")
    (tmp_path / "README.md").write_text("What these are.")
    told = offrank.read_log(tmp_path).description
    assert told.groups == {"user": "user_id"}
    assert [one.rpartition("/")[2] for one in told.left_out] == ["README.md"]
    assert told.layout == "none"  # the documented names tell it


def test_what_says_no_says_it_of_clicks_and_of_ids() -> None:
    for word in words_of("NO") | words_of("NOTHING"):
        log = offrank.read_log(pa.table({"slate": SLATES, "chosen": ["a", word, word.replace("_", " "), "b"]}), SAID)
        batch = next(iter(log.select(offrank.log.Needs(frozenset(["clicks"]))).batches(0)))
        assert batch.clicks.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]


SAID = {"clicks": "chosen"}


def test_rows_that_a_format_keeps_out_are_not_counted_as_those_of_the_log(tmp_path: Path) -> None:
    place = Path(str(of_avito(tmp_path)[0]))
    table = pa.csv.read_csv(place, parse_options=pa.csv.ParseOptions(delimiter="\t"))
    pq.write_table(table, tmp_path / "log.parquet")
    assert f"{tmp_path / 'log.parquet'}: long layout\n" in repr(offrank.read_log(tmp_path / "log.parquet"))


def test_parts_of_a_sample_are_not_evenly_apart() -> None:
    found = sampling._some_of(700)
    assert np.array_equal(np.array(found) * 16 // 700, np.arange(16))  # one of each range
    assert len({*np.diff(found)}) > 8
    assert sampling._some_of(5) == [0, 1, 2, 3, 4]
