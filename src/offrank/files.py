"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside `path`, of the same suffix, to write to; it becomes `path` if all went well, else it is removed."""
    final = Path(path)
    with _temporary(final.with_name(f".{secrets.token_hex(4)}.{final.name}")) as temporary:
        yield temporary
        temporary.replace(final)


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder in `parent` that is gone afterwards, however it ends."""
    with _temporary(parent / f"{prefix}{secrets.token_hex(4)}") as folder:
        folder.mkdir()
        yield folder


def remove_unfinished() -> None:
    """Remove what is being written: for a process that leaves at once."""
    for path in tuple(_UNFINISHED):
        _remove(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; what UTF-8 cannot hold (half a surrogate pair) is written as an escape."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    _UNFINISHED.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _UNFINISHED.discard(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
