"""Percentages are written alike wherever people read them: "27 %", a number and a space before the sign."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html import unescape

import pytest

from offrank.language.formatting import percent
from offrank.report import terminal
from tests.house.code import ROOT
from tests.report import verbs
from tests.report.test_layout import PAGES

CLOSE = re.compile(r"\d%")
MODULES = sorted(path for folder in ("src", "reproductions/src") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("share", "places", "written"),
    [
        (0.27, None, "27 %"),
        (0.0312, None, "3.1 %"),
        (0.0312, 0, "3 %"),
        (0.99951, 0, "100 %"),
        (0.99951, 1, "100.0 %"),
        (0.00004, None, "< 0.01 %"),
        (0.0, None, "0 %"),
        (None, 1, "-"),
    ],
)
def test_a_share_has_two_significant_digits_or_the_decimals_that_were_asked_for(
    share: float | None, places: int | None, written: str
) -> None:
    assert percent(share, places) == written


def close(text: str) -> Iterator[int]:
    """The lines at which a module makes a percentage without a space."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            if ast.unparse(node.format_spec).rstrip("'\"").endswith("%"):
                yield node.lineno
        elif isinstance(node, ast.JoinedStr):
            for before, part in zip(node.values, node.values[1:], strict=False):
                if isinstance(before, ast.FormattedValue) and str(getattr(part, "value", "")).startswith("%"):
                    yield node.lineno


@pytest.mark.turns(3)
def test_no_module_makes_them_otherwise() -> None:
    found = {str(path.relative_to(ROOT)): [*close(path.read_text(encoding="utf-8"))] for path in MODULES}
    lengths = {"src/offrank/report/svg.py"}  # of a page, which nobody reads
    assert {path: lines for path, lines in found.items() if lines and path not in lengths} == {}


@pytest.mark.parametrize("text", ['f"{share:.0%} of the rows"', 'f"{100 * share:.0f}% of the rows"'])
def test_what_is_made_otherwise_is_found(text: str) -> None:
    assert [*close(text)] == [1]


def read(page: str) -> str:
    """What is read on a page, without its style."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in verbs.NAMES else []) for name in PAGES]
)
def test_pages_and_terminals_have_a_space_before_the_sign(name: str) -> None:
    document = PAGES[name]()
    for text in (read(document.render()), terminal.render_text(document, 100)):
        assert CLOSE.findall(text) == []


def test_pages_have_percentages() -> None:
    assert re.search(r"\d[\s\u00a0]%", read(PAGES["evaluate"]().render()))
