"""Judged documents in SVMlight's text format, in which learning-to-rank sets are published.

grade qid:query index:value index:value ... # comment
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from ..errors import LogError, UsageError
from ..files import whole
from ..log.batch import Integers
from ..log.judged import Judged
from ..running.executors import Progress
from .files import expand, suffix
from .svmlight_text import Gathered
from .text import lines, malformed

_SIZES = (".query", ".group")
_PIECE = 1000


def read_svmlight(
    path: str | Path | Sequence[str | Path],
    *,
    group: str | Path | Sequence[str | Path] | None = None,
    base: Literal[0, 1] | None = None,
    features: int = 0,
    progress: Progress | None = None,
) -> Judged:
    """Judged documents of a file, a folder, a glob or a list of those, plain or `.gz`; queries stay in their order.

    - Documents are numbered 0, 1, ... in the order of their lines; what comments say of them is not read.
    - Indices count from 1, as the format says, and from 0 where index 0 occurs anywhere; `base` says it outright.
    - A feature that is not written is 0.0; nan and inf stay what they are. There are as many columns as the highest
      index asks for, and at least `features`.
    - Memory is that of the result and some megabytes.

    group: files of query sizes, one size a line, one file for each data file, for data without `qid:`; by default
    those beside the data, of the same name with `.query` or `.group` behind it. Such queries are numbered 0, 1, ...
    progress: called with (bytes read, bytes in all).

    Raises:
        UsageError: not a path; a base other than 0 and 1; sizes for data with `qid:`, or for other files.
        LogError: no file; a line that is not in the format; a query that comes back after other queries; sizes that
            do not add up to the lines.
    """
    if base not in (None, 0, 1):
        raise UsageError(f"base is {base!r}", "say 0 or 1, the index of the first feature")
    paths = tuple(each for each in expand(path) if suffix(each) not in _SIZES)
    if not paths:
        raise LogError(f"there are only query sizes at {str(path)!r}", "give the files with the grades and features")
    gathered = _gather(paths, Gathered(1 if base is None else base, base is not None, features), progress)
    if gathered.has_queries:
        query, first = _by_id(paths, gathered, group)
    else:
        query, first = _by_size(paths, gathered, group)
    grade, table = gathered.trimmed()
    return Judged(query, first, grade, table, np.arange(gathered.rows))


def write_svmlight(judged: Judged, path: str | Path) -> None:
    """Write judged documents, whole or not at all; packed where the name ends in `.gz`.

    Every feature is written, zeros too, with as many digits as it takes to read the same number again. The
    documents' ids are not written: a reader numbers them anew.

    Raises:
        UsageError: a query id below 0, which readers of the format refuse.
    """
    if judged.query.min(initial=0) < 0:
        raise UsageError(f"query {judged.query.min()} is below 0", "number the queries from 0 on")
    open_text = gzip.open if str(path).endswith(".gz") else open
    with whole(path) as temporary, open_text(temporary, "wt", encoding="ascii", newline="\n") as file:
        names = [f" {index}:" for index in range(1, judged.features.shape[1] + 1)]
        query = judged.query[judged.owner]
        for start in range(0, judged.rows, _PIECE):
            rows = slice(start, start + _PIECE)
            columns = judged.grade[rows].tolist(), query[rows].tolist(), judged.features[rows].tolist()
            for grade, number, values in zip(*columns, strict=True):
                described = "".join([name + _plain(value) for name, value in zip(names, values, strict=True)])
                file.write(f"{_plain(grade)} qid:{number}{described}\n")


def _plain(value: float) -> str:
    """The shortest text that reads as this number."""
    return repr(value).removesuffix(".0")


def _gather(paths: tuple[str, ...], gathered: Gathered, progress: Progress | None) -> Gathered:
    sizes = [Path(path).stat().st_size for path in paths]
    before, total = 0, sum(sizes)
    for path, size in zip(paths, sizes, strict=True):
        # A packed file yields more bytes than it has.
        say = (lambda done, size=size, before=before: progress(before + min(done, size), total)) if progress else _quiet
        gathered.read(path, say)
        before += size
    if progress is not None:
        progress(total, total)
    return gathered


def _quiet(done: int) -> None:
    """Say nothing of the bytes read."""


def _by_id(paths: tuple[str, ...], gathered: Gathered, group: object) -> tuple[Integers, Integers]:
    """(ids, offsets) of the queries that the lines name."""
    if group is not None:
        raise UsageError("query sizes were given for data that have 'qid:' in every line", "leave `group` out")
    query, first, line, file = gathered.runs.T
    _, known, code = np.unique(query, return_index=True, return_inverse=True)
    again = np.flatnonzero(known[code] < np.arange(len(query)))
    if len(again):
        run, before = again[0], known[code[again[0]]]
        raise LogError(
            f"{paths[file[run]]}, line {line[run]}: query {query[run]} comes back after other queries; "
            f"it began in {paths[file[before]]}, line {line[before]}",
            "sort the lines by query, and read each file once",
        )
    return query.copy(), np.append(first, gathered.rows)


def _by_size(paths: tuple[str, ...], gathered: Gathered, group: object) -> tuple[Integers, Integers]:
    """(numbers, offsets) of the queries whose sizes stand in other files."""
    if group is None:
        beside = [_beside(path) for path in paths]
    else:
        beside = list(expand(group))  # type: ignore[arg-type]
    if len(beside) != len(paths):
        raise UsageError(f"{len(beside)} files of query sizes for {len(paths)} data files", "give one for each")
    rows = np.diff(gathered.ends).tolist()
    sizes = [_sizes(*each) for each in zip(beside, paths, rows, strict=True)]
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return np.arange(len(first) - 1), first


def _beside(path: str) -> str:
    """The file of query sizes that belongs to a data file."""
    found = [plain + end for plain in (path, path.removesuffix(".gz")) for end in _SIZES if Path(plain + end).is_file()]
    if not found:
        message = f"{path} has no 'qid:', and there is no {Path(path).name}.query beside it"
        raise LogError(message, "give the file of query sizes as `group`, one size a line")
    return found[0]


def _sizes(group: str, path: str, rows: int) -> Integers:
    """The sizes in a file, which must add up to so many rows."""
    sizes = []
    for number, text in lines(group):
        word = text.strip()
        if word:
            if not (word.isascii() and word.isdigit() and int(word) > 0):
                raise malformed(group, number, text, "the size of a query, 1 or more", "give one size a line")
            sizes.append(int(word))
    if sum(sizes) != rows:
        message = f"{group} has sizes for {sum(sizes):,} documents, but {path} has {rows:,}"
        raise LogError(message, "give the sizes that belong to this file")
    return np.array(sizes, np.int64)
