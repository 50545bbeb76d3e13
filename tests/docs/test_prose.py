"""The pages stay few and short: they are counted, and so is their prose."""

from __future__ import annotations

import runpy

import pytest

from tests.house.code import ROOT

PROSE = runpy.run_path(str(ROOT / "scripts/prose"))


def test_the_pages_have_no_more_words_than_they_may() -> None:
    counted = PROSE["counted"]()
    assert len(counted) > 40
    assert 0.9 * PROSE["LIMIT"] < sum(counted.values()) <= PROSE["LIMIT"], (
        "run scripts/prose; lower LIMIT where it can be"
    )


def test_there_are_no_more_pages_and_none_is_longer_than_may_be() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "tables"]
    assert len(pages) <= 50, "put what is new where a reader looks for it, or merge two pages"
    assert {page: number for page, number in PROSE["counted"]().items() if number > 2_500} == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words.", 2),
        ("- a [link of four](to/a/page.md) words", 5),
        ("one\n\n```python\nnot = 'these'\n```\n\ntwo", 2),
        ("one\n\n| a | table |\n|---|---|\n\ntwo `code` three", 4),
        ('--8<-- "tables/x.md"\n::: offrank.evaluate\n<!-- nor this -->', 0),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert PROSE["words"](text) == words
