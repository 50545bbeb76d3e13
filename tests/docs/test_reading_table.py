"""The table of how each layout and standard is read: it is what `inspect` says today, and it leaves none out."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import get_args

from benchmarks._page import table_of
from offrank.readers.description import Layout
from offrank.readers.formats.registry import READERS
from tests.readers.samples import LAYOUTS, STANDARDS


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts/reading-table"
    loader = importlib.machinery.SourceFileLoader("reading_table", str(path))
    spec = importlib.util.spec_from_file_location("reading_table", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_layout_and_standard_has_a_sample() -> None:
    assert {name.partition(",")[0] for name in LAYOUTS} == {*get_args(Layout)}
    assert {*STANDARDS} == {name for name, reader in READERS.items() if not reader.general}


def test_the_page_says_what_inspect_says() -> None:
    made = script()
    page = table_of(made.PAGE, "how it is read").read_text(encoding="utf-8")
    for line in made.table():
        assert line in page, "run scripts/reading-table"
