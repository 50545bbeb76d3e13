"""Text files in a custom format, as a wide table."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import EmptyLogError, LogError
from ..log.batch import Floats, Integers
from ..log.source import OnePart
from .files import Files, describe
from .tables import OfSchema, Piece

_PIECE_ROWS, _DIGITS = 8192, 18

Impression = tuple[tuple[Any, ...], Mapping[str, int]]
"""The values of one impression, in the order of the schema, and what was left out of it, by rule."""

Parsed = Callable[[str, Sequence[Any]], pa.Array]
"""Makes a column from a path and the values of some of its impressions."""


@dataclass(frozen=True)
class TextTable(OfSchema, OnePart):
    """Text files as a table. One part: the files are read in order, each line once.

    schema: the columns of the wide layout. impressions: those of the file at a path, in order. parsed: how to make
    columns whose values need more parsing; see `Parsed`.
    """

    paths: tuple[str, ...]
    schema: pa.Schema
    impressions: Callable[[str], Iterator[Impression]]
    parsed: Mapping[str, Parsed] = field(default_factory=dict)

    def describe(self) -> str:
        return describe(self.paths)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        base = 0
        for path in self.paths:
            first, found = 0, self.impressions(path)
            while chunk := list(islice(found, _PIECE_ROWS)):
                rows, skipped = np.arange(first, first + len(chunk)), Counter[str]()
                for _, left_out in chunk:
                    skipped.update(left_out)
                yield Piece(self._record_batch(path, chunk, columns), path, rows, base, dict(skipped))
                first += len(chunk)
            if not first:
                raise EmptyLogError(f"{path} has no impressions", "give a log with at least one impression")
            base += first

    def _record_batch(self, path: str, chunk: list[Impression], columns: tuple[str, ...]) -> pa.RecordBatch:
        values = dict(zip(self.names, zip(*(values for values, _ in chunk), strict=True), strict=True))
        found = {}
        for name in columns:
            parsed = self.parsed.get(name)
            found[name] = parsed(path, values[name]) if parsed else pa.array(values[name], self.schema.field(name).type)
        return pa.record_batch(found)


def is_whole(word: str) -> bool:
    """Whether a word is a whole number from 0, of few enough digits for 64 bits."""
    return word.isascii() and word.isdigit() and len(word) <= _DIGITS


def whole_lines(path: str, least: int, expected: str, remedy: str) -> Iterator[int]:
    """Yield the whole numbers of a text file, one a line. expected, remedy: what a `LogError` says of another line."""
    for number, text in lines(path):
        if word := text.strip():
            if not (is_whole(word) and int(word) >= least):
                raise malformed(path, number, text, expected, remedy)
            yield int(word)


def lines(path: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line) of a text file, perhaps packed; raise a `LogError` if it is damaged."""
    with open_bytes(path) as packed, io.TextIOWrapper(packed, encoding=encoding, errors=errors) as file:
        yield from enumerate(file, start=1)


@contextmanager
def open_bytes(path: str) -> Iterator[Any]:
    """Open a file for reading bytes, unpacked if it is packed; a `LogError` if it is no text, or a damaged archive."""
    try:
        with Files((path,)).open(path) as file:
            yield file
    except (UnicodeDecodeError, OSError) as error:
        raise LogError(
            f"{path} cannot be read: {error}", "give a text file in UTF-8, plain or packed with gzip"
        ) from error


def line_blocks(path: str, beginning: bytes, size: int) -> Iterator[bytes]:
    """Yield a file in pieces of about `size` bytes; each piece but the first starts with a line that begins so."""
    rest, border = b"", b"\n" + beginning
    with open_bytes(path) as file:
        while read := file.read(size):
            rest += read
            begins = rest.startswith(beginning) or rest.lstrip().startswith(beginning)
            if len(rest) > len(border) and not begins:
                break  # another format, as its first lines show
            end = rest.rfind(border) + 1
            if end and len(read) == size:  # a shorter read is the end of the file
                yield rest[:end]
                rest = rest[end:]
        if rest:
            yield rest


def words(text: bytes) -> tuple[Integers, Integers, Integers]:
    """Return ([words] first byte of each, [words] its end, [lines] words of each); bytes up to the space separate."""
    data = np.frombuffer(text, np.uint8)
    edges = np.flatnonzero(np.diff(data > ord(" "), prepend=False, append=False))
    begin, end = edges[::2], edges[1::2]
    lines = np.append(np.searchsorted(begin, np.flatnonzero(data == ord("\n"))), len(begin))
    return begin, end, np.diff(lines, prepend=0)


def _cut(text: bytes, begin: Integers, end: Integers) -> pa.Array:
    """Return the pieces of a text, concatenated; the text between them is dropped."""
    offsets = np.stack([begin, end], axis=1).astype(np.int64)
    pieces = pa.LargeStringArray.from_buffers(max(offsets.size - 1, 0), pa.py_buffer(offsets), pa.py_buffer(text))
    return pieces.take(pa.array(np.arange(0, len(pieces), 2)))


def naturals(text: bytes, begin: Integers, end: Integers) -> Integers:
    """Parse natural numbers of at most 18 digits [words], -1 where there is none."""
    found = _cut(text, begin, end)
    fine = np.asarray(pc.ascii_is_decimal(found)) & (end - begin <= 18)
    return np.asarray((found if fine.all() else pc.if_else(fine, found, "-1")).cast(pa.int64()))


def parse_numbers(text: bytes, begin: Integers, end: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Parse ([words] the numbers, and where there is none)."""
    found = _cut(text, begin, end)
    values, none = np.zeros(len(found)), np.zeros(len(found), np.bool_)
    try:
        return found.cast(pa.float64()).to_numpy(zero_copy_only=False), none
    except pa.ArrowInvalid:  # Python decides which one it is
        pass
    for place, (first, last) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        try:
            values[place] = parse_number(text[first:last])
        except ValueError:
            none[place] = True
    return values, none


def parse_number(word: bytes) -> float:
    """Parse a word as a number, or raise a `ValueError`; Python alone would also accept 1_000."""
    return float(word.replace(b"_", b"?"))


def pairs(text: bytes, begin: Integers, end: Integers) -> tuple[Integers, Integers, Floats, NDArray[np.bool_]]:
    """Parse words `index:number`: (where numbers begin; indices, -1 for another word; numbers, and invalid ones)."""
    colons = np.flatnonzero(np.frombuffer(text, np.uint8) == ord(":"))
    colon = np.minimum(np.append(colons, len(text))[np.searchsorted(colons, begin)], end - 1)
    index = np.where(colon + 1 < end, naturals(text, begin, colon), -1)
    return colon + 1, index, *parse_numbers(text, colon + 1, end)


def malformed(path: str, line: int, text: str, expected: str, remedy: str) -> LogError:
    """Return the error for a line that is not in the format."""
    text = text.strip()
    shown = repr(text if len(text) <= 80 else text[:77] + "...")
    return LogError(f"{path}, line {line}: expected {expected}, found {shown}", remedy)
