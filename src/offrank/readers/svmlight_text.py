"""Lines of SVMlight text, gathered block by block into arrays that grow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..errors import EmptyLogError, LogError
from ..log.batch import Floats, Integers
from . import _kernels_svmlight as kernels
from .text import blocks, malformed

_BLOCK = 1 << 19  # fits the cache of a core
_WIDEST = 100_000
_MARK = b"\xef\xbb\xbf"  # some editors begin a UTF-8 file with it
_REMEDY = "write each line as 'grade qid:query index:value ...', indices ascending; a comment begins with '#'"
_NUMBER = "a number"
_FEATURE = f"a feature as 'index:value', the index a whole number up to {_WIDEST:,}"
_EXPECTED = {
    kernels.ZERO: "an index of 1 or more, as base=1 was asked for",
    kernels.BAD_QUERY: "'qid:' and a whole number of at most 18 digits",
    kernels.BAD_FEATURE: _FEATURE,
    kernels.WIDER: _FEATURE,
    kernels.BAD_ORDER: "a higher index than that of the feature before it",
    kernels.MIXED: "'qid:' in all lines or in none",
}


class Gathered:
    """What was read so far: the first `rows` rows of `grade` and `features`, the files' `ends` in rows.

    base: the lowest index, where `fixed`; else 1 until index 0 occurs. query: that of the last line.
    """

    def __init__(self, base: int, fixed: bool, width: int) -> None:
        self.base, self.fixed, self.query = base, fixed, kernels.ANY_QUERY
        self.features, self.grade = np.zeros((0, width)), np.zeros(0)
        self.rows, self.ends, self._runs = 0, [0], [np.empty((0, 4), np.int64)]

    @property
    def runs(self) -> Integers:
        """[.., 4] id, first row, line and file of each query."""
        return np.concatenate(self._runs)

    @property
    def has_queries(self) -> bool:
        """Whether the lines name their queries."""
        return self.query >= 0

    def read(self, path: str, progress: Callable[[int], None]) -> None:
        """Add the lines of a file; progress is called with the bytes read.

        Raises:
            LogError: a line that is not in the format, a file without lines.
        """
        line, done = 1, 0
        if self.has_queries:
            self.query = kernels.SOME_QUERY  # two files share no query
        for block in blocks(path, b"", _BLOCK):
            line = self._add(_Text(path, line, block if done else block.removeprefix(_MARK)))
            done += len(block)
            progress(done)
        if self.rows == self.ends[-1]:
            raise EmptyLogError(f"{path} has no documents", "give a file with at least one line that is no comment")
        self.ends.append(self.rows)

    def trimmed(self) -> tuple[Floats, Floats]:
        """(grade, features) without the room for more; nothing can be added afterwards."""
        self._resize(self.rows)
        return self.grade, self.features

    def _add(self, text: _Text) -> int:
        """Add whole lines; the number of the line behind them."""
        if self.rows + text.most > len(self.grade):
            self._resize(max(self.rows + text.most, len(self.grade) * 5 // 4))
        at, line = 0, text.line
        runs, slow = np.empty((text.most, 3), np.int64), np.empty((text.size // 2 + 1, 4), np.int64)
        while at < text.size:
            at, line, self.query, self.rows, begun, slows, why, where = kernels.parse(
                text.bytes, text.words, text.size, at, line, self.base, self.query,
                self.features, self.grade, self.rows, runs, slow,
            )  # fmt: skip
            self._runs.append(np.column_stack([runs[:begun], np.full(begun, len(self.ends) - 1)]))
            for row, column, start, end in slow[:slows].tolist():
                self._set(row, column, text.number(start, end, finite=column < 0))
            if why != kernels.FINE:
                self._make_room(text, at, why, where)
        return int(line)

    def _set(self, row: int, column: int, value: float) -> None:
        if column < 0:
            self.grade[row] = value
        else:
            self.features[row, column] = value

    def _make_room(self, text: _Text, at: int, why: int, where: int) -> None:
        """Give the line at byte `at` the columns that it wants, if that is all that is wrong."""
        width = self.features.shape[1]
        if why == kernels.WIDER:
            columns = int(kernels.highest(text.bytes, text.size, at, _WIDEST)) - self.base + 1
        elif why == kernels.ZERO and not self.fixed:
            self.base, columns = 0, width + 1
        else:
            columns = width
        if columns <= width:
            raise text.malformed(where, _EXPECTED[why])
        wider = np.zeros((len(self.features), columns))
        first = 1 if why == kernels.ZERO else 0
        wider[: self.rows, first : first + width] = self.features[: self.rows]
        self.features = wider

    def _resize(self, rows: int) -> None:
        """In place, as the system can lengthen large arrays without copying them."""
        self.features.resize((rows, self.features.shape[1]), refcheck=False)
        self.grade.resize(rows, refcheck=False)


class _Text:
    """Whole lines of a file, the first of them number `line`; `size` bytes, and padding behind them."""

    def __init__(self, path: str, line: int, block: bytes) -> None:
        end = b"" if block.endswith(b"\n") else b"\n"
        self.path, self.line, self.size = path, line, len(block) + len(end)
        self._padded = b"".join((block, end, bytes(16 - self.size % 8)))
        self.bytes, self.words = np.frombuffer(self._padded, np.uint8), np.frombuffer(self._padded, "<u8")

    @cached_property
    def most(self) -> int:
        """Lines, of which some may hold no document."""
        return int(np.count_nonzero(self.bytes == ord("\n")))

    def number(self, start: int, end: int, finite: bool) -> float:
        """What the compiled loop would not read: numbers of more than 18 digits, or none."""
        try:
            value = float(self._padded[start:end])
        except ValueError:
            raise self.malformed(start, _NUMBER) from None
        if b"_" in self._padded[start:end] or (finite and not np.isfinite(value)):
            raise self.malformed(start, _NUMBER)
        return value

    def malformed(self, where: int, expected: str, remedy: str = _REMEDY) -> LogError:
        """The error for the token at a byte."""
        begin = self._padded.rfind(b"\n", 0, where) + 1
        token = self._padded[where : self.size].split(maxsplit=1)[:1] if self._padded[where] > ord(" ") else []
        found = token[0].decode("utf-8", "replace") if token else "the end of the line"
        line = self.line + self._padded.count(b"\n", 0, where)
        return malformed(self.path, line, found, f"{expected} at column {where - begin + 1}", remedy)
