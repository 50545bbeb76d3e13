"""What is said of a damaged text: the file, the line as an editor shows it, the row, and the user's own column."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import ColumnError, LogError, RowError, UsageError
from offrank.log.source import Needs
from tests.readers.plain import contents, skipped

NAMES = "query", "slate", "clicks", "propensity", "reward", "note", "score", "candidates"
NEEDED = Needs(
    frozenset(["clicks", "candidates", "propensity", "reward"]), frozenset(["score"]), keys=frozenset(["query"])
)
AT = 17
"""The row that is damaged; the header is line 1."""


def cells(at: int) -> list[str]:
    items = [f"i{(at + k) % 9}" for k in range(4)]
    lists = [json.dumps(one) for one in (items[:2], [at % 2, 0], [0.5, 1.5, at / 8, 2.0], items)]
    return [f"q{at % 3}", lists[0], lists[1], "0.25", str(at % 4), "free text", lists[2], lists[3]]


def line(row: list[str]) -> str:
    return ",".join('"{}"'.format(cell.replace('"', '""')) if "," in cell else cell for cell in row)


def damaged(folder: Path, column: str, text: str) -> Path:
    """A file in which one cell is another text."""
    rows = [cells(at) for at in range(30)]
    rows[AT][NAMES.index(column)] = text
    return written(folder, [line(row) for row in rows])


def written(folder: Path, lines: list[str]) -> Path:
    path = folder / "log.csv"
    path.write_text("\n".join([",".join(NAMES), *lines, ""]), encoding="utf-8", errors="surrogateescape")
    return path


NUMBERS = "0.1x66", "0,16", "1e400", "0.1 66", "n/a", "[1]", "0.1\udcff", "inf", "-1", ""
LISTS = "abc", "", "[1, 0", "[[1, 2]]", '[1, "a"]', '{"a": 1}', "[1]", "[null, 1]", "[1,, 2]", "[, 2]", '["i1",, "i2"]'


@pytest.mark.parametrize(
    ("column", "text"),
    [("propensity", text) for text in NUMBERS]
    + [("reward", text) for text in NUMBERS if text != "-1"]
    + [(column, text) for column in ("slate", "clicks", "score", "candidates") for text in LISTS],
)
def test_a_damaged_cell(column: str, text: str, tmp_path: Path) -> None:
    path = damaged(tmp_path, column, text)
    with pytest.raises(RowError) as caught:
        contents(offrank.read_log(path), NEEDED)
    error = caught.value
    assert (error.file, error.line, error.row, error.column) == (str(path), AT + 2, AT, column)
    assert f"{path}, line {AT + 2}, row {AT} (the first is 0), column {column!r}: " in error.message
    assert sum(skipped(offrank.read_log(path, invalid="skip"), NEEDED).values()) == 1


def test_lines_are_those_of_an_editor(tmp_path: Path) -> None:
    rows = [line(cells(at)) for at in range(9)]
    rows[3] = rows[3].replace("free text", '"text, in\ntwo lines"')
    rows[5] = rows[5].replace("0.25", "0.25x")
    (tmp_path / "log.csv").write_text("\n".join(["# a comment", ",".join(NAMES), *rows[:2], "", *rows[2:]]))
    with pytest.raises(RowError, match=r"log.csv, line 10, row 5 .*'propensity'"):
        contents(offrank.read_log(tmp_path / "log.csv"), NEEDED)


@pytest.mark.parametrize("array", [False, True])
def test_lines_of_json(array: bool, tmp_path: Path) -> None:
    rows = [{"slate": ["a", "b"], "clicks": [0, 1], "propensity": 1.5 if at == 4 else 0.5} for at in range(6)]
    text = json.dumps(rows) if array else "\n".join(["", *map(json.dumps, rows)])
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(RowError) as caught:
        contents(offrank.read_log(tmp_path / "log.json"), Needs(frozenset(["clicks", "propensity"])))
    assert (caught.value.row, caught.value.line) == (4, 0 if array else 6)  # an array may stand in one line


def test_an_error_with_a_line_goes_to_other_processes() -> None:
    error = RowError("log.csv", 3, "clicks", "null", "None is null", "fill it in", 5)
    again = pickle.loads(pickle.dumps(error))
    assert (again.line, str(again)) == (5, str(error))


@pytest.mark.parametrize("text", ["00.25", "+0.25", "025e-2"])
def test_numbers_with_zeros_and_signs_before_them_are_numbers(text: str, tmp_path: Path) -> None:
    for column, needed in (("propensity", NEEDED), ("reward", NEEDED)):
        [row] = contents(offrank.read_log(damaged(tmp_path, column, text)), needed)[AT : AT + 1]
        assert row[column] == 0.25


@pytest.mark.parametrize("column", ["query", "note", "candidates"])
def test_a_byte_0_is_told_with_its_line_row_and_column(column: str, tmp_path: Path) -> None:
    path = damaged(tmp_path, column, "free\0text, and more")
    told = f"line {AT + 2}, row {AT} (the first is 0), column {column!r}, cannot be read: it has a byte 0"
    with pytest.raises(LogError, match=re.escape(f"{path}, {told}")):
        offrank.read_log(path)
    short = "\n".join([",".join(NAMES), line(cells(0)), "\0" + line(cells(1))])
    for text, where in (
        (short, ", line 3, row 1 (the first is 0), column 'query'"),
        ("# said\n\n" + short, ", line 5, row 1 (the first is 0), column 'query'"),
        (short.replace("\0", "").replace("clicks", "cl\0icks"), ", line 1"),
        ('{"slate": ["a"], "clicks": [1]}\n' * 40 + '{"slate": ["\0"], "clicks": [1]}\n', ", line 41"),
    ):
        path.write_text(text)
        with pytest.raises(LogError, match=re.escape(f"{path}{where}, cannot be read: it has a byte 0")):
            offrank.read_log(path)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"columns": "slate"}, "columns is 'slate', not columns by role"),
        ({"where": 3}, "where is 3"),
        ({"top_k": "3"}, "top_k is '3'"),
        ({"top_k": 1.5}, "top_k is 1.5"),
    ],
)
def test_an_argument_of_another_type(how: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        offrank.read_log([{"slate": [1, 2], "clicks": [0, 1]}], **how)


@pytest.mark.parametrize("column", ["item", "product"])
def test_ids_that_are_fractions_are_told_by_the_users_own_column(column: str) -> None:
    rows = [{"impression": at // 2, column: at % 2 + 0.5, "position": at % 2 + 1, "click": 0} for at in range(8)]
    with pytest.raises(ColumnError, match=f"column '{column}' holds double ids"):
        contents(offrank.read_log(rows, columns={"item": column}))


@pytest.mark.parametrize("how", ["more", "less", "word", "quote"])
@pytest.mark.parametrize("at", [0, AT, 29])
def test_a_line_with_another_number_of_cells(how: str, at: int, tmp_path: Path) -> None:
    lines = [line(cells(row)) for row in range(30)]
    sound = contents(offrank.read_log(written(tmp_path, lines[:at] + lines[at + 1 :])), NEEDED)
    more = {"more": lines[at] + ",x", "less": lines[at].rpartition(',"')[0], "word": "oops"}
    path = written(tmp_path, [*lines[:at], more.get(how, lines[at].replace("free", '"free')), *lines[at + 1 :]])
    with pytest.raises(
        LogError, match=rf"log\.csv, line {at + 2}, row {at} \(the first is 0\), cannot be read .* cells"
    ):
        contents(offrank.read_log(path), NEEDED)
    log = offrank.read_log(path, invalid="skip")
    assert contents(log, NEEDED) == sound
    assert skipped(log, NEEDED) == {"ragged-line": 1}


def test_a_broken_line_of_a_table_of_other_names_is_what_is_told(tmp_path: Path) -> None:
    rows = [f"r{row // 3},s{row},{row % 3 + 1},{int(row % 7 == 0)}" for row in range(90)]
    (path := tmp_path / "log.csv").write_text(
        "\n".join(["request,sku,slot,clicked", *rows[:40], "r13,oops", *rows[40:]])
    )
    with pytest.raises(LogError, match=r"line 42, row 40 .* it has 2 cells, but the first line has 4"):
        offrank.read_log(path)


def test_many_lines_with_another_number_of_cells_are_refused(tmp_path: Path) -> None:
    lines = [line(cells(row)) + ",x" * (row % 3 == 1) for row in range(30)]
    with pytest.raises(LogError, match="cannot be read as CSV: it has 9 cells, but the first line has 8"):
        contents(offrank.read_log(written(tmp_path, lines), invalid="skip"), NEEDED)


def test_lines_beyond_those_left_out(tmp_path: Path) -> None:
    lines = [line(cells(row)) for row in range(30)]
    lines[3], lines[20] = "oops", lines[20].replace("0.25", "0.25x")
    path = written(tmp_path, lines)
    log = offrank.read_log(path, invalid="skip")
    assert skipped(log, NEEDED) == {"ragged-line": 1, "bad-list": 1}
