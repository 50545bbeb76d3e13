"""What a click model learnt, and what was read and left out of a log, as sections of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..language import formatting
from ..log.batch import Floats
from ..log.rules import COUNTED_AGAIN
from ..report.document import Figures, Finding, Section
from .base import FitResult, Role, Roles, ranks_of
from .click_counts import rank_of
from .contexts import CODES
from .sessions import Tally

_LONGEST = 20
"""Largest number of entries, or ranks, of a table that is shown."""
_CURVES = (Role.EXAMINATION, Role.RANK, Role.RANK_AND_LAST_CLICK, Role.SHARED, Role.NUMBERS)
"""Roles of the tables that are shown entry by entry."""

Ends = Callable[[str], tuple[Floats, Floats]]
"""The interval of each entry of a table that has a posterior."""


def learnt_section(learnt: FitResult, roles: Roles, ends: Ends, confidence: float) -> Section:
    """Convergence, tables that do not belong to documents, and the expectations for an unseen document."""
    items, others, tables = [*_course(learnt)], [], []
    items += [f"{name.replace('_', ' ')}: {_spelled(value)}" for name, value in learnt.info.items()]
    for name, values in learnt.parameters.items():
        role = roles[name]
        if name in learnt.info:
            continue  # shown above
        if role is Role.REGRESSION:
            continue  # what it gives a document is seen in the document
        if role is Role.PRIOR:
            items.append(f"{name.replace('_', ' ')}: {_spelled(values.tolist())}")
        elif role is Role.DOCUMENT:
            items.append(f"{name} of an unseen document: {formatting.number(float(values[-1]))}")
        elif role in _CURVES and values.size == 1:
            items.append(f"{name}: {_entries(learnt, name, ends)[0]}")
        elif role is Role.RANK_AND_LAST_CLICK and ranks_of(values) <= _LONGEST // 2:
            tables.append(_by_last_click(name, values))
        elif role is Role.CONTEXT_AND_RANK and values.shape[1] <= _LONGEST:
            cells = np.array(_entries(learnt, name, ends)).reshape(values.shape).T.tolist()
            rows = tuple((str(rank), *row) for rank, row in enumerate(cells, 1))
            tables.append(Figures(name, ("rank", *learnt.info[CODES], "any other"), rows))
        elif role in _CURVES and role is not Role.RANK_AND_LAST_CLICK and len(values) <= _LONGEST:
            heading = f"value ({100 * confidence:g} % interval)" if name in learnt.strength else "value"
            rows = tuple((str(place), entry) for place, entry in enumerate(_entries(learnt, name, ends), 1))
            tables.append(Figures(name.replace("_", " "), ("rank" if role.by_rank else "", heading), rows))
        else:
            others.append(f"{name} ({' x '.join(map(str, values.shape))})")
    items += [f"other tables: {', '.join(others)}"] if others else []
    return Section("Parameters", items=tuple(items), tables=tuple(tables))


def log_findings(
    findings: Sequence[Finding], tally: Tally | None = None, other: Tally | None = None, note: str | None = None
) -> Section:
    """The findings, a note, and what was left out of this log and the other one."""
    prose = () if findings else ("All checks passed.",)
    items = (*_reading(tally or Tally()), *_reading(other or Tally(), " of the other log"))
    items += (f"note: {note}.",) if note else ()
    return Section("What to know", prose, items=items, findings=tuple(findings))


def _reading(tally: Tally, what: str = "") -> Iterator[str]:
    """Lines on what was read, repeated, empty and left out."""
    if tally.repeated:
        yield f"note: {tally.repeated:,.0f} clicks{what} were repeated clicks on the same result: they count once."
    if tally.holes:
        yield f"note: {tally.holes:,} ranks{what} were empty: they count as examined, with nothing to click."
    for rule, count in tally.skipped.items():
        if rule == COUNTED_AGAIN:
            yield (f"note: {count:,} positions{what} repeat a document of the same list: each counts as an impression.")
            continue
        unit = {"click": "clicks", "place": "places", "broken": "files", "no": "files"}.get(
            rule.partition("-")[0], "sessions"
        )
        yield f"note: {count:,} {unit}{what} were left out while reading: {rule}"


def _course(learnt: FitResult) -> Iterator[str]:
    """How learning converged, where it took rounds."""
    if learnt.rounds:
        end = "converged" if learnt.converged else "not converged"
        posterior = f", log-posterior {learnt.trace[-1]:,.2f}" if learnt.trace else ""
        yield f"{end} after {formatting.plural(learnt.rounds, 'iteration', 'iterations')}{posterior}"


def _entries(learnt: FitResult, name: str, ends: Ends) -> list[str]:
    values = learnt.parameters[name].ravel().tolist()
    if name not in learnt.strength:
        return [*map(formatting.number, values)]
    each = zip(values, *(end.ravel().tolist() for end in ends(name)), strict=True)
    return [formatting.Span(*map(formatting.finite, one)).text() for one in each]


def _by_last_click(name: str, values: Floats) -> Figures:
    """A row per rank, a column per last click above it."""
    ranks, of = ranks_of(values), rank_of(np.arange(len(values)))
    header = ("rank", "none", *(str(one) for one in range(1, ranks)))
    cells = ([f"{value:.3f}" for value in values[of == rank]] for rank in range(ranks))
    rows = tuple((str(rank), *row, *[""] * (ranks - len(row))) for rank, row in enumerate(cells, 1))
    return Figures(f"{name}, by the rank of the last click above", header, rows)


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_spelled, value))
    return str(value)
