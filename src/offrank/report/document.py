"""The document type of every verb: an answer, a plot, and sections of tables, plots and findings.

`page` and `terminal` render it, and depend on nothing else.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from ..formatting import MISSING, listing, plural, quote
from ..sums.estimate import Caution
from . import page
from .charts import Chart
from .plots import Forest

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

    @property
    def named(self) -> tuple[bool, ...]:
        """Return which columns hold names rather than numbers."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.header))]
        return tuple(
            not place or any(isinstance(one, Codes) for one in cells) or not _are_numbers(cells)
            for place, cells in enumerate(columns)
        )

    def filled(self) -> Figures:
        """Return the table without columns that are empty in every row; the first stays."""
        told = [
            any(one not in ("", MISSING, None, Codes("ok")) for one in column)
            for column in zip(*self.rows, strict=True)
        ]
        kept = [place for place, one in enumerate(told) if one or not place]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, header=tuple(self.header[place] for place in kept), rows=rows, extra=())

    def aligned(self, space: str) -> list[list[Cell]]:
        """Return the columns, with the decimal points of each below each other. space: as wide as a digit."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.header))]
        return [column if named else _padded(column, space) for column, named in zip(columns, self.named, strict=True)]

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


class Coded(Protocol):
    """A text with a stable code, of which the documentation has a paragraph."""

    @property
    def code(self) -> str:
        """The code, as a link has it."""

    @property
    def text(self) -> str:
        """A few words."""

    @property
    def in_words(self) -> str:
        """The same words, and which number they concern."""

    @property
    def why(self) -> str:
        """A paragraph."""


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
    assumptions: tuple[Coded, ...] = ()


@dataclass
class Finding:
    """All warnings of one code: each message with its subjects; those of groups are counted."""

    code: str
    messages: dict[tuple[str, str], tuple[Caution, list[str]]] = field(default_factory=dict)
    of_groups: int = 0

    def add(self, caution: Caution, place: str, of_group: bool = False) -> None:
        """Add a warning; one of a group is only counted once the code has a message of at least its severity."""
        if of_group and self.messages and worst((self.severity, caution.severity)) == self.severity:
            self.of_groups += 1
        else:
            self.messages.setdefault((caution.severity, caution.message), (caution, []))[1].append(place)

    @property
    def severity(self) -> str:
        """Return the worst severity."""
        return worst(severity for severity, _ in self.messages)

    @property
    def _worst_first(self) -> list[tuple[Caution, str]]:
        ordered = sorted(self.messages.values(), key=lambda one: -SEVERITIES.index(one[0].severity))
        return [(caution, listing(list(filter(None, places)))) for caution, places in ordered]

    def shown(self, most: int = 3) -> list[tuple[str, str]]:
        """Return messages and their subjects, the worst first, with long lists cut."""
        several = len({severity for severity, _ in self.messages}) > 1
        return [
            (f"{one.severity}: {one.message}" if several else one.message, places)
            for one, places in self._worst_first[:most]
        ]

    def remedies(self, most: int = 3) -> list[tuple[str, str]]:
        """Return the remedies of the messages that are shown, with their subjects where they differ."""
        found: dict[str, list[str]] = {}
        for one, places in self._worst_first[:most]:
            if one.remedy:
                found.setdefault(one.remedy, []).append(places)
        return [(listing(places) if len(found) > 1 else "", remedy) for remedy, places in found.items()]

    def rest(self, most: int = 3) -> str:
        """Return in words how many messages `shown` leaves out."""
        hidden = len(self.messages) - most
        more = [plural(hidden, "more message", "more messages")] if hidden > 0 else []
        if self.of_groups:
            more.append(plural(self.of_groups, "estimate of a group", "estimates of groups"))
        return f"Also {listing(more)} with this code." if more else ""


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


def _are_numbers(cells: list[Cell]) -> bool:
    """Whether at least half of what is in a column are numbers; the others may say why there is none."""
    said = [str(one) for one in cells if one not in (None, "", MISSING)]
    return 0 < len(said) <= 2 * sum(bool(_NUMBER.match(one)) for one in said)


def worst(severities: Iterable[str]) -> str:
    """Return the worst of some severities."""
    return max((one for one in severities if one in SEVERITIES), key=SEVERITIES.index, default="ok")


def findings(found: Iterable[tuple[Caution, str, bool]]) -> tuple[Finding, ...]:
    """Group warnings by code, the worst first. found: each with its subject, and whether that is a group."""
    by_code: dict[str, Finding] = {}
    for caution, place, of_group in found:
        by_code.setdefault(caution.code, Finding(caution.code)).add(caution, place, of_group)
    return tuple(sorted(by_code.values(), key=lambda one: -SEVERITIES.index(one.severity)))


def of_models(cautions: Iterable[tuple[str, Iterable[Caution]]]) -> tuple[Finding, ...]:
    """Group warnings about several models, or about the only one."""
    every = [(name, list(some)) for name, some in cautions]
    return findings((one, quote(name) if len(every) > 1 else "", False) for name, some in every for one in some)
