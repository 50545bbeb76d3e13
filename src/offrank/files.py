"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside `path`, of the same suffix, to write to; it becomes `path` if all went well, else it is removed."""
    final = Path(path)
    temporary = final.with_name(f".{secrets.token_hex(4)}.{final.name}")
    try:
        yield temporary
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; what UTF-8 cannot hold (half a surrogate pair) is written as an escape."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
