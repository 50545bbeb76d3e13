"""Write docs/slates-reproduction.md from the results of `offrank reproduce slates`.

offrank reproduce slates --scale small
python benchmarks/slates_page.py [reproduce-slates] [docs/slates-reproduction.md]
"""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from offrank.formatting import typographic
from offrank.report.charts import Chart, Series, chart_svg
from offrank.report.document import Cell
from offrank.report.page import cell

INTRODUCTION = """\
# The paper on slates, reproduced

```sh
offrank reproduce slates --scale small          # within twenty minutes on two cores
offrank reproduce slates MSLR-WEB30K/Fold1      # the published size, on your copy of the data
```

simulates what *Off-policy evaluation for slate recommendation* (Swaminathan, Krishnamurthy, Agarwal, Dudík, Langford,
Jose and Zitouni, 2017) simulated: two metrics, two spaces of slates and ten pairs of logging and target policies, and
asks how far [`wpi`](pseudoinverse.md), whole-slate importance weights and regressions of the reward are from the
truth, for logs of all sizes. Figures 2 to 12, Tables 1 and 2 and every claim stand on one page beside what was found;
all numbers are in `result.json` and CSV files beside it. It needs the extra `models`.

It says first what it will cost. It can be interrupted: each simulated log and each fold is kept in the folder once it
is done, and the same command goes on with the others. Other data, another seed or another size have a folder of their
own; more runs go on from fewer. What the paper says, with every rule and tolerance, is data:
`offrank/papers/expected/slates.json` and `slates-tables.json`.

This page is written from the results by `benchmarks/slates_page.py`.
"""

PICTURES = (
    "Figure 3: uniform logging, (10, 5)",
    "Figure 12: tree_title, alpha 1 logging, (100, 10)",
)
"""Sections whose charts are shown; the others are on the page of the reproduction."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("reproduce-slates"))
    parser.add_argument("page", nargs="?", type=Path, default=Path("docs/slates-reproduction.md"))
    given = parser.parse_args()
    result = json.loads((given.folder / "result.json").read_text(encoding="utf-8"))
    sections = [part for section in result["sections"] if (part := written(section))]
    given.page.write_text("\n\n".join([INTRODUCTION.rstrip(), *sections]) + "\n", encoding="utf-8")


def written(section: dict[str, Any]) -> str:
    """Return a section as Markdown; empty for figures that are not shown here."""
    figure = section["heading"].startswith("Figure ")
    if figure and section["heading"] not in PICTURES:
        return ""
    parts = [f"## {section['heading']}", *map(wrapped, section["prose"])]
    parts += [table(one) for one in section["tables"] if not one["folded"]]
    parts += [f"<p>{chart['title']}</p>\n{drawn(chart)}" for chart in section["charts"]]
    if section["claims"]:
        parts.append("\n".join(claim(one) for one in section["claims"]))
    return "\n\n".join(parts)


def claim(one: dict[str, Any]) -> str:
    """Return a claim as an item of a list, with the sentences before its rules."""
    evidence = one["evidence"].split(" Confirmed if ")[0]
    return wrapped(f"- **{one['status']}**: {one['text']} {evidence}", "  ")


def wrapped(text: str, indent: str = "") -> str:
    """Break lines."""
    return textwrap.fill(text, 132, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def table(one: dict[str, Any]) -> str:
    """Return a table with its caption, without columns that are empty."""
    kept = [place for place in range(len(one["header"])) if any(row[place] is not None for row in one["rows"])]
    lines = [" | ".join(one["header"][place] for place in kept), " | ".join("---" for _ in kept)]
    lines += [" | ".join(shown(row[place]) for place in kept) for row in one["rows"]]
    return "\n".join([wrapped(f"{one['caption']}."), "", *(f"| {line} |" for line in lines)])


def shown(value: Cell) -> str:
    """Return a cell with three significant digits."""
    return typographic(f"{value:.3g}") if isinstance(value, float) else cell(value).replace("|", "\\|")


def drawn(chart: dict[str, Any]) -> str:
    """Return a chart as SVG."""
    return chart_svg(Chart(**{**chart, "series": tuple(Series(**one) for one in chart["series"])}))


if __name__ == "__main__":
    main()
