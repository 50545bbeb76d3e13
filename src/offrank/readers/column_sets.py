"""Files that were given as one log and have different columns: which sets there are, and how to give one of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatch
from itertools import takewhile
from pathlib import PurePath
from typing import Any, Protocol, runtime_checkable

from ..errors import ColumnError
from ..language.formatting import listing
from ..log.schema import GROUPING, LONG_ROLES, OPTIONAL, ROLES
from .files import Files, describe

LOOKED_AT = 100
"""The most files, or tables, that are compared or described."""
_SHOWN, _LONGEST = 5, 60
"""Columns that are shown of a set; characters of the name of a column."""

ASKED_FOR = frozenset((*ROLES, *LONG_ROLES, *GROUPING))
"""Columns that jobs ask for where they may do without, for which no file but the first is opened."""


@runtime_checkable
class FileTable(Protocol):
    """A table of several files."""

    files: Files

    def names_in(self, path: str) -> list[str]:
        """Return the columns in a file."""


Sets = Mapping[frozenset[str], tuple[Sequence[str], list[str]]]
"""The columns of each set in their order, and the files that have them."""


def sets_of(files: Iterable[tuple[str, Sequence[str]]]) -> Sets:
    """Return the sets of columns of files. files: the path and the columns of each."""
    found: dict[frozenset[str], tuple[Sequence[str], list[str]]] = {}
    for path, names in files:
        found.setdefault(frozenset(names), (names, []))[1].append(path)
    return found


def headed(sets: Sets) -> bool:
    """Whether the columns have names: of a text without a header, the first line would be taken for them."""
    return all(len(name) <= _LONGEST for names in sets for name in names)


def differing(sets: Sets) -> str:
    """Return which columns only some of the files have, and which these are."""
    shared = frozenset.intersection(*sets)
    beside = [name for name in next(iter(sets.values()))[0] if name in shared and name]
    own = [[name for name in names if name and name not in shared] for names, _ in sets.values()]
    files = [describe(paths) for _, paths in sets.values()]
    said = [f"{listing(each, _SHOWN) or 'no others'} in {where}" for each, where in zip(own, files, strict=True)]
    all_have = f"; all have {listing(beside, _SHOWN)}" if beside else ""
    return f"the files have {len(sets)} sets of columns: {'; '.join(said)}{all_have}"


def one_of(sets: Sets) -> str:
    """Return how the files of one set can be given: by their folder where there are several, or by a glob."""
    each = [paths for _, paths in sets.values()]
    first, others = each[0], [path for paths in each[1:] for path in paths]
    folders = {PurePath(path).parent for paths in each for path in paths}
    if len(folders) > 1:
        return f"give one folder, such as {os.fspath(PurePath(first[0]).parent)!r}, or the files of one set"
    glob = f"{_common(first)}*{_common([path[::-1] for path in first])[::-1]}"
    single = first[0] if len(first) == 1 else glob
    fits = len(first) == 1 or not any(fnmatch(path, glob) for path in others)
    return f"give the files of one set, such as {single!r}" if fits else "give the files of one set as a list"


def told_of_all(error: ColumnError, table: Any) -> ColumnError:
    """Tell of a column that the first file of several lacks, which ones have it: the first tells what the log has."""
    if error.column is None or not isinstance(table, FileTable):
        return error
    sets = sets_of((one, table.names_in(one)) for one in table.files.paths[:LOOKED_AT])
    having = {names: each for names, each in sets.items() if error.column in names}
    if not having:
        return error
    lack, have = (
        describe([path for names, (_, paths) in sets.items() if (names in having) is there for path in paths])
        for there in (False, True)
    )
    remedy = f"add it to the others, or {one_of({**having, **sets})}"
    return ColumnError(f"{lack} has no column {error.column!r}, but {have} has one", remedy)


def _common(texts: Sequence[str]) -> str:
    """Return how all of the texts begin."""
    return "".join(letters[0] for letters in takewhile(lambda each: len({*each}) == 1, zip(*texts, strict=False)))


def refuse_missing(
    path: str,
    names: Sequence[str],
    columns: Iterable[str],
    files: Sequence[str],
    names_of: Callable[[str], Sequence[str]],
    known: Sequence[str],
) -> None:
    """Raise if a file lacks a column of the first file, or has one that changes numbers where it is there.

    files: all of them; names_of: the columns of each; known: those of the first, which tells what the log has.

    Raises:
        ColumnError: it does, with the columns of all files and how to choose among them.
    """
    missing = [name for name in columns if name not in names]
    added = [name for name in names if name in OPTIONAL and name not in known]
    if missing or added:
        sets = sets_of((one, names_of(one)) for one in files[:LOOKED_AT])
        more = f"; {differing(sets)}" if len(sets) > 1 else ""
        remedy = f"correct the file, or {one_of(sets)}" if len(sets) > 1 else "correct the file"
        lack, have = (path, files[0]) if missing else (files[0], path)
        raise ColumnError(f"{lack} has no column {(missing or added)[0]!r}, but {have} has one{more}", remedy)
