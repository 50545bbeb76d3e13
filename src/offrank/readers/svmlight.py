"""Judged documents in SVMlight's text format, used by learning-to-rank data sets.

grade qid:query index:value index:value ... # comment
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Literal

import numpy as np

from ..errors import EmptyLogError, LogError, UsageError
from ..language.files import atomic_write
from ..log.batch import Floats, Integers
from ..log.graded_queries import Judged
from ..log.hashing import distinct_codes
from ..running.executors import Progress
from .files import expand, suffix
from .text import line_blocks, lines, malformed, naturals, pairs, parse_numbers, whole_lines, words

_SIZES = (".query", ".group")
_PIECE = 1000
_BLOCK = 1 << 20
_WIDEST = 100_000
_COMMENT = re.compile(rb"#[^\n]*")
_MARK = b"\xef\xbb\xbf"  # some editors begin a UTF-8 file with it
_REMEDY = "write each line as 'grade qid:query index:value ...', with ascending indices; a comment begins with '#'"


def read_svmlight(
    path: str | Path | Sequence[str | Path],
    *,
    group: str | Path | Sequence[str | Path] | None = None,
    base: Literal[0, 1] | None = None,
    features: int = 0,
    progress: Progress | None = None,
) -> Judged:
    """Read judged documents from a file, a folder, a glob or a list of those, plain or `.gz`; queries keep their order.

    - Documents are numbered 0, 1, ... in the order of their lines; comments are ignored.
    - Indices count from 1, as in the format, or from 0 if index 0 occurs anywhere; `base` overrides this.
    - A missing feature is 0.0; nan and inf are kept. There are as many columns as the highest
      index requires, and at least `features`.
    - Memory use is that of the result and some megabytes.

    Parameters:
        path: the files.
        group: files of query sizes, one size per line, one file for each data file, for data without `qid:`; by
            default those beside the data, of the same name plus `.query` or `.group`. Such queries are numbered 0,
            1, ...
        base: the first index, 0 or 1; by default found out.
        features: the least number of columns.
        progress: called with (bytes read, total bytes).

    Returns:
        The judged documents.

    Raises:
        UsageError: not a path; a base other than 0 and 1; sizes for data with `qid:`, or for other files.
        LogError: no file; a line that is not in the format; a query that reappears after other queries; sizes that
            do not add up to the lines.

    Examples:
        >>> judged = offrank.simulation.mslr_like(10, (5, 5))
        >>> offrank.readers.write_svmlight(judged, "judged.txt")
        >>> offrank.readers.read_svmlight("judged.txt").grade.size
        50
    """
    if base not in (None, 0, 1):
        raise UsageError(f"base is {base!r}", "use 0 or 1, the index of the first feature")
    paths = tuple(each for each in expand(path) if suffix(each) not in _SIZES)
    if not paths:
        raise LogError(f"{str(path)!r} contains only query sizes", "give the files with the grades and features")
    gathered = _Gathered(base, features)
    gathered.read(paths, progress)
    grade, query, table = gathered.trimmed()
    if gathered.named:
        ids, first = _by_id(paths, gathered.ends, query, group)
    else:
        ids, first = _by_size(paths, gathered.ends, group)
    return Judged(ids, first, grade, table, np.arange(len(grade)))


def write_svmlight(judged: Judged, path: str | Path) -> None:
    """Write judged documents atomically; compressed if the name ends in `.gz`.

    Every feature is written, zeros too, with enough digits to read the same number again. The
    documents' ids are not written: a reader renumbers them.

    Parameters:
        judged: the documents.
        path: the file to write.

    Raises:
        UsageError: a query id is below 0, which readers of the format refuse.

    Examples:
        >>> judged = offrank.simulation.mslr_like(10, (5, 5))
        >>> offrank.readers.write_svmlight(judged, "judged.txt")
    """
    if judged.query.min(initial=0) < 0:
        raise UsageError(f"query {judged.query.min()} is below 0", "number the queries from 0")
    open_text = gzip.open if str(path).endswith(".gz") else open
    with atomic_write(path) as temporary, open_text(temporary, "wt", encoding="ascii", newline="\n") as file:
        names = [f" {index}:" for index in range(1, judged.features.shape[1] + 1)]
        query = judged.query[judged.owner]
        for start in range(0, judged.rows, _PIECE):
            rows = slice(start, start + _PIECE)
            columns = judged.grade[rows].tolist(), query[rows].tolist(), judged.features[rows].tolist()
            for grade, number, values in zip(*columns, strict=True):
                described = "".join([name + _plain(value) for name, value in zip(names, values, strict=True)])
                file.write(f"{_plain(grade)} qid:{number}{described}\n")


def _plain(value: float) -> str:
    """Return the shortest text that reads as this number."""
    return repr(value).removesuffix(".0")


class _Gathered:
    """Data read so far: the first `ends[-1]` rows of grade, query and table; `ends`: of the files, in rows.

    low: the index of the first column; 1 until index 0 occurs, unless `base` is given. named: whether lines
    name their query, as the first one shows.
    """

    def __init__(self, base: Literal[0, 1] | None, width: int) -> None:
        self.lowest, self.low = base or 0, 1 if base is None else base
        self.grade, self.query, self.table = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, width))
        self.named: bool | None = None
        self.ends = [0]

    def read(self, paths: Sequence[str], progress: Progress | None) -> None:
        """Add the lines of files; a compressed file yields more bytes than it has."""
        sizes = [Path(path).stat().st_size for path in paths]
        before, total = 0, sum(sizes)
        for path, size in zip(paths, sizes, strict=True):
            row, line, done = self.ends[-1], 1, 0
            for block in line_blocks(path, b"", _BLOCK):
                row = self._add(path, line, row, block if done else block.removeprefix(_MARK))
                line, done = line + block.count(b"\n"), done + len(block)
                if progress is not None:
                    progress(before + min(done, size), total)
            if row == self.ends[-1]:
                raise EmptyLogError(f"{path} has no documents", "give a file with a line that is no comment")
            self.ends.append(row)
            before += size
        if progress is not None:
            progress(total, total)

    def trimmed(self) -> tuple[Floats, Integers, Floats]:
        """Return (grade, query, table) without spare capacity."""
        self._resize(self.ends[-1])
        return self.grade, self.query, self.table

    def _add(self, path: str, line: int, row: int, block: bytes) -> int:
        """Add whole lines, the first of which is number `line`, at this row; return the row after them."""
        found = _Documents(_COMMENT.sub(b"", block) if b"#" in block else block)
        end = row + len(found.grade)
        if end == row:
            return row
        if self.named is None:
            self.named = bool(found.named[0])
        found.check(path, line, self.named, self.lowest)
        if end > len(self.grade):
            self._resize(max(end, len(self.grade) * 5 // 4))
        self.grade[row:end], self.query[row:end] = found.grade, found.query
        self._place(row, found.entries, found.indices, found.values)
        return end

    def _place(self, row: int, counts: Integers, indices: Integers, values: Floats) -> None:
        """Write the entries of some rows, given their counts, into the table, widening it if needed."""
        if indices.min(initial=self.low) < self.low:
            self._widen(0, 1)
            self.low = 0
        more = int(indices.max(initial=0)) - self.low + 1 - self.table.shape[1]
        if more > 0:
            self._widen(more, 0)
        self.table[np.repeat(np.arange(row, row + len(counts)), counts), indices - self.low] = values

    def _widen(self, behind: int, before: int) -> None:
        self.table = np.pad(self.table, ((0, 0), (before, behind)))

    def _resize(self, rows: int) -> None:
        """Resize in place, as the system can extend large arrays without copying them."""
        self.table.resize((rows, self.table.shape[1]), refcheck=False)
        self.grade.resize(rows, refcheck=False)
        self.query.resize(rows, refcheck=False)


class _Documents:
    """The lines of a text without comments, one document each.

    query: [documents] -1 if none is named (see `named`). entries: [documents] features of each; begin, value:
    [entries] their first bytes, and those of their values.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        begin, end, counts = words(text)
        counts = counts[counts > 0]
        first = np.cumsum(counts) - counts
        second = np.minimum(first + 1, len(begin) - 1)
        self.first, self.second = begin[first], np.where(counts > 1, begin[second], end[first])
        self.named = np.array([text.startswith(b"qid:", at) for at in self.second.tolist()], np.bool_)
        self.query = np.full(len(counts), -1)
        named = second[self.named]
        self.query[self.named] = naturals(text, begin[named] + 4, end[named])
        self.grade, self.ungraded = parse_numbers(text, begin[first], end[first])
        feature = np.ones(len(begin), np.bool_)
        feature[first], feature[named] = False, False
        self.entries, self.begin = counts - 1 - self.named, begin[feature]
        self.value, self.indices, self.values, self.unvalued = pairs(text, self.begin, end[feature])

    def check(self, path: str, line: int, named: bool, lowest: int) -> None:
        """Raise for the first word that is not in the format; the text begins at this line of a file."""
        document = np.repeat(np.arange(len(self.entries)), self.entries)
        falling = (np.diff(document, prepend=-1) == 0) & (np.diff(self.indices, prepend=-1) <= 0)
        unlike = (self.indices < 0) | (self.indices > _WIDEST)
        checks = (
            (self.ungraded | ~np.isfinite(self.grade), self.first, "a number"),
            (self.named & (self.query < 0), self.second, "'qid:' and a whole number of at most 18 digits"),
            (self.named != named, self.second, "'qid:' in all lines or in none"),
            (unlike, self.begin, f"a feature as 'index:value', the index a whole number up to {_WIDEST:,}"),
            (self.indices < lowest, self.begin, "an index of 1 or more, because of base=1"),
            (falling, self.begin, "a higher index than that of the feature before it"),
            (self.unvalued, self.value, "a number"),
        )
        found = [(int(place[wrong.argmax()]), expected) for wrong, place, expected in checks if wrong.any()]
        if not found:
            return
        at, expected = min(found, key=itemgetter(0))
        start = self.text.rfind(b"\n", 0, at) + 1
        token = self.text[at:].split(maxsplit=1)[:1] if self.text[at : at + 1] > b" " else []
        shown = token[0].decode("utf-8", "replace") if token else "the end of the line"
        where = f"{expected} at column {at - start + 1}"
        raise malformed(path, line + self.text.count(b"\n", 0, at), shown, where, _REMEDY)


def _by_id(paths: Sequence[str], ends: list[int], query: Integers, group: object) -> tuple[Integers, Integers]:
    """Return (ids, offsets) of the queries that the lines name; two files share none."""
    if group is not None:
        raise UsageError("query sizes were given for data with 'qid:' in every line", "omit `group`")
    first = distinct_codes(np.append(np.flatnonzero(query[1:] != query[:-1]) + 1, ends[:-1]))
    ids = query[first]
    _, known, code = np.unique(ids, return_index=True, return_inverse=True)
    again = np.flatnonzero(known[code] < np.arange(len(ids)))
    if len(again):
        here, there = (_line(paths, ends, int(first[run])) for run in (again[0], known[code[again[0]]]))
        raise LogError(
            f"{here}: query {ids[again[0]]} continues after other queries; it began in {there}",
            "sort the lines by query, and read each file once",
        )
    return ids, np.append(first, len(query))


def _line(paths: Sequence[str], ends: list[int], row: int) -> str:
    """Return the file and the line of a row, by reading again."""
    file = int(np.searchsorted(ends, row, side="right")) - 1
    documents = (number for number, text in lines(paths[file]) if text.partition("#")[0].strip())
    return f"{paths[file]}, line {next(islice(documents, row - ends[file], None))}"


def _by_size(paths: Sequence[str], ends: list[int], group: object) -> tuple[Integers, Integers]:
    """Return (numbers, offsets) of the queries whose sizes are in other files."""
    beside = [_beside(path) for path in paths] if group is None else list(expand(group))  # type: ignore[arg-type]
    if len(beside) != len(paths):
        raise UsageError(f"{len(beside)} files of query sizes for {len(paths)} data files", "give one for each")
    sizes = [_sizes(*each) for each in zip(beside, paths, np.diff(ends).tolist(), strict=True)]
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return np.arange(len(first) - 1), first


def _beside(path: str) -> str:
    """Return the file of query sizes that belongs to a data file."""
    found = [plain + end for plain in (path, path.removesuffix(".gz")) for end in _SIZES if Path(plain + end).is_file()]
    if not found:
        message = f"{path} has no 'qid:', and {Path(path).name}.query is missing next to it"
        raise LogError(message, "give the file of query sizes as `group`, one size per line")
    return found[0]


def _sizes(group: str, path: str, rows: int) -> Integers:
    """Read the sizes in a file, which must add up to this many rows."""
    sizes = [*whole_lines(group, 1, "the size of a query, 1 or more", "give one size per line")]
    if sum(sizes) != rows:
        message = f"{group} has sizes for {sum(sizes):,} documents, but {path} has {rows:,}"
        raise LogError(message, "give the sizes that belong to this file")
    return np.array(sizes, np.int64)
