"""Atomic writing of files: whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import UsageError
from .outputs import refuse_kind

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_UNPACKED, _RATIO = 256 << 20, 100
"""What a compressed file may always unpack to, in bytes; and beyond that, how many times its own size."""

_LARGEST = 8 << 30
"""Bytes of a model or a state."""
_LEFT = 2.0
"""Seconds that an unfinished file is left alone before it may be taken for one of a killed process."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SHUT = (errno.EACCES, errno.EPERM, errno.EROFS)
_DIGEST = re.compile(rb'sha256(?: |": ")([0-9a-f]{64})(?:"\n}\n)?\Z')
"""The end of a file with a checksum of all before it, such as of one in JSON, or packed with this as its comment."""
UNSEALED = "sha256 " + 64 * "0"
"""The same before the checksum is known."""

_UNFINISHED: set[Path] = set()
_HEX = "[0-9a-f]{8}"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`, of the same suffix; it becomes `path` on success, or is removed.

    Raises:
        UsageError: it would replace a table by what is none.
        OSError: the disk is full, or the folder cannot be written to; it names `path`, the size and what to do.
    """
    final = Path(path)
    temporary = final.with_name(f".{os.urandom(4).hex()}.{final.name}")
    left = re.compile(rf"\.{_HEX}\.{re.escape(final.name)}")
    with _named(temporary, final), _unfinished(temporary, left), _named(temporary, final):
        yield temporary
        refuse_kind(final, temporary)
        temporary.replace(final)


@contextmanager
def scratch(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a folder in `parent` that is removed afterwards, whatever happens."""
    folder = parent / f"{prefix}{os.urandom(4).hex()}"
    with _unfinished(folder, re.compile(re.escape(prefix) + _HEX), os.mkdir):
        yield folder


def remove_unfinished() -> None:
    """Remove unfinished files: for a process that exits at once."""
    for path in tuple(_UNFINISHED):
        _remove(path)


@contextmanager
def sealed_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """As `atomic_write`, of a file that ends as `UNSEALED`, whose zeros become its checksum."""
    with atomic_write(path) as temporary:
        yield temporary
        at, _, right = _digests(temporary)
        with temporary.open("r+b") as file:
            file.seek(at)
            file.write(right)


def is_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file has a checksum, and it is right; one that is damaged may seem to have none.

    Raises:
        ValueError: it is wrong.
    """
    at, given, right = _digests(Path(path))
    if given != right and given:
        raise ValueError(f"the checksum of its {at:,} bytes is wrong")
    return bool(given)


def _digests(path: Path) -> tuple[int, bytes, bytes]:
    """(where a file has a checksum, what it is, what it ought to be); it is empty where there is none."""
    with path.open("rb") as file:
        start = file.seek(max(file.seek(0, os.SEEK_END) - 128, 0))
        found, counted = _DIGEST.search(file.read()), hashlib.sha256()
        if found is None:
            return 0, b"", b""
        at = left = start + found.start(1)
        file.seek(0)
        while block := file.read(min(left, 1 << 20)):
            counted.update(block)
            left -= len(block)
        return at, found[1], counted.hexdigest().encode()


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


def regular(path: str | os.PathLike[str]) -> Path:
    """The path of a model or a state, which is not read from what may have no end, or is larger than any of them.

    Raises:
        UsageError: it is a device or a pipe, or too large.
    """
    named = Path(path)
    if named.exists() and not (named.is_file() or named.is_dir()):
        raise UsageError(f"{str(path)!r} is a device or a pipe", "save what comes from it as a file, and give that")
    if named.is_file() and named.stat().st_size > _LARGEST:
        raise UsageError(f"{str(path)!r} is larger than {_LARGEST:,} bytes", "give a file that offrank has written")
    return named


@contextmanager
def _named(temporary: Path, final: Path) -> Iterator[None]:
    """Within this context, an error of writing a file has its name, its size and what to do; others are as they are."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, str(temporary)) or error.errno not in (*_FULL, *_SHUT, errno.ENOENT):
            raise
        size = temporary.stat().st_size if temporary.exists() else 0
        reason = os.strerror(error.errno)
        if error.errno in _FULL:
            reason += f" after {size:,} bytes; make room there, raise its limit, or write to another disk"
        elif error.errno == errno.ENOENT:
            reason = f"its folder {str(final.parent)!r} is gone; create it again, or write into another one"
        else:
            reason += f"; make {str(final.parent)!r} writable, or write into another folder"
        raise type(error)(error.errno, reason, str(final)) from error


@contextmanager
def _unfinished(path: Path, named: re.Pattern[str], make: Callable[[Path, int], None] | None = None) -> Iterator[None]:
    """Lock a file or folder as long as it is unfinished, and remove it if it is there then.

    named: the names beside it of what killed processes may have left; it is removed first.
    """
    _remove_left(path.parent, named)
    _UNFINISHED.add(path)
    try:
        if make is not None:
            make(path, 0o700)  # what is read may be private, and its parent may be shared
        with _locked(path):
            yield
    finally:
        _remove(path)
        _UNFINISHED.discard(path)


def _remove_left(parent: Path, named: re.Pattern[str]) -> None:
    """Remove unfinished files and folders that nobody holds any more."""
    try:
        found = [each for each in parent.iterdir() if named.fullmatch(each.name) and not each.is_symlink()]
    except OSError:  # who writes there says why
        return
    for path in found:
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - _LEFT:
                with _locked(path, needed=True):
                    _remove(path)


@contextmanager
def _locked(path: Path, *, needed: bool = False) -> Iterator[None]:
    """Hold a lock on a folder, or on a file, which is made if there is none. needed: it is not done without.

    Raises:
        OSError: the file cannot be made; or a needed lock cannot be had.
    """
    if fcntl is None:
        if needed:
            raise OSError(errno.ENOLCK, "file locks are not supported here", str(path))
        yield
        return
    held = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if needed:
                raise
        yield
    finally:
        os.close(held)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
