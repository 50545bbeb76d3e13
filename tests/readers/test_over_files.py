"""Long logs whose impressions go on in the next file: only the ends of files are joined."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError
from offrank.log.source import Needs
from tests.readers.plain import batches, contents

NEEDED = Needs(frozenset(["clicks", "candidates", "reward"]), scores=frozenset(["score"]))


def rows_of(*impressions: tuple[int, int]) -> pa.Table:
    """Impressions (id, items), the first item clicked."""
    ids = np.repeat(*zip(*impressions, strict=True))
    places = np.concatenate([np.arange(1, items + 1) for _, items in impressions])
    columns = {"impression": ids, "item": places * 10, "position": places, "click": places == 1, "score": places / 4}
    return pa.table({name: pa.array(np.asarray(values)) for name, values in columns.items()})


def in_files(folder: Path, *parts: pa.Table) -> str:
    for number, part in enumerate(parts):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=2)
    return str(folder)


def slates(log: str) -> list[list[int]]:
    found = batches(offrank.read_log(log), Needs())
    return [row[row >= 0].tolist() for batch in found for row in batch.slates]


@pytest.fixture
def never_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("all rows of the log were gathered")

    monkeypatch.setattr("offrank.readers.long.GatheredTable", refused)


@pytest.mark.usefixtures("never_gathered")
@pytest.mark.parametrize("cuts", [(4,), (3, 6), (4, 5, 6), (1, 2, 3, 4, 5, 6, 7)], ids=str)
def test_only_the_ends_of_files_are_joined(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    whole = rows_of((1, 3), (2, 4), (3, 2))  # rows 3 to 6 are the second impression
    ends = (0, *cuts, len(whole))
    parts = [whole.slice(start, end - start) for start, end in itertools.pairwise(ends)]
    log = in_files(tmp_path, *parts)
    assert slates(log) == [[0, 1, 2], [0, 1, 2, 3], [0, 1]]
    assert contents(offrank.read_log(log), NEEDED) == contents(offrank.read_log(whole), NEEDED)


@pytest.mark.usefixtures("never_gathered")
def test_joined_rows_may_have_other_types(tmp_path: Path) -> None:
    whole = rows_of((1, 3), (2, 4))
    narrow = whole.schema.set(0, pa.field("impression", pa.int16())).set(1, pa.field("item", pa.int8()))
    log = offrank.read_log(in_files(tmp_path, whole.slice(0, 5), whole.slice(5).cast(narrow)))
    assert contents(log, NEEDED) == contents(offrank.read_log(whole), NEEDED)


@pytest.mark.usefixtures("never_gathered")
def test_files_that_end_with_an_impression_are_not_joined(tmp_path: Path) -> None:
    assert slates(in_files(tmp_path, rows_of((1, 3)), rows_of((2, 2)), rows_of((3, 1)))) == [[0, 1, 2], [0, 1], [0]]


def test_an_id_that_comes_again_later_is_one_impression(tmp_path: Path) -> None:
    whole = rows_of((1, 4))
    log = in_files(tmp_path, whole.slice(0, 2), rows_of((5, 1)), whole.slice(2))
    assert slates(log) == [[0, 1, 2, 3], [0]]


def test_ids_that_every_file_counts_anew_are_refused(tmp_path: Path) -> None:
    each = rows_of((1, 3), (2, 2))
    with pytest.raises(LogError, match="position"):
        slates(in_files(tmp_path, each, each))


def test_an_error_names_the_file_of_its_row_or_all_of_them(tmp_path: Path) -> None:
    whole = rows_of((1, 3), (2, 4), (3, 2))
    wrong = {row: whole["position"].to_pylist() for row in (5, 8)}
    for row, places in wrong.items():
        places[row] = 9
        table = whole.set_column(2, "position", pa.array(places))
        folder = tmp_path / str(row)
        folder.mkdir()
        log = in_files(folder, table.slice(0, 4), table.slice(4))
        # The sixth row is of the impression in both files, whose rows are counted through; the ninth is of its own.
        said = rf"0\.parquet \(with 1 more file\), row {row} " if row == 5 else r"1\.parquet, row 4 "
        with pytest.raises(LogError, match=said):
            slates(log)
