"""What columns, options and the first rows tell is refused before a long log is read for the order of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import ColumnError, LogError, OffrankError, RowError, UsageError
from offrank.readers.csv_json import CsvJsonTable
from offrank.readers.tables import Piece

ROWS = 60_000
HEADER = "impression,position,item,click,old,new,device"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "log.csv"
    lines = (
        f"{n // 2},{n % 2 + 1},{n % 7},{n % 3 // 2},{n % 5 / 8},{n % 9 / 8},{'ab'[n // 2 % 2]}" for n in range(ROWS)
    )
    path.write_text("\n".join([HEADER, *lines]))
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the pieces' last rows that were read."""
    found, pieces = [0], CsvJsonTable.pieces

    def noted(self: CsvJsonTable, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in pieces(self, part, columns):
            found.append(int(piece.rows[-1]))
            yield piece

    monkeypatch.setattr("offrank.readers.csv_json.CsvJsonTable.pieces", noted)
    monkeypatch.setattr("offrank.readers.csv_json._BLOCK", 1 << 16)
    return found


def converted(log: Path, *scores: str, to: str = "x.parquet", **how: Any) -> object:
    source = offrank.read_log(log, **how)
    return offrank.convert(source, log.with_name(to), scores=scores)


def evaluated(log: Path, **how: Any) -> object:
    asked: dict[str, Any] = {"target": "top(new)", "logging": "plackett_luce(old)", **how}
    return offrank.evaluate(log, **asked)


REFUSED: dict[str, tuple[Callable[[Path], object], type[OffrankError], str]] = {
    "no score": (converted, RowError, "column 'old': .* differs within one impression"),
    "one score of two": (lambda log: converted(log, "old"), RowError, "column 'new': .* differs within one impression"),
    "a score that is not there": (lambda log: converted(log, "old", "new", "nwe"), ColumnError, "no column 'nwe'"),
    "a score of texts": (
        lambda log: converted(log, "old", "new", "device"),
        LogError,
        "column 'device', cannot be read",
    ),
    "another suffix": (lambda log: converted(log, "old", "new", to="x.csv"), UsageError, "suffix of .*x.csv"),
    "cut slates": (lambda log: converted(log, "old", "new", top_k=1), UsageError, "only whole slates"),
    "a target of texts": (
        lambda log: evaluated(log, target="top(device)"),
        LogError,
        "column 'device', cannot be read",
    ),
    "a control of texts": (lambda log: evaluated(log, control="device"), LogError, "column 'device', cannot be read"),
    "a reward that is not there": (
        lambda log: offrank.read_log([{"slate": [1, 2], "clicks": [0, 1]}], {"reward": "revenu"}),
        ColumnError,
        r"no column 'revenu' \(number, what the whole slate earned",
    ),
    "a query that is not there": (
        lambda log: offrank.read_log([{"slate": [1, 2], "clicks": [0, 1]}], {"query": "qeury"}),
        ColumnError,
        "no column 'qeury'",
    ),
    "groups by a score": (lambda log: evaluated(log, by="old"), LogError, "'old' holds .*list.*, not labels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_before_the_whole_log_is_read(case: str, log: Path, read: list[int]) -> None:
    ask, kind, said = REFUSED[case]
    with pytest.raises(kind, match=said):
        ask(log)
    assert max(read) < ROWS // 4
    assert not log.with_name("x.parquet").exists()


def test_rules_about_order_are_told_of_all_rows(log: Path, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()
    scattered = tmp_path / "scattered.csv"  # every first row of an impression comes after all of the second ones
    scattered.write_text("\n".join([HEADER, *lines[2:4001:2], *lines[1:4001:2]]))
    assert offrank.convert(offrank.read_log(scattered), tmp_path / "x.parquet", scores=["old", "new"]).rows == 2000


def test_rows_that_are_to_be_left_out_are(log: Path, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()[:2001]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join([lines[0], lines[1].replace(",a", ",b"), *lines[2:]]))
    made = offrank.convert(offrank.read_log(wrong, invalid="skip"), tmp_path / "x.parquet", scores=["old", "new"])
    assert (made.rows, made.skipped) == (999, {"not-constant": 1})
    with pytest.raises(RowError, match=r"row 1 .*column 'device': 'a' differs"):
        offrank.convert(offrank.read_log(wrong), tmp_path / "y.parquet", scores=["old", "new"])
