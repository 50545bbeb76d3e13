"""What we write is about the library: nothing of the machine it was written on, nothing left to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.code import ROOT

TEXTS = sorted(
    path
    for pattern in (
        "*.md",
        "*.toml",
        "Makefile",
        "docs/**/*",
        "src/**/*",
        "benchmarks/**/*",
        "scripts/*",
        "reproductions/**/*",
    )
    for path in ROOT.glob(pattern)
    if path.suffix in {"", ".cfg", ".css", ".html", ".jinja", ".js", ".json", ".md", ".py", ".toml"} and path.is_file()
)

FOREIGN = re.compile(
    r"""(?<![\w.])/(?:work|home|root|Users)/     # somebody's folders
      | \b(?:this|last|next|previous)\ session\b
      | \b(?:AI|LLM|chatbot|language\ model)\b
      | \b(?:TODO|FIXME|XXX)\b
    """,
    re.VERBOSE,
)


def foreign(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    numbered = enumerate(text.splitlines(), 1) if FOREIGN.search(text) else ()
    return [f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for number, line in numbered if FOREIGN.search(line)]


def test_no_foreign_words() -> None:
    assert [one for path in TEXTS for one in foreign(path)] == []


@pytest.mark.parametrize("text", ["/work/main/log.parquet", "as the last session found", "TODO: later"])
def test_foreign_words_are_seen(text: str) -> None:
    assert FOREIGN.search(text)


@pytest.mark.parametrize("text", ["clicks of a session", "framework/log", "https://a.org/work/x", "main"])
def test_other_words_are_left_alone(text: str) -> None:
    assert not FOREIGN.search(text)
