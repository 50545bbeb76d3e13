"""Yandex sessions: repeated clicks, clicks elsewhere, several sessions in a line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import offrank
from offrank.errors import EmptyLogError, LogError, RowError, UsageError
from offrank.log.source import Needs
from offrank.readers import text, yandex
from tests.readers.plain import code, contents, rows, skipped

LOG = (
    "7_0\t1,2,3 : 2 , 1; 7_0\t3,2,1 :; 7_0\t1,2,3 : 3 , 3 , 3  ;  7_0\t2,1,3 :  ; \n"
    "8_1\t5,6,7 : 6 , 99 , 98 , 6\n"
    "\n"
    "8_1\t5,6,7 : 99;\n"
)
NEEDED = Needs(frozenset(["clicks"]), keys=frozenset(["query"]), labels=frozenset(["query"]))
SLATES = [[1, 2, 3], [3, 2, 1], [1, 2, 3], [2, 1, 3], [5, 6, 7], [5, 6, 7]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "log.txt").write_text(LOG, encoding="utf-8")
    return tmp_path / "log.txt"


def test_sessions(path: Path) -> None:
    found = rows(yandex(path), NEEDED)
    assert [row["slate"] for row in found] == SLATES
    assert [row["row"] for row in found] == list(range(6))
    assert [row["label:query"] for row in found] == ["7_0"] * 4 + ["8_1"] * 2
    assert [row["key:query"] for row in found] == [code("7_0")] * 4 + [code("8_1")] * 2


@pytest.mark.parametrize(
    ("repeats", "clicks"),
    [
        ("once", [[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]),
        ("count", [[1, 1, 0], [0, 0, 0], [0, 0, 3], [0, 0, 0], [0, 2, 0], [0, 0, 0]]),
    ],
)
def test_repeated_clicks(repeats: str, clicks: list[list[int]], path: Path) -> None:
    assert [row["clicks"] for row in rows(yandex(path, repeats=repeats), NEEDED)] == clicks  # type: ignore[arg-type]


def test_clicks_elsewhere_and_again_are_counted(path: Path) -> None:
    assert skipped(yandex(path), NEEDED) == {"click-outside-slate": 3, "click-repeated": 3}
    assert skipped(yandex(path, repeats="count"), NEEDED) == {"click-outside-slate": 3}


def test_bad_sessions_and_clicks_elsewhere_are_counted_together(path: Path) -> None:
    path.write_text("1\t5,5 :;" + LOG, encoding="utf-8")
    with pytest.raises(RowError, match=r"row 0 .*duplicate-item"):
        rows(yandex(path), NEEDED)
    source = offrank.read_log(path, format="yandex", invalid="skip")
    assert len(rows(source, NEEDED)) == 6
    assert skipped(source, NEEDED) == {"click-outside-slate": 3, "click-repeated": 3, "duplicate-item": 1}


def test_packed_and_several_files(path: Path) -> None:
    packed = path.with_name("log.gz")
    packed.write_bytes(gzip.compress(LOG.encode()))
    assert contents(yandex([packed, path]), NEEDED) == contents(yandex(path), NEEDED) * 2


def test_pieces_do_not_matter(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, left_out = rows(yandex(path), NEEDED), skipped(yandex(path), NEEDED)
    monkeypatch.setattr(text, "_PIECE_ROWS", 2)
    assert rows(yandex(path), NEEDED) == whole
    assert skipped(yandex(path), NEEDED) == left_out


@pytest.mark.parametrize(
    "session",
    [
        *("9_0 1,2 : 1", "9_0\t1,2", "9_0\t1,b :", "9_0\t1,2 : x", "9_0\t1,2 : 1 2", "9_0\t : 1", "9_0\t1,2 : 1 ,"),
        *(f"9_0\t1,{2**63} :", f"9_0\t1,2 : {10**19}"),
    ],
)
def test_a_session_that_is_not_in_the_format(session: str, path: Path) -> None:
    path.write_text(f"{LOG}7_0\t1 :;{session};\n", encoding="utf-8")
    with pytest.raises(LogError, match=r"log\.txt, line 5: expected 'query_region TAB") as caught:
        rows(yandex(path), NEEDED)
    assert repr(session.strip()) in caught.value.message


def test_a_number_of_thousands_of_digits_is_no_document(path: Path) -> None:
    path.write_text(f"9_0\t1,2 : {'9' * 5000} ;\n", encoding="utf-8")
    with pytest.raises(LogError, match="at most 63 bits"):
        rows(yandex(path), NEEDED)
    path.write_text(f"9_0\t1,{2**63 - 1} : {2**63 - 1} , {2**63} ;\n", encoding="utf-8")
    assert [row["clicks"] for row in rows(yandex(path), NEEDED)] == [[0, 1]]


def test_long_sessions_are_cut_in_the_message(path: Path) -> None:
    path.write_text("x" * 10_000, encoding="utf-8")
    with pytest.raises(LogError) as caught:
        rows(yandex(path), NEEDED)
    assert len(caught.value.message) < 300


def test_nothing_in_the_file(path: Path) -> None:
    path.write_text(" ; ;\n", encoding="utf-8")
    with pytest.raises(EmptyLogError, match="no impressions"):
        rows(yandex(path), NEEDED)


def test_unfit_arguments(path: Path) -> None:
    with pytest.raises(UsageError, match='"once" or "count"'):
        yandex(path, repeats="twice")  # type: ignore[arg-type]


def test_lists_without_a_click_at_the_top_are_no_other_format(tmp_path: Path) -> None:
    lines = [f"{session}\t0\tQ\t7\t1\t{session + 1}\t{session + 2}" for session in range(6)]
    (tmp_path / "log.txt").write_text("\n".join([*lines, "5\t9\tC\t6"]) + "\n")
    found = offrank.inspect(tmp_path / "log.txt")
    assert (found.format, found.rows) == ("yandex", 6)


def test_gaps_of_whole_lists_are_refused(path: Path) -> None:
    with pytest.raises(UsageError, match="the yandex format has whole lists, without gaps to close"):
        offrank.read_log(path, format="yandex", gaps="close")
