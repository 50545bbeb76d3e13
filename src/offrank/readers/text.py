"""Text files in a format of their own, seen as a wide table."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..errors import EmptyLogError, LogError
from ..log.batch import Floats
from .files import describe
from .tables import Piece

_PIECE_ROWS = 8192

Impression = tuple[tuple[Any, ...], Mapping[str, int]]
"""The values of one impression, in the order of the schema; and what was left out of it, by rule."""


Parsed = Callable[[str, Sequence[Any]], pa.Array]
"""Makes a column of a path and of its values of some impressions."""


class Format(Protocol):
    """How one file's text becomes impressions."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the wide layout."""

    def impressions(self, path: str) -> Iterator[Impression]:
        """The impressions of a file, in order."""


@dataclass(frozen=True)
class TextTable:
    """Text files as a table. One part: the files are read in order, each line once.

    parsed: how columns are made of what the format says of them, where it is not yet what they hold; see `Parsed`.
    """

    paths: tuple[str, ...]
    format: Format
    parsed: Mapping[str, Parsed] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.format.schema.names)

    def parts(self) -> int:
        return 1

    def describe(self) -> str:
        return describe(self.paths)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        base = 0
        for path in self.paths:
            first, found = 0, self.format.impressions(path)
            while chunk := list(islice(found, _PIECE_ROWS)):
                rows = np.arange(first, first + len(chunk))
                yield Piece(self._record_batch(path, chunk, columns), path, rows, base, _left_out(chunk))
                first += len(chunk)
            if not first:
                raise EmptyLogError(f"{path} has no impressions", "give a log with at least one impression")
            base += first

    def _record_batch(self, path: str, chunk: list[Impression], columns: tuple[str, ...]) -> pa.RecordBatch:
        schema = self.format.schema
        values = dict(zip(schema.names, zip(*(values for values, _ in chunk), strict=True), strict=True))
        found = {}
        for name in columns:
            parsed = self.parsed.get(name)
            found[name] = parsed(path, values[name]) if parsed else pa.array(values[name], schema.field(name).type)
        return pa.record_batch(found)


def lines(path: str) -> Iterator[tuple[int, str]]:
    """(line number from 1, line) of a text file, unpacked while it is read where its name ends in `.gz`.

    Raises:
        LogError: not text, or a damaged archive.
    """
    with _reading(path), _open(path) as packed, io.TextIOWrapper(packed, encoding="utf-8") as file:
        yield from enumerate(file, start=1)


def blocks(path: str, beginning: bytes, size: int) -> Iterator[bytes]:
    """A file in pieces of about `size` bytes, each of which but the first begins with a line that begins so.

    Raises:
        LogError: a damaged archive.
    """
    rest, border = b"", b"\n" + beginning
    with _reading(path), _open(path) as file:
        while read := file.read(size):
            rest += read
            begins = rest.startswith(beginning) or rest.lstrip().startswith(beginning)
            if len(rest) > len(border) and not begins:
                break  # it is in another format, as its first lines tell
            end = rest.rfind(border) + 1
            if end and len(read) == size:  # less is the end of the file
                yield rest[:end]
                rest = rest[end:]
        if rest:
            yield rest


def _open(path: str) -> Any:
    return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb")


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """What a file that is not what it should be raises, as one error."""
    try:
        yield
    except (UnicodeDecodeError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise LogError(
            f"{path} cannot be read: {error}", "give a text file in UTF-8, plain or packed with gzip"
        ) from error


def settle(text: bytes, slow: Any, values: Floats, beside: Floats, *, finite: bool = False) -> int | None:
    """Read the numbers that compiled loops leave to Python; the byte of the first that is none, or None.

    slow: [.., 3] (entry in `values`, or -1 - entry in `beside`; first byte; end). finite: whether those beside must be.
    """
    for entry, start, end in slow.tolist():
        try:
            number = float(text[start:end].replace(b"_", b"?"))  # Python would read 1_000
        except ValueError:
            return int(start)
        if entry >= 0:
            values[entry] = number
        elif finite and not math.isfinite(number):
            return int(start)
        else:
            beside[-1 - entry] = number
    return None


def malformed(path: str, line: int, text: str, expected: str, remedy: str) -> LogError:
    """The error for a line that is not in the format."""
    text = text.strip()
    shown = repr(text if len(text) <= 80 else text[:77] + "...")
    return LogError(f"{path}, line {line}: expected {expected}, found {shown}", remedy)


def _left_out(chunk: list[Impression]) -> Mapping[str, int]:
    found: Counter[str] = Counter()
    for _, skipped in chunk:
        found.update(skipped)
    return dict(found)
