"""Prose, tables, pictures and claims as one self-contained HTML page: no network, no scripts, everything escaped."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from typing import Literal

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from offrank.folds.estimate import Caution
from offrank.report.charts import Chart, chart_svg
from offrank.report.plots import ForestPlot
from offrank.report.svg import forest_svg

Cell = str | float | int | None
Status = Literal["confirmed", "in part", "not confirmed", "new"]


@dataclass(frozen=True)
class Figures:
    """A table: a caption, a header, and rows of as many cells; the first cell names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_csv(self) -> str:
        """The header and the rows with all their digits."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return written.getvalue()


@dataclass(frozen=True)
class Claim:
    """What a text claims, whether it was found, and the numbers that say so."""

    text: str
    status: Status
    evidence: str


@dataclass(frozen=True)
class Finding:
    """What to know before a number is relied on; about: whose number, where it is not everybody's."""

    caution: Caution
    about: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a page, under a heading; any of its contents may be left out. items: a list of short texts."""

    heading: str
    prose: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Figures, ...] = ()
    items: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    forests: tuple[ForestPlot, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A page."""

    title: str
    lead: str
    sections: tuple[Section, ...]

    def render(self) -> str:
        """The page as text."""
        return _template().render(sheet=self)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("offrank.report", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"drawn": _drawn, "cell": cell}
    return environment.get_template("sheet.html.jinja")


def _drawn(plot: Chart | ForestPlot) -> Markup:
    drawn = chart_svg(plot) if isinstance(plot, Chart) else forest_svg(plot)
    return Markup(drawn)  # noqa: S704  every text in it is escaped there


def cell(value: Cell) -> str:
    """A cell as a reader should see it: four significant digits, a dash for what is missing."""
    if value is None:
        return "\u2013"
    if isinstance(value, float):
        return f"{value:,.4g}".replace("-", "\u2212")
    return f"{value:,}" if isinstance(value, int) else value
