"""Smaller cases that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .cases import LogCase
from .files import FileCase

AnyCase = LogCase | FileCase
_TRIALS = 300


def shrunk(case: AnyCase, fails: Callable[[AnyCase], bool]) -> AnyCase:
    """Return a case that still fails and is as small as greedy steps make it."""
    left = _TRIALS
    again = True
    while again:
        again = False
        for smaller in _smaller(case):
            left -= 1
            if left < 0:
                return case
            if fails(smaller):
                case, again = smaller, True
                break
    return case


def _smaller(case: AnyCase) -> Iterator[AnyCase]:
    """Yield cases with less in them, the largest steps first."""
    if isinstance(case, FileCase):
        for index in range(len(case.edits) if len(case.edits) > 1 else 0):
            yield replace(case, edits=case.edits[:index] + case.edits[index + 1 :])
        return
    n = case.rows
    for kept in (range(n // 2), range(n // 2, n)) if n > 1 else ():
        yield _of_rows(case, list(kept))
    for role in case.columns:
        yield replace(case, columns={name: cells for name, cells in case.columns.items() if name != role})
    if case.form != "table":
        yield replace(case, form="table")
    for kept_types in ({name: kind for name, kind in case.types.items() if name != role} for role in case.types):
        yield replace(case, types=kept_types)
    for kept_names in ({name: said for name, said in case.names.items() if name != role} for role in case.names):
        yield replace(case, names=kept_names)
    for row in range(n if n > 1 else 0):
        yield _of_rows(case, [other for other in range(n) if other != row])
    yield from _shorter_lists(case)


def _of_rows(case: LogCase, rows: list[int]) -> LogCase:
    return replace(
        case, columns={role: [cells[row] for row in rows if row < len(cells)] for role, cells in case.columns.items()}
    )


def _shorter_lists(case: LogCase) -> Iterator[LogCase]:
    """Yield cases in which all lists of a row lose their second half, or the last value."""
    for row in range(case.rows):
        lists = {role: cells[row] for role, cells in case.columns.items() if isinstance(cells[row], list)}
        longest = max(map(len, lists.values()), default=0)
        for length in {longest // 2, longest - 1} if longest > 1 else ():
            cut: dict[str, list[Any]] = {role: list(cells) for role, cells in case.columns.items()}
            for role, cell in lists.items():
                cut[role][row] = cell[:length]
            yield replace(case, columns=cut)
