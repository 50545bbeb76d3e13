"""What may be written where: a file that is read is never replaced, and one of others only if that is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..wording import Option, Wording

_HEAD = 4096
_TABLES = (b"PAR1", b"ARROW1")
_OURS = re.compile(
    rb"""\s*\{\s*"(schema":\s*\d+,\s*"kind"|kind":\s*"learn"|format":\s*"offrank\ )   # results, models
    | offrank\ state\ | \#\ How\ the\ columns\ of\ | PK.{28}(format|header)\.npy  # states, mappings, policies
    | .*<meta\ name="generator"\ content="offrank">                                      # pages
    | <svg\ xmlns="http://www.w3.org/2000/svg"\ (class="alone"|role="img")              # pictures
    | \x89PNG.{33}tEXtSoftware\x00offrank""",
    re.VERBOSE | re.DOTALL,
)
"""How a file begins that offrank has written; logs have no such mark."""

DEMO = {"offrank": "created by offrank demo, which may replace it"}
"""What a table says of itself, in its last bytes, that the demo has made."""


_WITHIN = ("files", "paths", "path", "table", "source", "log")
"""The fields of logs, tables and models that lead to their files."""


def refuse_output(path: str | os.PathLike[str], inputs: Iterable[str] = (), overwrite: bool = False) -> None:
    """Raise if what is written to `path` would replace an input, or a file of others without `overwrite`.

    inputs: files, folders, globs, and spellings that name files.

    Raises:
        UsageError: it would.
    """
    final = os.fspath(path)
    refuse_undecodable(final)
    for given in dict.fromkeys(inputs):
        for read in _named(given):
            if _same(final, read):
                raise UsageError(f"{final!r} is an input, so it cannot be written to", "give the output another name")
    if not overwrite and Path(final).is_file() and not _ours(Path(final)):
        remedy = Wording("give the output another name, or use {}", Option("overwrite", True))
        raise UsageError(f"{final!r} exists already, and offrank may not have written it", remedy)


def inputs_in(*given: Any) -> Iterator[str]:
    """Yield the texts that may name files, of arguments at any depth: paths, spellings, and logs that are read."""
    for value in given:
        if isinstance(value, str | os.PathLike):
            yield os.fspath(value)
        elif isinstance(value, Mapping):
            yield from inputs_in(*value.values())
        elif isinstance(value, list | tuple) and not (value and isinstance(value[0], Mapping)):  # rows name no files
            yield from inputs_in(*value)
        elif type(value).__module__.startswith("offrank"):
            if is_dataclass(value) and not hasattr(value, "describe"):
                yield repr(value)  # a policy or an estimator is spelled with the file of its model
            yield from inputs_in(*(getattr(value, name, None) for name in _WITHIN))


def refuse_result(path: str | os.PathLike[str], result: Any, overwrite: bool) -> None:
    """Raise if a result would be written over what it was made of, or over a file of others without `overwrite`.

    Raises:
        UsageError: it would.
    """
    facts, read = getattr(result, "facts", {}), getattr(result, "read", ())
    made = (read, facts.get("log"), facts.get("model"), getattr(result, "path", None))
    refuse_output(path, inputs_in(*made), overwrite)


def refuse_outputs(*paths: str | os.PathLike[str] | None, log: Any, read: Iterable[Any], overwrite: bool) -> None:
    """Raise if a verb would write to what it reads, or over a file of others without `overwrite`.

    log: what is read as a log; nothing is written into it where it is a folder. read: the other arguments.

    Raises:
        UsageError: it would.
    """
    logs = list(inputs_in(log))
    for path in paths:
        if path is not None:
            refuse_output(path, [*logs, *inputs_in(*read)], overwrite)
            for folder in logs:
                refuse_inside(os.fspath(path), folder)


def refuse_inside(path: str, folder: str) -> None:
    """Raise if a file would be written into a folder that is read, and so be read the next time.

    Raises:
        UsageError: it would.
    """
    is_folder = os.path.isdir(folder)  # noqa: PTH112  whatever the text is: a spelling may be too long for a path
    if is_folder and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UsageError(f"{path!r} is inside {folder!r}, which is read as a whole", "write it into another folder")


def refuse_undecodable(path: str) -> None:
    """Raise if a name is not UTF-8: Arrow can neither read nor write such a file.

    Raises:
        UsageError: it is not.
    """
    if path != (said := path.encode(errors="backslashreplace").decode()):
        raise UsageError(f"the name {said!r} is not UTF-8", "rename it")


def refuse_kind(final: Path, made: Path) -> None:
    """Raise if a table, which may be a log, would be replaced by a file that is none.

    Raises:
        UsageError: it would.
    """
    if final.is_file() and _head(final).startswith(_TABLES) and not _head(made).startswith(_TABLES):
        raise UsageError(f"{str(final)!r} is a table, and only a table may replace it", "give the output another name")


def _ours(path: Path) -> bool:
    """Whether offrank may replace a file unasked: it is empty, a result or model of its own, or the demo's log."""
    head = _head(path)
    if head.startswith(_TABLES):
        with path.open("rb") as file:
            file.seek(-min(_HEAD * 4, path.stat().st_size), os.SEEK_END)
            return DEMO["offrank"].encode() in file.read()
    return not head or _OURS.match(head) is not None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _named(given: str) -> Iterator[str]:
    """Yield the files that a word may name: as it is, by a glob, or within a spelling, in quotes or not."""
    quoted = (text for pair in re.findall(r"'([^']+)'|\"([^\"]+)\"", given) for text in pair)
    for part in dict.fromkeys((given, given.partition("=")[2], *re.split(r"[=(),'\"\s]+", given), *quoted)):
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
