"""Markdown from the results of a reproduction (`result.json`), for pages of docs/."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from offrank.formatting import typographic
from offrank.report.charts import Chart, Series, chart_svg
from offrank.report.document import Cell
from offrank.report.page import cell

Digits = Callable[[str], str]
"""The format of the numbers of a column, by its title."""


def write(folder: Path, page: Path, introduction: str, written: Callable[[dict[str, Any]], str]) -> None:
    """Write the introduction, and each section of the results as written; empty ones are left out."""
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    sections = [part for one in result["sections"] if (part := written(one))]
    page.write_text("\n\n".join([introduction.rstrip(), *sections]) + "\n", encoding="utf-8")


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


def drawn(chart: dict[str, Any]) -> str:
    """Return a chart as SVG."""
    return chart_svg(Chart(**{**chart, "series": tuple(Series(**one) for one in chart["series"])}))
