"""The terminal shows one line per estimate, whole numbers at 80 columns, colour only where it is wanted."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from offrank import Result
from offrank.report.document import Codes, Document, Figures, Item, Section
from offrank.report.terminal import print_document
from offrank.report.terminal import render_text as render_sheet
from tests.report import sample


def render_text(result: Result, width: int | None = None) -> str:
    return render_sheet(result.to_document(), width)


def line_of(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_every_number_is_whole_and_fits(width: int) -> None:
    text = render_text(sample.result(), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\u2026" not in text
    assert line_of(text, "interpol(window=2)").split()[1:6] == ["0.413", "0.406", "to", "0.420", "+0.032"]
    assert line_of(text, "pbm").split()[:5] == ["pbm", "0.414", "0.410", "to", "0.419"]


def test_wide_terminals_show_the_interval_of_the_difference() -> None:
    assert "+0.029 to +0.037" in line_of(render_text(sample.result(), 120), "pbm")
    middle = line_of(render_text(sample.result(), 96), "pbm")
    assert middle.endswith("0.412")  # the truth
    assert "+0.029" not in middle
    assert "0.073 %" not in middle  # would fit, but the interval comes first
    assert "0.073 %" not in line_of(render_text(sample.result(), 100), "pbm")
    assert "+0.029 to" not in render_text(sample.result(), 80)


def test_warnings_are_said_once_each() -> None:
    text = render_text(sample.result(), 80)
    for code in ("low-ess", "heavy-tail", "no-overlap"):
        assert text.count(code) == 1
    assert text.count("What to do: ") == 3
    assert line_of(text, "snips                          no overlap").endswith("!! 3")


def test_groups_and_checks_are_there() -> None:
    text = render_text(sample.result(), 80)
    assert "better by ipm" in text
    assert line_of(text, "garden & home").split()[3:5] == ["0.40", "0.37"]
    assert "serious Sub-sampling corrected twice: 9.97 (9.81 to 10.13), expected 1" in text
    assert "The set of slates is not fixed." in text


def test_plain_text_has_no_colour_and_no_marks() -> None:
    text = render_text(sample.result(), 80)
    assert "\x1b" not in text
    assert "**" not in text
    assert "`" not in text


def test_a_terminal_gets_colour_and_a_file_does_not() -> None:
    terminal, file = io.StringIO(), io.StringIO()
    page = sample.result().to_document()
    print_document(page, Console(file=terminal, force_terminal=True, color_system="standard", width=100))
    print_document(page, Console(file=file, width=100))
    assert "\x1b[" in terminal.getvalue()
    assert "\x1b[" not in file.getvalue()


def test_names_cannot_command_the_terminal() -> None:
    text = render_text(sample.only({("\x1b[2J[red]t", "[bold]ipm\x07"): sample.estimate("better", "ipm")}), 100)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]t" in text
    assert "[bold]ipm" in text


def test_decimal_points_stand_below_each_other() -> None:
    rows = (("a", "0.3962", "0.38 to 0.41"), ("b", "12.41098", "9.405 to 14.417"), ("c", "-0.282", "-1 to 1"))
    page = Document("", "", (Section("", tables=(Figures("", ("name", "value", "interval"), rows),)),))
    lines = [line_of(render_sheet(page, 80), f"{name} ") for name in "abc"]
    assert len({line.index(".") for line in lines}) == 1
    assert lines[0].rindex(".") == lines[1].rindex(".") > lines[0].index("to")
    assert "<td>0.3962\u2007</td><td>0.38 to 0.41\u2007</td>" in page.render()
    assert "<td>\u22120.282\u2007\u2007</td>" in page.render()


def test_words_beside_a_long_status_are_not_cut() -> None:
    said = "none: a damaged number would not be noticed; another command adds them"
    document = Document("log", "", (Section("Contents", items=(Item(said, status="duplicates"),)),), ())
    assert " ".join(render_sheet(document, 80).split()).endswith(f"duplicates {said}")


def test_a_page_has_no_column_that_is_empty_in_every_row() -> None:
    rows = (("a", 0, None, "-", "", Codes("ok")), ("b", None, None, "-", "", Codes("ok")))
    table = Figures("Numbers", ("name", "some", "none", "dash", "blank", "see"), rows)
    assert (table.filled().header, table.filled().rows) == (("name", "some"), (("a", 0), ("b", None)))
    page = Document("Columns", "", (Section("Which", tables=(table,)),)).render()
    assert re.findall(r"<th scope=.col.[^>]*>(\w+)", page) == ["name", "some"]
    told = replace(table, rows=(rows[0], (*rows[1][:-1], Codes("note", ("clustered",)))))
    assert told.filled().header == ("name", "some", "see")
    assert Figures("", ("a", "b"), ((None, None),)).filled().header == ("a",)
