"""The table of how each layout and standard is read: it is what `inspect` says today, and it leaves none out."""

from __future__ import annotations

from typing import get_args

import pytest

from benchmarks._page import ROOT, table
from offrank.readers.description import Layout
from offrank.readers.formats.registry import READERS
from tests.docs.scripts import script
from tests.readers.samples import LAYOUTS, STANDARDS

TABLE = ROOT / "docs" / "tables" / table(script("reading-table").MARK)


def test_every_layout_and_standard_has_a_sample() -> None:
    assert {name.partition(",")[0] for name in LAYOUTS} == {*get_args(Layout)}
    assert {*STANDARDS} == {name for name, reader in READERS.items() if not reader.general}


@pytest.mark.turns(3, TABLE)
def test_the_page_says_what_inspect_says() -> None:
    made = script("reading-table")
    page = TABLE.read_text(encoding="utf-8")
    for line in made.table():
        assert line in page, "run scripts/reading-table"
