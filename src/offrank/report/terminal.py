"""A document on a terminal: what to read first, a line per number, and each finding in words once."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..language.formatting import cell, printable, shorten, together
from .document import SIGNS, Answer, Cell, Claim, Codes, Document, Figures, Finding, Item, Section

_STYLES = {"ok": "", "note": "cyan", "warning": "yellow", "serious": "bold red"}
_DECISIONS = {"better": "bold green", "worse": "bold red", "no clear difference": "bold blue", "unknown": "bold"}
_JOINT = "\ue000"
"""Stands for a space at which lines must not break."""
_WIDEST = 120
"""Wider tables are harder to read."""
_BELOW = (1, 0, 0, 0)
"""An empty line above."""
_NAMES = 18
"""Minimum width of name columns, however many numbers stand beside them."""


def show(document: Document) -> None:
    """Print a document: in colour on a terminal, otherwise as `render_text` returns it."""
    if Console().is_terminal:
        print_document(document)
    else:
        sys.stdout.write(render_text(document))


def print_document(document: Document, console: Console | None = None) -> None:
    """Print a document; in colour only if the console is a terminal with colours."""
    console = console or Console()
    console.width = min(console.width, _WIDEST)
    parts: list[RenderableType] = [Text(printable(document.title), style="bold")]
    parts += [_prose(document.lead, console)] if document.lead else []
    parts += [Padding(_answer(answer, console), _BELOW) for answer in document.answers]
    printed = [section for section in document.sections if section.printed]
    codes = dict.fromkeys(finding.code for section in printed for finding in section.findings)
    marks = {code: index for index, code in enumerate(codes, 1)}
    for section in printed:
        parts += _section(section, marks, console)
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def render_text(document: Document, width: int | None = None) -> str:
    """Return a document as plain text, as wide as the terminal (80 columns without one)."""
    width = width or shutil.get_terminal_size((80, 24)).columns
    written = io.StringIO()
    print_document(document, Console(file=written, width=width, color_system=None, force_terminal=False))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def _section(section: Section, marks: dict[str, int], console: Console) -> Iterator[RenderableType]:
    if section.prose or section.items or section.claims:
        yield Padding(Text(printable(section.heading.replace("`", "")), style="bold"), _BELOW)
    for text in section.prose:
        yield _prose(text, console)
    if section.items:
        yield _items(section.items, console)
    for claim in section.claims:
        yield _claim(claim, console)
    for table in section.tables:
        yield Padding(_table(table, marks, console.width), _BELOW)
    for line in section.code.splitlines():  # never break lines that are to be copied
        yield Text(printable(line), no_wrap=True, overflow="ignore")
    for finding in section.findings:
        yield Padding(_finding(finding, marks[finding.code], console), _BELOW)


def _answer(answer: Answer, console: Console) -> Text:
    """Render an answer; what was decided has its own colour, and stands first in words."""
    rests = "; ".join(one.in_words for one in answer.assumptions)
    said = " ".join(filter(None, [answer.text, answer.aside, f"{rests}." if rests else ""]))
    text = _prose(said + "".join(f"\n- {reason}" for reason in answer.reasons), console)
    _, emphasis, after = answer.text.partition("**")
    if answer.decision and emphasis:
        text.stylize(_DECISIONS.get(answer.decision, ""), 0, len(after.partition("**")[0]))
    return text


def _table(figures: Figures, marks: dict[str, int], width: int) -> RenderableType:
    """Render a line per row; if space is short, omit the last extra columns, then split the table."""
    each = figures.columns(" ")
    columns, named = [[_words(cell, marks) for cell in cells] for _, cells in each], [one for one, _ in each]
    widths = [
        max([len(name), *(part.cell_len for part in column)])
        for name, column in zip(figures.header, columns, strict=True)
    ]
    kept = [place for place, column in enumerate(columns) if not place or any(part.plain.strip() for part in column)]
    first = min(widths[0], 60)

    def needed(places: Sequence[int], gap: int) -> int:
        return first + sum(widths[place] + gap for place in places[1:])

    known, kept = kept, [place for place in kept if all(place not in group for group in figures.extra)]
    for group in figures.extra:
        more = sorted([*kept, *(place for place in group if place in known)])
        if needed(more, 2) > width:
            break
        kept = more
    if needed(kept, 1) > width:
        first = min(first, max(_NAMES, width - sum(widths[place] + 1 for place in kept[1:])))
    pieces = [[0]]
    for place in kept[1:]:
        if needed([*pieces[-1], place], 1) > width and len(pieces[-1]) > 1:
            pieces.append([0])
        pieces[-1].append(place)
    gap = 2 if all(needed(piece, 2) <= width for piece in pieces) else 1
    drawn = [_piece(figures, columns, named, piece, first, gap) for piece in pieces]
    title = [Text(printable(figures.caption.replace("`", "")), style="bold")] if figures.caption else []
    return Group(*title, *drawn)


def _piece(
    figures: Figures,
    columns: Sequence[Sequence[Text]],
    named: Sequence[bool],
    places: Sequence[int],
    first: int,
    gap: int,
) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for place in places:
        name, most = Text(printable(figures.header[place])), None if place else first
        if not named[place]:  # here, since a column that is justified loses the space behind a number
            every = [name, *columns[place]]
            widest = max(one.cell_len for one in every)
            for one in every:
                one.align("right", widest)
        table.add_column(name, no_wrap=bool(place), overflow="fold", max_width=most)
    for row, cells in zip(figures.rows, zip(*columns, strict=True), strict=True):
        severity = next((one.severity for one in row if isinstance(one, Codes)), "ok")
        table.add_row(*(cells[place] for place in places), style=_STYLES[severity])
    return table


def _words(value: Cell, marks: dict[str, int]) -> Text:
    if isinstance(value, Codes):
        see = ",".join(str(marks[code]) for code in value.codes if code in marks)
        return Text(f"{SIGNS[value.severity]} {see}".strip())
    shown = value if isinstance(value, str) else cell(value)
    return Text(shorten(printable(shown.replace("\u2212", "-")), 60))


def _finding(finding: Finding, mark: int, console: Console) -> Text:
    text = Text(f"[{mark}] {finding.code}", style="bold").append(f" ({finding.severity})", _STYLES[finding.severity])
    messages, rest, remedies = finding.told()
    said = [f"{message} ({places})" if places else message for message, places in messages]
    said += [rest] if rest else []
    said += [f"What to do{f' ({whose})' if whose else ''}: {remedy}" for whose, remedy in remedies]
    return text.append("\n").append_text(_prose("\n".join(said), console))


def _items(items: Sequence[str | Item], console: Console) -> RenderableType:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    widest = max((len(item.status) for item in items if isinstance(item, Item)), default=0)
    room = Console(width=max(20, console.width - (max(widest, 7) if widest else 1) - 1), file=console.file)
    for item in items:
        one = Item(item) if isinstance(item, str) else item
        said = one.title + (f"\n{one.text}" if one.text else "")
        status = Text(one.status or "-", _STYLES.get(one.status, "dim" if one.status else ""))
        table.add_row(status, _prose(said, room))
    return table


def _claim(claim: Claim, console: Console) -> Text:
    style = "yellow" if claim.status == "in part" else "bold red" if claim.status.startswith("not ") else ""
    text = _prose(f"[{claim.status}] {claim.text} {claim.evidence}", console)
    text.stylize(style, 0, len(claim.status) + 2)
    return text


def _prose(text: str, console: Console) -> Text:
    """Render text as lines, without its marks for code and emphasis, and without control characters.

    Lines do not break inside a number with its interval or unit.
    """
    found = []
    for line in text.replace("**", "").replace("`", "").split("\n"):
        joined = Text(together(printable(line).replace("\u00a0", " "), _JOINT))
        found += [part.plain.rstrip().replace(_JOINT, " ") for part in joined.wrap(console, console.width)] or [""]
    return Text("\n".join(found), style="not bold", no_wrap=True, overflow="ignore")
