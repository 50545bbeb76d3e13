"""Atomic writing of files: whole or not at all."""

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
    """Yield a temporary name beside `path`, of the same suffix; it becomes `path` on success, or is removed."""
    final = Path(path)
    with _temporary(final.with_name(f".{secrets.token_hex(4)}.{final.name}")) as temporary:
        yield temporary
        temporary.replace(final)


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a folder in `parent` that is removed afterwards, whatever happens."""
    with _temporary(parent / f"{prefix}{secrets.token_hex(4)}") as folder:
        folder.mkdir()
        yield folder


def remove_unfinished() -> None:
    """Remove unfinished files: for a process that exits at once."""
    for path in tuple(_UNFINISHED):
        _remove(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; characters that UTF-8 cannot hold (half a surrogate pair) are escaped."""
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
