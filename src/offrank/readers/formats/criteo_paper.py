"""The log of paper criteo-test-bed, in its own text format.

example ID: hash click propensity slots candidates feature:value ...    an impression
click exid:ID feature:value ...                                         each candidate, the products shown first
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import EmptyLogError, UsageError
from ...log.batch import Floats, Integers
from .. import _kernels
from ..files import describe, expand
from ..hashing import NUMERIC
from ..tables import Piece
from ..text import blocks, malformed, number
from ..wide import Invalid, WideLog
from .registry import Reader

_KEPT = 0.1  # share of the impressions without a click
_FILE = 40  # bits for the rows of one file, so that a file's rows can be numbered without reading those before it
_REMEDY = "give the log as it was published; whole impressions only"
_EXPECTED = {
    _kernels.BAD_HEADER: "'example ID: hash click propensity slots candidates feature:value ...'",
    _kernels.BAD_SIZES: "at least one slot and as many candidates as slots",
    _kernels.BAD_CANDIDATE: "'click exid:ID feature:value ...' with the ID of the impression, a line per candidate",
    _kernels.BAD_CLICK: "no click on a product shown, as the header says that the banner was not clicked",
    _kernels.BAD_FEATURE: "features as 'number:value'",
}


@Reader
def criteo_paper(path: str | Path | Sequence[str | Path], *, bits: int = 20, invalid: Invalid = "raise") -> WideLog:
    """A log in the format of paper criteo-test-bed, plain or `.gz`.

    Columns: slate, candidates, clicks, reward (the banner was clicked), propensity, inclusion (.1 without a click,
    else 1), features, feature_values, `impression`, `slots`, and `banner`, the type of the banner: its size and the
    values of features 3 and 5.

    - Candidates are numbered 0, 1, ... in the order of an impression's lines; the numbers mean nothing across them.
    - Features 1 and 2 are numbers, with indices 0 and 1; every other `feature:value` is a category, hashed to one of
      the indices 2 to 2^bits - 1. A category that stands several times in a row is counted. Each candidate has the
      features of the impression and its own.

    Raises:
        UsageError: not a path, or bits outside 8 to 30.
        LogError: no file; while reading, a line that is not in the format.
    """
    if not 8 <= bits <= 30:
        raise UsageError(f"bits is {bits!r}", "give 8 to 30; 20 bits are a million feature indices")
    return WideLog(_PaperTable(expand(path), bits), {}, invalid)


@dataclass(frozen=True)
class _PaperTable:
    """Text files as a table, read in blocks; a part is a file."""

    paths: tuple[str, ...]
    bits: int
    block_bytes: int = 1 << 23

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(_COLUMNS)

    def parts(self) -> int:
        return len(self.paths)

    def describe(self) -> str:
        return describe(self.paths)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, line, first = self.paths[part], 1, 0
        for text in blocks(path, b"example ", self.block_bytes):
            block = _Block.parse(path, line, text, self.bits)
            n = len(block.heads)
            if n:
                data = pa.record_batch({name: _COLUMNS[name](block) for name in columns} or {"": pa.nulls(n)})
                yield Piece(data, path, np.arange(first, first + n), part << _FILE)
            line, first = line + block.newlines, first + n
        if not first:
            raise EmptyLogError(f"{path} has no impressions", "give a log with at least one impression")


@dataclass(frozen=True)
class _Block:
    """Some impressions; newlines: of their text. See `_kernels.parse` for the others."""

    text: bytes
    newlines: int
    heads: Integers
    propensity: Floats
    line_clicks: Any
    ends: Integers
    indices: Any
    values: Floats

    @classmethod
    def parse(cls, path: str, line: int, text: bytes, bits: int) -> _Block:
        """Read a text that begins in this line of a file.

        Raises:
            LogError: a line that is not in the format.
        """
        data = np.frombuffer(text, np.uint8)
        most_lines, most = (1 + int(np.count_nonzero(data == ord(mark))) for mark in "\n:")
        heads, propensity = np.empty((most_lines, 7), np.int64), np.empty(most_lines)
        clicks, ends = np.zeros(most_lines, np.int8), np.empty(most_lines, np.int64)
        indices, values = np.empty(most, np.int32), np.empty(most)
        slow = np.empty((most_lines + most, 3), np.int64)
        room = np.uint64((1 << bits) - NUMERIC)
        n, lines, slows, where, wrong, at = _kernels.parse(
            data, room, heads, propensity, clicks, ends, indices, values, slow
        )
        if wrong:
            found = text[at : text.find(b"\n", at) if b"\n" in text[at:] else None].decode("utf-8", "replace")
            raise malformed(path, line + where, found or "the end", _EXPECTED[wrong], _REMEDY)
        for entry, start, end in slow[:slows].tolist():
            try:
                read = number(text[start:end])
            except ValueError:
                found, where = text[start:end].decode("utf-8", "replace"), text.count(b"\n", 0, start)
                raise malformed(path, line + where, found, "a number", _REMEDY) from None
            (values if entry >= 0 else propensity)[entry if entry >= 0 else -1 - entry] = read
        return cls(text, where, heads[:n], propensity[:n], clicks[:lines], ends[:lines], indices, values)

    @property
    def slots(self) -> Integers:
        """[n] products shown."""
        return self.heads[:, _kernels.SLOTS]

    @property
    def size(self) -> Integers:
        """[n] candidates."""
        return self.heads[:, _kernels.SIZE]

    @property
    def clicked(self) -> Floats:
        """[n] whether the banner was clicked."""
        return self.heads[:, _kernels.CLICK].astype(np.float64)

    @cached_property
    def features(self) -> tuple[Any, Any, Any]:
        """(ends, indices, values) of the features of each candidate."""
        tops = self.heads[:, _kernels.LINE]
        own = np.diff(self.ends, prepend=0)
        ends = np.zeros(int(self.size.sum()) + 1, np.int32)
        entries = int(self.ends[-1] if len(self.ends) else 0) + int((own[tops] * (self.size - 1)).sum())
        indices, values = np.empty(entries, np.int32), np.empty(entries)
        _kernels.spread(self.heads, self.ends, self.indices, self.values, ends, indices, values)
        return ends, indices, values

    def banner(self) -> pa.Array:
        """The type of each banner, by name."""
        _, first, code = np.unique(self.heads[:, _kernels.BANNER], return_index=True, return_inverse=True)
        names = [self._banner_name(int(self.heads[row, _kernels.HEAD])) for row in first]
        return pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32)), pa.array(names))

    def _banner_name(self, start: int) -> str:
        line = self.text[start : self.text.index(b"\n", start)].decode("utf-8", "replace")
        value = dict(token.split(":", 1) for token in reversed(line.split()))
        width, height, *others = (value.get(feature, "-") for feature in "1235")
        return "/".join([f"{width}x{height}", *others])


def _counting(lengths: Integers) -> pa.Array:
    """Lists 0, 1, ... of these lengths."""
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(ends, np.arange(ends[-1]) - np.repeat(ends[:-1], lengths))


def _clicks(block: _Block) -> pa.Array:
    numbers = _counting(block.slots)
    lines = np.repeat(block.heads[:, _kernels.LINE] + 1, block.slots) + np.asarray(numbers.values)
    return pa.ListArray.from_arrays(numbers.offsets, block.line_clicks[lines])


def _beside(block: _Block, which: int) -> pa.Array:
    ends, found = block.features[0], block.features[which]
    rows = np.concatenate([[0], np.cumsum(block.size)]).astype(np.int32)
    return pa.ListArray.from_arrays(rows, pa.ListArray.from_arrays(ends, found))


_COLUMNS: dict[str, Any] = {
    "slate": lambda block: _counting(block.slots),
    "candidates": lambda block: _counting(block.size),
    "clicks": _clicks,
    "reward": lambda block: block.clicked,
    "propensity": lambda block: block.propensity,
    "inclusion": lambda block: np.where(block.clicked, 1.0, _KEPT),
    "features": lambda block: _beside(block, 1),
    "feature_values": lambda block: _beside(block, 2),
    "impression": lambda block: block.heads[:, _kernels.ID],
    "slots": lambda block: block.slots,
    "banner": lambda block: block.banner(),
}
"""How each column is made of a block."""
