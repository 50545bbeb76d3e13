"""Pages of docs/ from the results of a reproduction (`result.json`): all tables, and the claims among the findings."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._page import DOCS, drawn, generated
from offrank.language.formatting import cell, typographic
from offrank.report.document import Cell

Digits = Callable[[str], str]
"""The format of the numbers of a column, by its title."""


def arguments(name: str, description: str | None) -> argparse.ArgumentParser:
    """Return the arguments of a script: where the results are, and where the pages."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.set_defaults(name=name)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(f"reproduce-{name}"))
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of all pages")
    return parser


def write(given: argparse.Namespace, script: str, written: Callable[[dict[str, Any]], str]) -> list[dict[str, Any]]:
    """Write each section of the results as written (empty ones are left out), and the claims; return the sections."""
    sections: list[dict[str, Any]] = json.loads((given.folder / "result.json").read_text(encoding="utf-8"))["sections"]
    parts = filter(None, map(written, sections))
    generated(f"results of {given.name}", "\n\n".join(parts).split("\n"), script, docs=given.docs)
    claims = verdicts([claim for one in sections for claim in one["claims"]])
    generated(f"claims of {given.name}", claims, script, docs=given.docs)
    return sections


def verdicts(claims: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table of the paper's claims and their verdicts; those that are new are not the paper's."""
    rows = [f"| {one['text']} | {one['status']} |" for one in claims if one["status"] != "new"]
    return ["| The paper says | here |", "| --- | --- |", *rows]


def section(one: dict[str, Any], digits: Digits = lambda _: ".3g") -> str:
    """Return a section as Markdown."""
    parts = [f"## {one['heading']}", *map(wrapped, one["prose"])]
    parts += [table(each, digits) for each in one["tables"] if not each["folded"]]
    parts += [f"<p>{chart['title']}</p>\n{drawn(chart)}" for chart in one["charts"]]
    if one["claims"]:
        parts.append("\n".join(claim(each) for each in one["claims"]))
    return "\n\n".join(parts)


def claim(one: dict[str, Any]) -> str:
    """Return a claim as an item of a list, with the sentences before its rules."""
    evidence = one["evidence"].split(" Confirmed if ")[0]
    return wrapped(f"- **{one['status']}**: {one['text']} {evidence}", "  ")


def wrapped(text: str, indent: str = "") -> str:
    """Break lines."""
    return textwrap.fill(text, 132, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def table(one: dict[str, Any], digits: Digits) -> str:
    """Return a table with its caption, without columns that are empty."""
    header = one["header"]
    kept = [place for place in range(len(header)) if any(row[place] is not None for row in one["rows"])]
    lines = [" | ".join(header[place] for place in kept), " | ".join("---" for _ in kept)]
    lines += [" | ".join(shown(row[place], digits(header[place])) for place in kept) for row in one["rows"]]
    return "\n".join([wrapped(f"{one['caption']}."), "", *(f"| {line} |" for line in lines)])


def shown(value: Cell, digits: str) -> str:
    """Return a cell."""
    return typographic(f"{value:{digits}}") if isinstance(value, float) else cell(value).replace("|", "\\|")
