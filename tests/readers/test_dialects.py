"""Text files of strangers: delimiters, headers, types that change no value, and files that are no table at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.errors import EmptyLogError, LogError, UsageError
from offrank.readers.opening import open_table
from tests.readers.test_physical import FORMS, WIDE

# -- CSV without a header, and what its cells are


HEADLESS = {
    "numbers": ("1,2,3\n4,5,6\n", 3),
    "an id that comes again": ("r1\tshoe\t1\nr1\that\t2\n", 3),
    "a null above numbers": ("r1,shoe,NA,1\nr1,hat,2,0\n", 4),
    "one row": ("5,17,0\n", 3),
    "lists": ('"[1, 2]";"[0, 1]"\n"[2, 1]";"[0, 0]"\n', 2),
    "days": ("2024-05-01|shoe\n2024-05-02|hat\n", 2),
}
HEADED = {
    "texts": "query,item\nshoes,a\nhats,b\n",
    "a year above numbers": "id,2019,2020\n1,5,6\n2,7,8\n",
    "names as pandas makes them": ",0,1,2\n0,5,6,7\n1,8,9,7\n",
    "a name that is a value": "position,event\n1,event\n2,click\n",
    "one row": "query,2019\n",
    "no rows": "query,item\n",
    "the lines of two files": "query,item\na,b\nquery,item\nc,d\n",
}


@pytest.mark.parametrize("case", HEADLESS)
def test_a_file_without_a_header_line(case: str, tmp_path: Path) -> None:
    text, width = HEADLESS[case]
    (tmp_path / "log.txt").write_text(text)
    table = open_table(tmp_path / "log.txt")
    assert table.names == tuple(f"column_{place}" for place in range(1, width + 1))
    assert table.describe() == f"{tmp_path / 'log.txt'}, without a header line"
    assert sum(len(piece.data) for piece in table.pieces(0, table.names)) == text.count("\n")


@pytest.mark.parametrize("case", HEADED)
def test_a_file_with_a_header_line(case: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(HEADED[case])
    table = open_table(tmp_path / "log.txt")
    assert ",".join(table.names) == HEADED[case].partition("\n")[0]
    assert table.describe() == str(tmp_path / "log.txt")


COLUMNS = {
    "zeros": (["007", "8"], None),
    "zeros behind a sign": (["-01", "8"], None),
    "a plus": (["+1", "8"], None),
    "zeros of a fraction": (["01.5", "2"], None),
    "more than 63 bits": (["9223372036854775808", "8"], None),
    "more than 64 bits": (["1" * 30, "8"], None),
    "an exponent": (["1e5", "8"], None),
    "whole numbers": (["7", "-8", "0", "9007199254740993"], [7, -8, 0, 9007199254740993]),
    "fractions": (["1.5", "-2e-3", "1E+20"], [1.5, -2e-3, 1e20]),
    "days": (["2024-05-01", "2024-05-02"], None),
    "times": (["2024-05-01T10:00:00Z", "2024-05-02 10:00"], None),
    "nulls": (["NA", "", "\\N", "7"], [None, None, None, 7]),
    "a quoted NA": (['"NA"', "US"], ["NA", "US"]),
    "only nulls": (["NA", "null"], [None, None]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_the_values_of_a_column_are_those_that_were_written(case: str, tmp_path: Path) -> None:
    written, wanted = COLUMNS[case]
    (tmp_path / "log.csv").write_text("id,name\n" + "".join(f"{one},x\n" for one in written))
    found = [value for piece in open_table(tmp_path / "log.csv").pieces(0, ("id",)) for value in piece.data["id"]]
    assert [value.as_py() for value in found] == (written if wanted is None else wanted)


def test_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("id;price\n7;1,5\n8;2\n")
    found = next(open_table(tmp_path / "log.csv").pieces(0, ("id", "price"))).data
    assert found.to_pydict() == {"id": [7, 8], "price": [1.5, 2.0]}


@pytest.mark.parametrize("point", [".", ","])
def test_fractions_may_come_late(point: str, tmp_path: Path) -> None:
    """The first megabyte has whole numbers only; a block with fractions has no whole number that they would change."""
    late = ["3", "-4", "", "0.5", ".25", "-7.125", "1.5e-3", " 12 "]
    rows = [*("5" for _ in range(400_000)), *late]
    text = "id;price;share\n" + "".join(f"7;{one.replace('.', point)};0{point}5\n" for one in rows)
    (tmp_path / "log.csv").write_text(text)
    pieces = [piece.data for piece in open_table(tmp_path / "log.csv").pieces(0, ("id", "price"))]
    found = [value for data in pieces for value in data["price"].to_pylist()]
    assert found == [5] * 400_000 + [3, -4, None, 0.5, 0.25, -7.125, 0.0015, 12]
    assert [str(one.schema.field("price").type) for one in (pieces[0], pieces[-1])] == ["int64", "double"]
    with (tmp_path / "log.csv").open("a") as file:
        file.write(f"7;{2**53};1\n")  # beside fractions it may not be what was written
    with pytest.raises(LogError, match=r"column 'price', .*among whole numbers"):
        list(open_table(tmp_path / "log.csv").pieces(0, ("id", "price")))


MANY = "".join(f"{row},x{row}\n" for row in range(150_000))
LATE = {
    "text": (b"abc,x\n", "column 'id', .*'abc' is among whole numbers"),
    "zeros": (b"007,x\n", "column 'id', .*'007' is among whole numbers, but has zeros.*first rows"),
    "many digits": (b"1" * 20 + b",x\n", "column 'id', .*'1111.* is among whole numbers"),
    "latin-1": (b"5,\xe9t\xe9\n", "column 'name', .*not UTF-8.*iconv"),
    "a cell too many": (b"5,x,y\n", "cannot be read as CSV: it has 3 cells, but the first line has 2"),
}


@pytest.mark.parametrize("above", ["", "# made by us\n"])
@pytest.mark.parametrize("case", LATE)
def test_a_value_that_does_not_fit_is_named_with_its_row(case: str, above: str, tmp_path: Path) -> None:
    line, words = LATE[case]
    (tmp_path / "log.csv").write_bytes(f"{above}id,name\n{MANY}".encode() + line)
    table = open_table(tmp_path / "log.csv")
    where = rf"log\.csv, line {150_003 if above else 150_002}, row 150000 \(the first is 0\)"
    with pytest.raises(LogError, match=rf"(?s){where}, {words}"):
        list(table.pieces(0, ("id", "name")))


def test_whole_numbers_of_json_beyond_63_bits(tmp_path: Path) -> None:
    rows = [{"item": 12345678901234567890, "l": [1, 2**63], "x": 0.5, "day": "2024-05-01"}]
    (tmp_path / "log.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = open_table(tmp_path / "log.json")
    assert next(table.pieces(0, table.names)).data.to_pylist() == rows


# -- What is no table


def zipped(name: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr(name, "a,b\n")
    return content.getvalue()


def arrays() -> bytes:
    content = io.BytesIO()
    np.savez(content, clicks=[1])
    return content.getvalue()


class Trap:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os._exit, (3,)  # type: ignore[return-value]


GARBAGE: dict[str, tuple[bytes, str]] = {
    "noise": (np.random.default_rng(1).bytes(5000), "neither text nor a known format"),
    "control characters": (bytes(range(1, 9)) * 20, "neither text nor a known format"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(90), "is an image.*give a table"),
    "a photograph": (b"\xff\xd8\xff\xe0" + bytes(90), "is an image"),
    "a document": (b"%PDF-1.7\n", "is a PDF"),
    "a web page": (b"<!DOCTYPE html>\n<p>Log in", "is a web page.*login"),
    "Excel": (zipped("[Content_Types].xml"), "is an Excel workbook.*export"),
    "a zip archive": (zipped("log.csv"), "is a zip archive.*unpack it"),
    "arrays": (arrays(), "NumPy arrays.*data frame"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "is an HDF5 file"),
    "a pickle": (pickle.dumps(Trap()), "is a Python pickle.*pickles are never executed"),
    "xz": (b"\xfd7zXZ\0", "packed with xz.*unxz"),
    "the first Feather": (b"FEA1" + bytes(20), "first version.*to_feather"),
    "a packed tar archive": (gzip.compress(bytes(257) + b"ustar" + bytes(250)), "is a tar archive"),
}


@pytest.mark.parametrize("name", ["log", "log.csv", "log.parquet", "log.json"])
@pytest.mark.parametrize("case", GARBAGE)
def test_what_is_no_table_is_said(case: str, name: str, tmp_path: Path) -> None:
    content, words = GARBAGE[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LogError, match=f"(?s){name} cannot be read: .*{words}"):
        open_table(tmp_path / name)


def test_files_and_folders_that_hold_nothing(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="the folder contains no files"):
        open_table(tmp_path)
    (tmp_path / "log").touch()
    with pytest.raises(EmptyLogError, match="log is empty"):
        open_table(tmp_path / "log")
    (tmp_path / "log").write_text("impression,item,position,click\n")
    with pytest.raises(EmptyLogError, match=r"no rows|no impressions"):
        offrank.evaluate(offrank.read_log(tmp_path / "log"), "uniform", "uniform", "ips")


def test_a_packed_parquet_file_is_to_be_unpacked(tmp_path: Path) -> None:
    FORMS["Parquet"](WIDE, tmp_path / "log")
    (tmp_path / "log.gz").write_bytes(gzip.compress((tmp_path / "log").read_bytes()))
    with pytest.raises(LogError, match=r"log\.gz is a compressed file of kind parquet"):
        open_table(tmp_path / "log.gz")


def test_a_folder_of_several_kinds_without_suffixes(tmp_path: Path) -> None:
    FORMS["Parquet"](WIDE, tmp_path / "a")
    FORMS["CSV"](WIDE, tmp_path / "b")
    with pytest.raises(UsageError, match=r"several kinds: csv \(.*b\), parquet \(.*a\)"):
        open_table(tmp_path)


def test_a_quote_may_be_escaped_by_a_backslash(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text('impression,item,position,click,query\n1,a,1,0,"say \\"hi\\", you"\n')
    table = open_table(tmp_path / "log.csv")
    [piece] = table.pieces(0, table.names)
    assert piece.data.column("query").to_pylist() == ['say "hi", you']
    (tmp_path / "log.csv").write_text('impression,item,position,click,query\n1,a,1,0,"say ""hi"", \\"\n')
    [piece] = open_table(tmp_path / "log.csv").pieces(0, table.names)
    assert piece.data.column("query").to_pylist() == ['say "hi", \\']
