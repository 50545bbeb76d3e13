"""What may be written where: a file that is read is never replaced, and one of others only if that is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path

from .errors import UsageError

_HEAD = 4096
_TABLES = (b"PAR1", b"ARROW1")
_OURS = re.compile(
    rb"""\s*\{\s*"(schema":\s*\d+,\s*"kind"|kind":\s*"learn"|format":\s*"offrank\ )   # results, models
    | offrank\ state\ | \#\ What\ is\ read\ as\ what\ in\ | PK.{28}format\.npy           # states, mappings, policies
    | .*<meta\ name="generator"\ content="offrank">                                      # pages""",
    re.VERBOSE | re.DOTALL,
)
"""How a file begins that offrank has written; tables have no such mark."""


def refuse_output(path: str, inputs: Iterable[str], overwrite: bool = False) -> None:
    """Raise if what is written to `path` would replace an input, or a file of others without `overwrite`.

    inputs: files, folders, globs, and spellings that name files.

    Raises:
        UsageError: it would.
    """
    for given in inputs:
        for read in _named(given):
            if _same(path, read):
                raise UsageError(f"{path!r} is read, so it cannot be written to", "give the output another name")
    if not Path(path).is_file():
        return
    head = _head(Path(path))
    if head and not overwrite and not _OURS.match(head):
        remedy = "give the output another name, or say --overwrite"
        raise UsageError(f"{path!r} is there already, and may not be offrank's", remedy)


def refuse_inside(path: str, folder: str) -> None:
    """Raise if a file would be written into a folder that is read, and so be read the next time.

    Raises:
        UsageError: it would.
    """
    if Path(folder).is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{path!r} is inside {folder!r}, which is read as a whole", "write it into another folder")


def refuse_kind(final: Path, made: Path) -> None:
    """Raise if a table, which may be a log, would be replaced by a file that is none.

    Raises:
        UsageError: it would.
    """
    if final.is_file() and _head(final).startswith(_TABLES) and not _head(made).startswith(_TABLES):
        raise UsageError(f"{str(final)!r} is a table, which only a table may replace", "give the output another name")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _named(given: str) -> Iterator[str]:
    """Yield the files that a word of the command line may name: as it is, by a glob, or within a spelling."""
    for part in dict.fromkeys((given, given.partition("=")[2], *re.split(r"[=(),'\"\s]+", given))):
        if has_magic(part):
            yield from glob(part, recursive=True)  # noqa: PTH207  it may be absolute
        if part:
            yield part


def _same(one: str, other: str) -> bool:
    """Whether two paths are one file, by any spelling or link."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
