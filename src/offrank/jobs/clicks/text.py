"""Click models for a terminal: tables of numbers with their intervals, and what to know in words."""

from __future__ import annotations

import io
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ...clicks.sessions import Tally
from ...folds.estimate import Caution, Interval
from ...report import words


def rendered(parts: Iterable[RenderableType | str]) -> str:
    """Plain text, as wide as the terminal."""
    written = io.StringIO()
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    console = Console(file=written, width=width, color_system=None, force_terminal=False, highlight=False)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Names on the left, numbers on the right."""
    made = Table(box=box.SIMPLE_HEAD, title=words.printable(title), title_justify="left", title_style="bold")
    made.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        made.add_column(words.printable(heading), justify="right", overflow="fold")
    for row in rows:
        made.add_row(*(Text(words.printable(cell)) for cell in row))
    return made


def with_half(found: Interval, signed: bool = False) -> str:
    """`1.2342 ± 0.0021`, with the digits that it deserves."""
    if not math.isfinite(found.value):
        return "-inf" if found.value < 0 else words.MISSING
    half = (found.high - found.low) / 2
    places = words.decimals(found.value, words.doubt(found.low, found.high))
    text = words.number(found.value, places, signed)
    return f"{text} ± {words.number(half, places)}" if math.isfinite(half) else text


def with_ends(found: Interval) -> str:
    """`0.803 (0.799 to 0.806)`; the value alone where it is given, not learnt."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        return f"{found.value:.4g}"
    places = words.decimals(found.value, words.doubt(found.low, found.high))
    return f"{words.number(found.value, places)} ({words.interval(found.low, found.high, places)})"


def reading(tally: Tally, what: str = "") -> Iterator[str]:
    """What was read, repeated and left out."""
    if tally.repeated:
        yield f"note: {tally.repeated:,.0f} clicks{what} were on what had been clicked already: they count once."
    for rule, rows in tally.skipped.items():
        yield f"note: {rows:,} left out while reading{what}: {rule}"


def told(cautions: Mapping[str, Sequence[Caution]]) -> Iterator[str]:
    """Each caution once, with the models that it is about where there are several models."""
    about: dict[Caution, list[str]] = {}
    for name, some in cautions.items():
        for caution in some:
            about.setdefault(caution, []).append(name)
    for caution, names in about.items():
        whose = f" [{', '.join(names)}]" if len(cautions) > 1 else ""
        yield f"{caution.severity}{whose}: {caution}"
