"""Click models for a terminal: tables of numbers with their intervals, and what to know in words."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .. import formatting as digits
from ..folds.estimate import Caution
from .sessions import Tally


def rendered(parts: Iterable[RenderableType | str]) -> str:
    """Plain text, as wide as the terminal."""
    written = io.StringIO()
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    console = Console(file=written, width=width, color_system=None, force_terminal=False, highlight=False)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """Names on the left, numbers on the right, the title above."""
    made = Table(box=box.SIMPLE_HEAD)
    for place, heading in enumerate(headings):
        made.add_column(Text(digits.printable(heading)), justify="right" if place else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(digits.printable(cell)) for cell in row))
    return Group(Text(digits.printable(title)), made) if title else made


def reading(tally: Tally, what: str = "") -> Iterator[str]:
    """What was read, repeated, empty and left out."""
    if tally.repeated:
        yield f"note: {tally.repeated:,.0f} clicks{what} were on what had been clicked already: they count once."
    if tally.holes:
        yield f"note: {tally.holes:,} ranks{what} were empty: looked past, with nothing to click."
    for rule, count in tally.skipped.items():
        unit = "clicks" if rule.startswith("click-") else "sessions"
        yield f"note: {count:,} {unit}{what} were left out while reading: {rule}"


def told(cautions: Mapping[str, Sequence[Caution]]) -> Iterator[str]:
    """Each caution once, with the models that it is about where there are several models."""
    about: dict[Caution, list[str]] = {}
    for name, some in cautions.items():
        for caution in some:
            about.setdefault(caution, []).append(name)
    for caution, names in about.items():
        whose = f" [{', '.join(names)}]" if len(cautions) > 1 else ""
        yield f"{caution.severity}{whose}: {caution}"
