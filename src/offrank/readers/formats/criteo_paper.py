"""The log of paper criteo-test-bed, in its own text format.

example ID: hash click propensity slots candidates feature:value ...    an impression
click exid:ID feature:value ...                                         each candidate, the products shown first
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import EmptyLogError, UsageError
from ...log.batch import Integers
from .. import _kernels, flat
from ..beginning import Beginning
from ..files import describe, expand
from ..tables import Piece
from ..text import line_blocks, malformed, parse_number
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_NUMERIC = 2  # indices 0 and 1 are the numeric features 1 and 2; categories share the others
_KEPT = 0.1  # share of the impressions without a click
_FILE = 40  # bits for the row numbers of one file, so that they do not depend on the files before it
_REMEDY = "use the log as published, with whole impressions only"
_EXPECTED = {
    _kernels.BAD_HEADER: "'example ID: hash click propensity slots candidates feature:value ...'",
    _kernels.BAD_SIZES: "at least one slot and as many candidates as slots",
    _kernels.BAD_CANDIDATE: "'click exid:ID feature:value ...' with the ID of the impression, one line per candidate",
    _kernels.BAD_CLICK: "no click on a shown product, because the header says that the banner was not clicked",
    _kernels.BAD_FEATURE: "features as 'number:value'",
}


@READERS.register
@Reader
def criteo_paper(path: str | Path | Sequence[str | Path], *, bits: int = 20, invalid: Invalid = "raise") -> WideLog:
    """Read a log in the format of paper criteo-test-bed, plain or `.gz`.

    Columns: slate, candidates, clicks, reward (the banner was clicked), propensity, inclusion (.1 without a click,
    else 1), features, feature_values, `impression`, `slots`, and `banner`, the type of the banner: its size and the
    values of features 3 and 5.

    - Candidates are numbered 0, 1, ... in the order of an impression's lines; the numbers mean nothing across them.
    - Features 1 and 2 are numbers, with indices 0 and 1; every other `feature:value` is a category, hashed to one of
      the indices 2 to 2^bits - 1. A category repeated in direct succession is counted. Each candidate has the
      features of the impression and its own.

    Raises:
        UsageError: the argument is not a path, or bits is outside 8 to 30.
        LogError: there is no file; while reading, a line is not in the format.
    """
    if not 8 <= bits <= 30:
        raise UsageError(f"bits is {bits!r}", "give 8 to 30; 20 bits give a million feature indices")
    return WideLog(PaperTable(expand(path), bits), {}, invalid)


@criteo_paper.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    first = beginning.text.partition("\n")[0]
    return {} if re.match(r"example \S+: \S+ [01] \S+ \d+ \d+ ", first) else None


def category_indices(tokens: Sequence[str], bits: int) -> Integers:
    """Return the index of each category, spelled `feature:value`, in [2, 2^bits) [n]."""
    codes = flat.id_codes(pa.array(tokens, pa.string()), "features").view(np.uint64)
    return np.asarray(_NUMERIC + (codes % np.uint64((1 << bits) - _NUMERIC)).astype(np.int64))


@dataclass(frozen=True)
class PaperTable:
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
        for text in line_blocks(path, b"example ", self.block_bytes):
            block = _Block(path, line, text, self.bits)
            n = len(block.heads)
            if n:
                data = pa.record_batch({name: _COLUMNS[name](block) for name in columns} or {"": pa.nulls(n)})
                yield Piece(data, path, np.arange(first, first + n), part << _FILE)
            line, first = line + block.newlines, first + n
        if not first:
            raise EmptyLogError(f"{path} has no impressions", "give a log with at least one impression")


class _Block:
    """Some impressions, from a text that begins at this line of a file. newlines: number of lines in the text.

    See `_kernels.parse` for the other fields.

    Raises:
        LogError: a line is not in the format.
    """

    def __init__(self, path: str, line: int, text: bytes, bits: int) -> None:
        data = np.frombuffer(text, np.uint8)
        most_lines, most = (1 + int(np.count_nonzero(data == ord(mark))) for mark in "\n:")
        heads, propensity = np.empty((most_lines, 7), np.int64), np.empty(most_lines)
        clicks, ends = np.zeros(most_lines, np.int8), np.empty(most_lines, np.int64)
        self.indices, self.values = np.empty(most, np.int32), np.empty(most)
        slow = np.empty((most_lines + most, 3), np.int64)
        room = np.uint64((1 << bits) - _NUMERIC)
        n, lines, slows, self.newlines, wrong, at = _kernels.parse_impressions(
            data, room, heads, propensity, clicks, ends, self.indices, self.values, slow
        )
        if wrong:
            found = text[at : text.find(b"\n", at) if b"\n" in text[at:] else None].decode("utf-8", "replace")
            raise malformed(path, line + self.newlines, found or "the end", _EXPECTED[wrong], _REMEDY)
        for entry, start, end in slow[:slows].tolist():
            try:
                read = parse_number(text[start:end])
            except ValueError:
                found, where = text[start:end].decode("utf-8", "replace"), text.count(b"\n", 0, start)
                raise malformed(path, line + where, found, "a number", _REMEDY) from None
            (self.values if entry >= 0 else propensity)[entry if entry >= 0 else -1 - entry] = read
        self.text, self.heads, self.propensity = text, heads[:n], propensity[:n]
        self.line_clicks, self.ends = clicks[:lines], ends[:lines]
        self.slots, self.size = self.heads[:, _kernels.SLOTS], self.heads[:, _kernels.SIZE]
        self.clicked = self.heads[:, _kernels.CLICK].astype(np.float64)

    @cached_property
    def _features(self) -> tuple[Any, Any, Any]:
        """Return (ends, indices, values) of the features of each candidate."""
        own, entries = np.diff(self.ends, prepend=0), int(self.ends[-1]) if len(self.ends) else 0
        entries += int((own[self.heads[:, _kernels.LINE]] * (self.size - 1)).sum())
        ends, indices, values = (
            np.zeros(int(self.size.sum()) + 1, np.int32),
            np.empty(entries, np.int32),
            np.empty(entries),
        )
        _kernels.spread(self.heads, self.ends, self.indices, self.values, ends, indices, values)
        return ends, indices, values

    def beside(self, which: int) -> pa.Array:
        """Return the indices (1) or the values (2) of each candidate's features."""
        rows = np.append(0, np.cumsum(self.size)).astype(np.int32)
        return pa.ListArray.from_arrays(rows, pa.ListArray.from_arrays(self._features[0], self._features[which]))

    def clicks(self) -> pa.Array:
        """Return the clicks on the products shown."""
        places = _counting(self.slots)
        lines = np.repeat(self.heads[:, _kernels.LINE] + 1, self.slots) + np.asarray(places.values)
        return pa.ListArray.from_arrays(places.offsets, self.line_clicks[lines])

    def banner(self) -> pa.Array:
        """Return the type of each banner, by name."""
        _, first, code = np.unique(self.heads[:, _kernels.BANNER], return_index=True, return_inverse=True)
        names = [self._banner_name(int(self.heads[row, _kernels.HEAD])) for row in first]
        return pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32)), pa.array(names))

    def _banner_name(self, start: int) -> str:
        line = self.text[start : self.text.index(b"\n", start)].decode("utf-8", "replace")
        value = dict(token.split(":", 1) for token in reversed(line.split()))
        width, height, *others = (value.get(feature, "-") for feature in "1235")
        return "/".join([f"{width}x{height}", *others])


def _counting(lengths: Integers) -> pa.Array:
    """Return lists 0, 1, ... of these lengths."""
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(ends, np.arange(ends[-1]) - np.repeat(ends[:-1], lengths))


_COLUMNS: dict[str, Any] = {
    "slate": lambda block: _counting(block.slots),
    "candidates": lambda block: _counting(block.size),
    "clicks": lambda block: block.clicks(),
    "reward": lambda block: block.clicked,
    "propensity": lambda block: block.propensity,
    "inclusion": lambda block: np.where(block.clicked, 1.0, _KEPT),
    "features": lambda block: block.beside(1),
    "feature_values": lambda block: block.beside(2),
    "impression": lambda block: block.heads[:, _kernels.ID],
    "slots": lambda block: block.slots,
    "banner": lambda block: block.banner(),
}
"""Makes each column from a block."""
