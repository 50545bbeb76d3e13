"""Recognition of public data sets by how their files begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import LogError, OffrankError
from ..log.source import Needs
from .formats.registry import READERS
from .text import lines

TRIED = ("criteo", "yandex", "open_bandit", "criteo_paper", "clax", "tiangong", "sogou")
"""The formats that are tried, in this order; a user's own is named."""
_MARKS: Mapping[str, re.Pattern[str]] = {"sogou": re.compile(r"[^\t]*\t[^\t]+\t\[[^\t]*\]\t")}
"""What the first line must hold of a format that reads almost any table of as many columns."""


def recognised(source: Any) -> str | None:
    """Return the format of a public data set whose reader accepts the beginning of a log; None if there is none."""
    if not isinstance(source, str | PathLike):
        return None
    return next((name for name in TRIED if _marked(name, source) and _reads(name, source)), None)


def _reads(name: str, source: Any) -> bool:
    try:
        next(READERS[name](source, invalid="skip").select(Needs()).batches(0))
    except (OffrankError, StopIteration):
        return False
    return True


def _marked(name: str, source: str | PathLike[str]) -> bool:
    mark = _MARKS.get(name)
    return mark is None or any(mark.match(line) for line in _first_line(Path(source)))


def _first_line(path: Path) -> Iterator[str]:
    """Yield the first line of a text file; nothing of what cannot be read as one."""
    try:
        if path.is_file():
            yield next(lines(str(path), "utf-8", "replace"))[1]
    except (LogError, OSError, StopIteration):
        return
