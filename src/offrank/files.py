"""Atomic writing of files: whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .outputs import refuse_kind

_UNPACKED, _RATIO = 256 << 20, 100
"""What a compressed file may always unpack to, in bytes; and beyond that, how many times its own size."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHUT = (errno.EACCES, errno.EPERM, errno.EROFS)
_UNFINISHED: set[Path] = set()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`, of the same suffix; it becomes `path` on success, or is removed.

    Raises:
        UsageError: it would replace a table by what is none.
        OSError: the disk is full, or the folder cannot be written to; it names `path`, the size and what to do.
    """
    final = Path(path)
    with _temporary(final.with_name(f".{secrets.token_hex(4)}.{final.name}")) as temporary:
        try:
            yield temporary
            refuse_kind(final, temporary)
            temporary.replace(final)
        except OSError as error:
            raise _told(error, temporary, final) from error


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a folder in `parent` that is removed afterwards, whatever happens."""
    with _temporary(parent / f"{prefix}{secrets.token_hex(4)}") as folder:
        folder.mkdir(0o700)  # what is read may be private, and its parent may be shared
        yield folder


def remove_unfinished() -> None:
    """Remove unfinished files: for a process that exits at once."""
    for path in tuple(_UNFINISHED):
        _remove(path)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; characters that UTF-8 cannot hold (half a surrogate pair) are escaped."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def most_unpacked(packed: int) -> int:
    """Return how many bytes `packed` ones may unpack to: what offrank writes never shrinks that much."""
    return max(_UNPACKED, _RATIO * packed)


def refuse_bomb(packed: int, unpacked: int) -> None:
    """Refuse to unpack what would fill the memory.

    Raises:
        ValueError: it would be larger than `most_unpacked`.
    """
    if unpacked > most_unpacked(packed):
        raise ValueError(f"its {packed:,} bytes unpack to more than {most_unpacked(packed):,}")


def _told(error: OSError, temporary: Path, final: Path) -> OSError:
    """Return the error of writing a file with its name, its size and what to do; other errors as they are."""
    if error.filename not in (None, str(temporary)) or error.errno not in (*_FULL, *_SHUT):
        return error
    size = temporary.stat().st_size if temporary.exists() else 0
    reason = os.strerror(error.errno)
    if error.errno in _FULL:
        reason += f" after {size:,} bytes; make room there, raise its limit, or write to another disk"
    else:
        reason += f"; let {str(final.parent)!r} be written to, or write into another folder"
    return type(error)(error.errno, reason, str(final))


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
