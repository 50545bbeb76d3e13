"""One document for every verb: an answer, a picture, and sections of tables, plots and findings.

`page` and `terminal` render it, and know nothing else.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from ..folds.estimate import Caution
from ..formatting import listing, plural, quote
from . import page
from .charts import Chart
from .plots import Forest

SEVERITIES = ("ok", "note", "warning", "serious")
SIGNS = {"ok": "", "note": "i", "warning": "!", "serious": "!!"}

Status = Literal["confirmed", "in part", "not confirmed", "new"]


@dataclass(frozen=True)
class Codes:
    """A cell: the findings about a row, by their codes, and the worst of their severities."""

    severity: str
    codes: tuple[str, ...] = ()


Cell = str | float | int | None | Codes


@dataclass(frozen=True)
class Figures:
    """A table: a caption, a header, and rows of as many cells; the first cell names the row.

    - extra: places of columns that are left out where there is little room. folded: on a page, behind its caption.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    extra: tuple[int, ...] = ()
    folded: bool = False

    @property
    def named(self) -> tuple[bool, ...]:
        """Which columns hold names rather than numbers."""
        columns = [[row[place] for row in self.rows] for place in range(len(self.header))]
        return tuple(
            not place or any(isinstance(one, Codes) for one in cells) or not any(map(_has_digits, cells))
            for place, cells in enumerate(columns)
        )

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
class Item:
    """A line of a list; status: ok, note, warning, serious or skipped, or nothing. text: more about it."""

    title: str
    text: str = ""
    status: str = ""


@dataclass(frozen=True)
class Answer:
    """A sentence to read first. aside: where it comes from; reasons: why it is not to be used, or with care."""

    text: str
    aside: str = ""
    severity: str = "ok"
    reasons: tuple[str, ...] = ()
    about: str = ""


@dataclass
class Finding:
    """All cautions of one code: each message with whom it is about; those of groups are counted."""

    code: str
    told: dict[tuple[str, str], tuple[Caution, list[str]]] = field(default_factory=dict)
    of_groups: int = 0

    def add(self, caution: Caution, place: str, of_group: bool = False) -> None:
        """Enter one; that of a group is only counted once a message as severe stands for the code."""
        if of_group and self.told and worst((self.severity, caution.severity)) == self.severity:
            self.of_groups += 1
        else:
            self.told.setdefault((caution.severity, caution.message), (caution, []))[1].append(place)

    @property
    def severity(self) -> str:
        """The worst of all."""
        return worst(severity for severity, _ in self.told)

    @property
    def _worst_first(self) -> list[tuple[Caution, str]]:
        ordered = sorted(self.told.values(), key=lambda one: -SEVERITIES.index(one[0].severity))
        return [(caution, listing(list(filter(None, places)))) for caution, places in ordered]

    def shown(self, most: int = 3) -> list[tuple[str, str]]:
        """Messages and whom they are about, the worst first, the end of a long list left out."""
        several = len({severity for severity, _ in self.told}) > 1
        return [
            (f"{one.severity}: {one.message}" if several else one.message, places)
            for one, places in self._worst_first[:most]
        ]

    def remedies(self, most: int = 3) -> list[tuple[str, str]]:
        """Whom a remedy is for, where that differs, and what to do about the messages that are shown."""
        found: dict[str, list[str]] = {}
        for one, places in self._worst_first[:most]:
            if one.remedy:
                found.setdefault(one.remedy, []).append(places)
        return [(listing(places) if len(found) > 1 else "", remedy) for remedy, places in found.items()]

    def rest(self, most: int = 3) -> str:
        """What `shown` leaves out, in formatting."""
        hidden = len(self.told) - most
        more = [plural(hidden, "more message", "more messages")] if hidden > 0 else []
        if self.of_groups:
            more.append(plural(self.of_groups, "estimate of a group", "estimates of groups"))
        return f"Also {listing(more)} with this code." if more else ""


@dataclass(frozen=True)
class Section:
    """A part of a document, under a heading; any of its contents may be left out.

    - items: a list of short texts. code: to be copied.
    - folded: on a page, behind its heading. printed: whether a terminal shows it.
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
        """Whether nothing stands under the heading."""
        parts = (self.prose, self.claims, self.charts, self.tables, self.items, self.findings, self.forests)
        return not any((*parts, self.answers, self.code))


@dataclass(frozen=True)
class Document:
    """A document: what to read first, and sections.

    - lead: what was read. answers, forests: the first screen. eyebrow: what made it, and when.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    answers: tuple[Answer, ...] = ()
    forests: tuple[Forest, ...] = ()
    eyebrow: str = ""

    def render(self) -> str:
        """The page as text."""
        return page.render(self)


def _has_digits(value: Cell) -> bool:
    return any(letter.isdigit() for letter in str(value))


def worst(severities: Iterable[str]) -> str:
    """The worst of some severities."""
    return max((one for one in severities if one in SEVERITIES), key=SEVERITIES.index, default="ok")


def findings(found: Iterable[tuple[Caution, str, bool]]) -> tuple[Finding, ...]:
    """Cautions by code, the worst first. found: each with whom it is about, and whether that is a group."""
    by_code: dict[str, Finding] = {}
    for caution, place, of_group in found:
        by_code.setdefault(caution.code, Finding(caution.code)).add(caution, place, of_group)
    return tuple(sorted(by_code.values(), key=lambda one: -SEVERITIES.index(one.severity)))


def of_models(cautions: Iterable[tuple[str, Iterable[Caution]]]) -> tuple[Finding, ...]:
    """Cautions about several models, or about the only one."""
    every = [(name, list(some)) for name, some in cautions]
    return findings((one, quote(name) if len(every) > 1 else "", False) for name, some in every for one in some)
