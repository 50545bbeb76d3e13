"""Files of a log that cannot be read, left out whole: a file counts with all of its rows or with none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from ..errors import LogError, UsageError
from ..log.rules import BROKEN_FILE
from ..wording import Option, Wording
from .files import Files
from .tables import Table, all_pieces


def sound(table: Table) -> tuple[Table, dict[str, int]]:
    """Return a table without its broken files, and what was left out: rule and name of each.

    Every file is read once, all columns of it: that which is left out depends on the files alone.

    Raises:
        UsageError: the table is not of files.
        LogError: all files are broken.
    """
    given: Any = table
    files: Any = getattr(table, "files", None)
    if not isinstance(files, Files):
        raise UsageError(
            f"{table.describe()} has no files that could be skipped", Wording("omit {}", Option("skip_broken_files"))
        )
    each = [replace(given, files=replace(files, paths=(path,))) for path in files.paths]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(_fault, each))
    broken = {path: error for path, error in zip(files.paths, found, strict=True) if error is not None}
    kept = tuple(path for path in files.paths if path not in broken)
    if not kept:
        raise next(iter(broken.values()))
    return replace(given, files=replace(files, paths=kept)), {f"{BROKEN_FILE} {path}": 1 for path in broken}


def _fault(table: Table) -> LogError | None:
    """Read a table; return the error of the first rows that cannot be read."""
    try:
        for _ in all_pieces(table, table.names):
            pass
    except LogError as error:
        return error
    return None
