"""The document type of every verb: an answer, a plot, and sections of tables, plots and findings.

`page` and `terminal` render it, and depend on nothing else.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..findings.reasons import Assumption
from ..language.formatting import MISSING, listing, plural, quote
from ..language.registry import Later
from ..sums.estimate import Caution
from .charts import Chart
from .plots import Forest

if TYPE_CHECKING:
    from . import page
else:  # a terminal needs no HTML
    page = Later(".page", __package__)

SEVERITIES = ("ok", "note", "warning", "serious")
SIGNS = {"ok": "", "note": "i", "warning": "!", "serious": "!!"}

Status = Literal["confirmed", "in part", "not confirmed", "new"]


@dataclass(frozen=True)
class Codes:
    """A cell with the codes of the findings about a row, and the worst of their severities."""

    severity: str
    codes: tuple[str, ...] = ()


_FORMULA = re.compile(
    r"[\0\t\r\n]|[\s\0-\x1f\u200b\ufeff]*"
    r"(?:[=@\uff1d\uff20\uff0b\uff0d]|[-+](?!\d[\d.,]*(?:e[-+]?\d+)?\s?%?$))"
)
"""How a text begins that a spreadsheet would compute; -12.3 % is a number."""

_NUMBER = re.compile("(at least |< )?[-+]?([0-9]|inf)")
"""How a cell that is a number begins."""
_DECIMALS = re.compile(r"(?<=\d)(\.\d+)?$")
"""The decimals with which a cell ends."""

Cell = str | float | int | None | Codes


@dataclass(frozen=True)
class Figures:
    """A table: a caption, a header, and rows of equal length; the first cell names the row.

    - extra: groups of columns to omit if space is short, the last first.
    - folded: whether a page hides it behind its caption.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    extra: tuple[tuple[int, ...], ...] = ()
    folded: bool = False

    def filled(self) -> Figures:
        """Return the table without columns that are empty in every row; the first stays."""
        told = [
            any(one not in ("", MISSING, None, Codes("ok")) for one in column)
            for column in zip(*self.rows, strict=True)
        ]
        kept = [place for place, one in enumerate(told) if one or not place]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, header=tuple(self.header[place] for place in kept), rows=rows, extra=())

    def columns(self, space: str) -> list[tuple[bool, list[Cell]]]:
        """Return whether each column holds names, and its cells: numbers with decimal points below each other.

        At least half of what is in a column of numbers are some; the others may say why there is none. space: as wide
        as a digit.
        """
        found = []
        for place in range(len(self.header)):
            cells = [row[place] for row in self.rows]
            said = [str(one) for one in cells if one not in (None, "", MISSING)]
            numbers = 0 < len(said) <= 2 * sum(bool(_NUMBER.match(one)) for one in said)
            named = not place or not numbers or any(isinstance(one, Codes) for one in cells)
            found.append((named, cells if named else _padded(cells, space)))
        return found

    def to_csv(self) -> str:
        """Return the header and the rows as CSV with all digits; no text in it is a formula of a spreadsheet.

        Texts are in quotes: many a spreadsheet divides at semicolons too.
        """
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([_harmless(cell) for cell in row] for row in (self.header, *self.rows))
        return written.getvalue()


def _padded(column: list[Cell], space: str) -> list[Cell]:
    """Return a column of numbers with space for the decimals that others have and a number has not."""
    found = [_DECIMALS.search(cell) if isinstance(cell, str) else None for cell in column]
    most = max((len(one[0]) for one in found if one), default=0)
    return [
        cell if one is None else f"{cell}{space * (most - len(one[0]))}"
        for cell, one in zip(column, found, strict=True)
    ]


def _harmless(cell: Cell) -> Cell:
    """Return a cell as it is written; a text that a spreadsheet would compute has an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


@dataclass(frozen=True)
class Claim:
    """A claim of a text, its verdict, and the numbers behind the verdict."""

    text: str
    status: Status
    evidence: str


@dataclass(frozen=True)
class Item:
    """A list item; status: ok, note, warning, serious or skipped, or empty. text: more about it."""

    title: str
    text: str = ""
    status: str = ""


@dataclass(frozen=True)
class Answer:
    """The sentence to read first.

    - aside: its source. reasons: why not to rely on it, or only with care. severity: of these.
    - decision: what it says of a target: better, worse, no clear difference, unknown; empty if nothing.
    - assumptions: what it rests on that no log can test, each with a code.
    """

    text: str
    aside: str = ""
    severity: str = "ok"
    reasons: tuple[str, ...] = ()
    about: str = ""
    decision: str = ""
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True)
class Finding:
    """All warnings of one code: each message with its subjects, the worst first; those of groups are counted."""

    code: str
    severity: str
    messages: tuple[tuple[Caution, str], ...]
    of_groups: int = 0

    def told(self, most: int = 3) -> tuple[list[tuple[str, str]], str, list[tuple[str, str]]]:
        """Return messages with their subjects, how many more there are, and remedies with theirs where they differ."""
        several, shown = len({one.severity for one, _ in self.messages}) > 1, self.messages[:most]
        said = [(f"{one.severity}: {one.message}" if several else one.message, places) for one, places in shown]
        hidden = len(self.messages) - most
        more = [plural(hidden, "more message", "more messages")] if hidden > 0 else []
        if self.of_groups:
            more.append(plural(self.of_groups, "estimate of a group", "estimates of groups"))
        found: dict[str, list[str]] = {}
        for one, places in shown:
            if one.remedy:
                found.setdefault(one.remedy, []).append(places)
        remedies = [(listing(places) if len(found) > 1 else "", remedy) for remedy, places in found.items()]
        return said, f"Also {listing(more)} with this code." if more else "", remedies


@dataclass(frozen=True)
class Section:
    """A part of a document under a heading; any of its contents may be missing.

    - items: a list of short texts. code: text to copy.
    - folded: whether a page hides it behind its heading. printed: whether a terminal shows it.
    """

    heading: str
    prose: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Figures, ...] = ()
    items: tuple[str | Item, ...] = ()
    findings: tuple[Finding, ...] = ()
    forests: tuple[Forest, ...] = ()
    answers: tuple[Answer, ...] = ()
    code: str = ""
    folded: bool = False
    printed: bool = True

    @property
    def empty(self) -> bool:
        """Whether the section has no content."""
        parts = (self.prose, self.claims, self.charts, self.tables, self.items, self.findings, self.forests)
        return not any((*parts, self.answers, self.code))


@dataclass(frozen=True)
class Document:
    """A document: what to read first, and sections.

    - lead: what was read. answers, forests: the first screen. eyebrow: command and time.
    - facts: what was asked of what, as names and values. terms: its own, with what they mean.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    answers: tuple[Answer, ...] = ()
    forests: tuple[Forest, ...] = ()
    eyebrow: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()

    def render(self) -> str:
        """Return the page as HTML text."""
        return page.render(self)

    @property
    def picture(self) -> Forest | Chart | Figures | None:
        """Return the picture of the first section that has one, or its table; None where plots stand first."""
        shown = [one for one in self.sections if not (self.forests or one.folded)]
        found: list[Forest | Chart | Figures] = [plot for each in shown for plot in each.forests]
        found += [chart for each in shown for chart in each.charts]
        found += [table for each in shown for table in each.tables]
        return found[0] if found else None

    def first_screen(self) -> str:
        """Return what the page begins with, as HTML for a notebook."""
        return page.first_screen(self)


def worst(severities: Iterable[str]) -> str:
    """Return the worst of some severities."""
    return max((one for one in severities if one in SEVERITIES), key=SEVERITIES.index, default="ok")


def findings(found: Iterable[tuple[Caution, str, bool]]) -> tuple[Finding, ...]:
    """Group warnings by code, the worst first. found: each with its subject, and whether that is a group.

    One of a group is only counted once its code has a message of at least its severity.
    """
    by_code: dict[str, dict[tuple[str, str], tuple[Caution, list[str]]]] = {}
    of_groups, place = Counter[str](), SEVERITIES.index
    for caution, subject, of_group in found:
        messages = by_code.setdefault(caution.code, {})
        if of_group and any(place(severity) >= place(caution.severity) for severity, _ in messages):
            of_groups[caution.code] += 1
        else:
            messages.setdefault((caution.severity, caution.message), (caution, []))[1].append(subject)
    made = []
    for code, messages in by_code.items():
        ordered = sorted(messages.values(), key=lambda one: -place(one[0].severity))
        told = tuple((one, listing([subject for subject in subjects if subject])) for one, subjects in ordered)
        made.append(Finding(code, ordered[0][0].severity, told, of_groups[code]))
    return tuple(sorted(made, key=lambda one: -place(one.severity)))


def of_models(cautions: Iterable[tuple[str, Iterable[Caution]]]) -> tuple[Finding, ...]:
    """Group warnings about several models, or about the only one."""
    every = [(name, list(some)) for name, some in cautions]
    return findings((one, quote(name) if len(every) > 1 else "", False) for name, some in every for one in some)
