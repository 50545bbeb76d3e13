"""Criteo's logs: that of the NIPS'17 challenge, of one slot, and that of paper criteo-test-bed, of banners.

    id |l cost |p inverse propensity |f k:v ...                             the challenge: the product shown
    id |f k:v ...                                                           every other candidate
    example ID: hash click propensity slots candidates feature:value ...    the paper: an impression
    click exid:ID feature:value ...                                         each candidate, the products shown first

Only 10 % of the impressions without a click were kept; of the challenge their `|p` was multiplied by 10 already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from ...errors import EmptyLogError, LogError, UsageError
from ...log.batch import Integers
from .. import _kernels, flat
from ..files import describe, expand
from ..tables import Piece
from ..text import Impression, TextTable, line_blocks, lines, malformed, pairs, parse_numbers, words
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

Propensities = Literal["true", "as-written"]

_CLICKED = {"0.001": 1.0, "0.999": 0.0}
_HIGHEST = (1 << 31) - 1
_KEPT = 0.1  # share of the impressions without a click
_ROUNDING = 1e-6  # `|p` has about twelve digits: a propensity this little above 1 is 1


@READERS.register
@Reader.of("wide", begins=r"\S+ \|l \S+ \|p [^\s|]+ ?\|f ")
def criteo(
    path: str | Path | Sequence[str | Path], *, propensities: Propensities = "true", invalid: Invalid = "raise"
) -> WideLog:
    """Read a log of the Criteo NIPS'17 challenge, plain or `.gz`; each impression shows one product.

    Candidates are numbered 0, 1, ... in the order of an impression's lines, so that the product
    shown is always 0; the numbers mean nothing across impressions.
    Columns: slate, candidates, clicks, propensity, inclusion (.1 without a click, else 1), features and
    feature_values (as the file numbers them), `impression`.

    propensities: "true" removes the factor 10 from `|p`, so that `inclusion` corrects the
    sub-sampling once; "as-written" is 1 / `|p` for all rows, which with `inclusion` corrects twice.

    Raises:
        UsageError: the argument is not a path, or there is no such choice of propensities.
        LogError: there is no file; while reading, a line is not in the format.
    """
    if propensities not in get_args(Propensities):
        raise UsageError(f"propensities is {propensities!r}", 'use "true" or "as-written"')
    read = partial(_impressions, propensities == "true")
    return WideLog(TextTable(expand(path), _SCHEMA, read, _PARSED), {}, invalid)


_Head = tuple[str, float, float]
"""Id, click and inverse propensity of an impression."""

_Line = tuple[int, str]
"""Line number and features, `f k:v ...`."""


_SCHEMA = pa.schema(
    {
        "slate": pa.list_(pa.int64()),
        "candidates": pa.list_(pa.int64()),
        "clicks": pa.list_(pa.float64()),
        "propensity": pa.float64(),
        "inclusion": pa.float64(),
        "features": pa.list_(pa.list_(pa.int32())),
        "feature_values": pa.list_(pa.list_(pa.float64())),
        "impression": pa.string(),
    }
)


def _impressions(true: bool, path: str) -> Iterator[Impression]:
    """Yield the impressions of a file, each from its line with `|l` up to the next. true: see `criteo`."""
    head: _Head | None = None
    features: list[_Line] = []
    for number, line in lines(path):
        name, _, rest = line.partition("|")
        name = name.strip()
        if rest.startswith("l "):
            if head is not None:
                yield _impression(true, head, features)
            head, features = (name, *_shown(path, number, line, rest)), []
        elif head is None or name != head[0] or not rest.startswith("f"):
            if name or rest:
                raise _unexpected(path, number, line)
            continue
        features.append((number, rest.rpartition("|")[2]))
    if head is not None:
        yield _impression(true, head, features)


def _shown(path: str, number: int, line: str, rest: str) -> tuple[float, float]:
    """Return (click, inverse propensity) of the product shown."""
    fields = rest.split("|", 2)
    click = _CLICKED.get(fields[0][1:].strip())
    inverse = fields[1] if len(fields) > 1 else ""
    with suppress(ValueError):
        if click is not None and inverse.startswith("p "):
            return click, float(inverse[1:])
    raise _unexpected(path, number, line)


def _impression(true: bool, head: _Head, features: list[_Line]) -> Impression:
    name, click, inverse = head
    inclusion = 1.0 if click else _KEPT
    if true:
        inverse *= inclusion
    propensity = 1 / inverse if inverse else 0.0
    if 1 < propensity <= 1 + _ROUNDING:
        propensity = 1.0
    candidates = list(range(len(features)))
    return ([0], candidates, [click], propensity, inclusion, features, features, name), {}


def _features(values: bool, path: str, impressions: Sequence[list[_Line]]) -> pa.Array:
    """Return the indices, or the values, of the features of each line of each impression."""
    flat = [line for impression in impressions for line in impression]
    text = "\n".join(features.strip()[1:] for _, features in flat).encode()
    begin, end, counts = words(text)
    _, indices, held, none = pairs(text, begin, end)
    wrong = none | (indices < 0) | (indices > _HIGHEST)
    if wrong.any():
        number, features = flat[int(np.searchsorted(np.cumsum(counts), wrong.argmax(), side="right"))]
        raise malformed(path, number, features, "features as 'index:number'", "use the file as published")
    rows, stops = (np.append(0, np.cumsum(n)).astype(np.int32) for n in ([len(one) for one in impressions], counts))
    return pa.ListArray.from_arrays(rows, pa.ListArray.from_arrays(stops, held if values else indices.astype(np.int32)))


_PARSED = {"features": partial(_features, False), "feature_values": partial(_features, True)}


def _unexpected(path: str, number: int, line: str) -> LogError:
    return malformed(
        path,
        number,
        line,
        "'id |l cost |p inverse_propensity |f ...' (cost 0.001 or 0.999), or 'id |f ...' below it",
        "use the challenge's training file as published; its test file contains no clicks",
    )


_NUMERIC = 2  # indices 0 and 1 are the numeric features 1 and 2; categories share the others
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
@Reader.of("wide", begins=r"example \S+: \S+ [01] \S+ \d+ \d+ ")
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
        heads, clicks = np.empty((most_lines, 7), np.int64), np.zeros(most_lines, np.int8)
        ends, numbers = np.empty(most_lines, np.int64), np.empty((most_lines + most, 3), np.int64)
        self.indices, self.values = np.empty(most, np.int32), np.empty(most)
        room = np.uint64((1 << bits) - _NUMERIC)
        n, lines, written, self.newlines, wrong, at = _kernels.parse_impressions(
            data, room, heads, clicks, ends, self.indices, self.values, numbers
        )
        if wrong:
            found = text[at : text.find(b"\n", at) if b"\n" in text[at:] else None].decode("utf-8", "replace")
            raise malformed(path, line + self.newlines, found or "the end", _EXPECTED[wrong], _REMEDY)
        entry, start, end = numbers[:written].T
        read, none = parse_numbers(text, start, end)
        for begin, stop in zip(start[none].tolist(), end[none].tolist(), strict=True):
            word, where = text[begin:stop].decode("utf-8", "replace"), text.count(b"\n", 0, begin)
            raise malformed(path, line + where, word, "a number", _REMEDY)
        self.values[entry[entry >= 0]] = read[entry >= 0]
        self.text, self.heads, self.propensity = text, heads[:n], read[entry < 0]
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
