"""Between what values targets lie, on a page: in each group, under each assumption."""

from __future__ import annotations

from dataclasses import replace

from ...bounds.ends import Bounds
from ...language.formatting import Span, count, percent, quote
from ...report.document import Cell, Figures, Section
from ..estimates import ResultData

_MOST_LINES = 200


def bounds_by_group(found: ResultData, target: str) -> Section:
    """Tabulate between what values a target lies in each group, under each assumption."""
    every = {group: each[target] for group, each in found.group_bounds.items() if target in each}
    if not every:
        return Section("")
    rows = [_both_ends(group, one) for group, each in every.items() for one in each]
    hidden = "" if len(rows) <= _MOST_LINES else f"the first {_MOST_LINES}; the JSON has the others"
    against = next(iter(every.values()))[0].part.against
    header = (
        str(found.metadata.by),
        "from",
        "to",
        "interval",
        f"less {against}",
        "to",
        "interval",
        "known",
        "decision",
    )
    assumed = [f"{count(place)}. {one.assumes_in_words}" for place, one in enumerate(next(iter(every.values())), 1)]
    prose = ("Assuming " + "; or ".join(assumed) + ".",)
    table = Figures(hidden, header, tuple(rows[:_MOST_LINES]), extra=((4, 5), (3,), (6,)))
    return Section(f"Between what values, by {found.metadata.by}: {quote(target)}", prose, tables=(table,))


def _both_ends(group: str, bounds: Bounds) -> tuple[Cell, ...]:
    """Return the cells of one group under one assumption."""
    cells: list[Cell] = [group]
    pairs = ((bounds.lower, bounds.upper), (bounds.difference_lower, bounds.difference_upper))
    for signed, (lower, upper) in enumerate(pairs):
        spans = [Span.of(replace(lower, value=one.value, high=upper.high)) for one in (lower, upper)]
        cells += [one.number(bool(signed)) for one in spans] + [spans[0].interval(bool(signed))]
    return (*cells, percent(bounds.shown), bounds.decision)
