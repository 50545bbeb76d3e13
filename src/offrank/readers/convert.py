"""`convert`: write any readable log as Parquet or Arrow in the wide layout."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..errors import EmptyLogError, UsageError
from ..language.files import atomic_write
from ..language.outputs import refuse_outputs
from ..log import checksums
from ..log.schema import ROLES, Columns
from ..log.source import Needs, refuse_placed
from ..wording import Option, Wording
from . import conversions, flat
from .files import is_paths
from .json_text import BadCell, from_json
from .log import opened
from .long import LongLog
from .protection import has_checksums
from .tables import Piece, in_types, unified, unified_table
from .wide import WideLog

_GROUP_ROWS = 131_072
_GROUP_BYTES = 1 << 27
PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")


@dataclass(frozen=True)
class Converted:
    """Result of `convert`: rows written, and rule -> rows (or clicks) left out.

    Parameters:
        path: the file that was written.
        rows: impressions written.
        skipped: rule -> rows (or clicks) left out.
        checksums: whether what was read carries checksums, as what is written does; None of no file, or if it is
            not told.

    Examples:
        >>> offrank.convert([{"slate": ["a", "b"], "clicks": [1, 0]}], "log.parquet").rows
        1
    """

    path: Path
    rows: int
    skipped: Mapping[str, int]
    checksums: bool | None = None

    def __str__(self) -> str:
        left_out = "".join(f"; left out: {count:,} {rule}" for rule, count in self.skipped.items())
        checked = ", with checksums, which the log itself does not have" if self.checksums is False else ""
        return f"{self.rows:,} impressions in {self.path}{checked}{left_out}"


def convert(
    log: Any,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    scores: Sequence[str] = (),
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Converted:
    """Write a log in the wide layout: columns under their roles' names, with every rule checked.

    Parameters:
        log: from `read_log`, or anything that it takes; or a `SimulatedSource`.
        path: Parquet, compressed, for keeping and sharing; or, by the suffix `.arrow`, an Arrow IPC file, which is
            several times larger and many times faster to read, since it is memory-mapped. Written under another
            name first, so that no partial file remains.
        columns: role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        scores: in the long layout, the columns with a value per item; all others are per impression.
        overwrite: replace a file that is there.
        progress: called with (parts done, total parts).

    Returns:
        What was written: the path, the rows, and what was left out.

    Raises:
        UsageError: the log is not from `read_log`, the suffix names neither format, `path` is a file of the log,
            or it is there and not to be replaced.
        LogError: the log breaks a rule, unless it was read with `invalid="skip"`.

    Examples:
        >>> offrank.convert(offrank.read_log("offrank-demo/log.parquet"), "converted.parquet").rows
        200000
    """
    final = Path(path)
    if final.suffix not in (*PARQUET_SUFFIXES, *ARROW_SUFFIXES):
        raise UsageError(f"the suffix of {str(path)!r} does not name a format", "use the suffix .parquet or .arrow")
    given: Any = opened(log, columns, format)
    refuse_placed(given, "a log is converted")
    if getattr(given, "top_k", None) is not None:
        raise UsageError("only whole slates can be converted", Wording("set {} when reading them", Option("top_k")))
    if isinstance(given, LongLog | WideLog):
        known = Columns(given.table.names, given.renamed, given.describe())
        scores = [known.named(name) for name in scores]
    refuse_outputs(final, log=[log, given] if is_paths(log) else given, read=(), overwrite=overwrite)
    if isinstance(given, LongLog):
        given = replace(given, needed=Needs(scores=frozenset(scores)))
        given.refuse_at_once(every=True)
    wide = getattr(given, "wide", given)
    if not isinstance(wide, WideLog):
        raise UsageError(f"cannot convert {type(log).__name__}", "give the result of read_log")
    with atomic_write(final) as temporary:
        rows, skipped = _write(wide, temporary, progress)
    return Converted(final, rows, dict(skipped), has_checksums(getattr(given, "table", wide.table)))


def _write(log: WideLog, path: Path, progress: Callable[[int, int], None] | None) -> tuple[int, Counter[str]]:
    """Write the rows; return (rows, rows left out by rule)."""
    known = Columns(log.table.names, log.renamed, log.describe())
    wanted = frozenset(role for role in ROLES if role != "query" and known.has(role))
    log = replace(log.looked_at(), needed=Needs(wanted))
    role_of = {log.renamed[role]: role for role in log.renamed}
    names = [role_of.get(name, name) for name in log.table.names]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two columns would be called {twice[0]!r}", f"rename the log's own column {twice[0]!r}")
    found: tuple[int, Counter[str]] | list[pa.DataType] = []
    while isinstance(found, list):  # later rows did not fit: all are written again, in types that hold both
        found = _written(log, names, found, path, progress)
    return found


def _written(
    log: WideLog, names: list[str], kinds: list[pa.DataType], path: Path, progress: Callable[[int, int], None] | None
) -> tuple[int, Counter[str]] | list[pa.DataType]:
    """Write the rows in these types, by default those of the first rows; return (rows, rows left out by rule).

    Where later rows do not fit, types that hold all so far are returned.
    """
    skipped: Counter[str] = Counter()
    found = _checked(log, skipped, progress)
    first = next(found, None)
    if first is None:
        raise EmptyLogError(f"{log.describe()} has no impressions", "give a log with some")
    kinds, rows = kinds or first.schema.types, 0
    schema = _schema(names, kinds, path)
    with _writer(path, schema) as write:
        for group in _groups(first, found):
            data = unified_table(group)
            wider = unified(kinds, data.schema)
            if _schema(names, wider, path) != schema:
                return wider
            write(in_types(data, schema).combine_chunks())
            rows += data.num_rows
    return rows, skipped


def _schema(names: list[str], kinds: list[pa.DataType], path: Path) -> pa.Schema:
    """Return the columns of the file. kinds: their types in memory."""
    stored = [_kept(kind, path) for kind in kinds]
    stored = [_strict(kind) if name in ROLES else kind for name, kind in zip(names, stored, strict=True)]
    return pa.schema(list(zip(names, stored, strict=True)))


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.Table], object]]:
    """Open a writer of tables in the format of the suffix."""
    if path.suffix in ARROW_SUFFIXES:
        with checksums.writer(path, schema) as write:
            yield lambda table: [write(data) for data in table.to_batches(max_chunksize=_GROUP_ROWS)]
        return
    repeating = [leaf for field in schema for leaf in _repeating(field.name, field.type)]
    how: Any = {"compression": "zstd", "use_dictionary": repeating, "write_page_checksum": True}
    empty = pa.BufferOutputStream()
    rows: list[int] = []
    pq.write_table(schema.empty_table(), empty, **how)
    with pa.OSFile(str(path), "wb") as sink, pq.ParquetWriter(sink, schema, **how) as file:

        def write(table: pa.Table) -> None:
            file.write_table(table, row_group_size=_GROUP_ROWS)
            rows.extend(len(table.slice(first, _GROUP_ROWS)) for first in range(0, len(table), _GROUP_ROWS))

        yield write
        sink.write(checksums.before_footer(pq.read_schema(pa.BufferReader(empty.getvalue())), rows))


def _kept(kind: pa.DataType, path: Path) -> pa.DataType:
    """Return a column's type in the file: Arrow files hold one dictionary for all batches, so there it is expanded."""
    if path.suffix not in ARROW_SUFFIXES:
        return kind
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.list_(_kept(kind.value_type, path)) if isinstance(kind, flat.LISTS) else kind


def _strict(kind: pa.DataType) -> pa.DataType:
    """Return list types with non-null items, as every role requires: each saves a level when reading."""
    if isinstance(kind, flat.LISTS) or pa.types.is_fixed_size_list(kind):
        return pa.list_(pa.field("element", _strict(kind.value_type), nullable=False))
    return kind


def _repeating(path: str, kind: pa.DataType) -> list[str]:
    """Return the Parquet leaf of this column, unless it holds fractions, which a dictionary makes slower."""
    if isinstance(kind, flat.LISTS) or pa.types.is_fixed_size_list(kind):
        return _repeating(f"{path}.list.element", kind.value_type)
    return [] if pa.types.is_floating(kind) else [path]


def _checked(
    log: WideLog, skipped: Counter[str], progress: Callable[[int, int], None] | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that keep every rule, piece by piece."""
    columns, lists = log.columns(), dict[str, pa.DataType | None]()
    for part in range(log.parts()):
        for piece in log.pieces(part, log.table.names):
            batches = list(log.decode(piece, columns))
            kept = sum(map(len, batches))
            for batch in batches:
                skipped.update(batch.skipped)
            if kept:
                rows = np.concatenate([batch.row for batch in batches])
                valid = _of_rows(piece, rows)
                yield _lists_of(replace(valid, data=_with_numbers(valid.data, log)), log.renamed, lists)
        if progress is not None:
            progress(part + 1, log.parts())


def _of_rows(piece: Piece, rows: NDArray[np.uint64]) -> Piece:
    """Return the rows of a piece with these numbers in the log."""
    if len(rows) == len(piece.rows):
        return piece
    mask = np.isin((piece.rows + piece.base).astype(np.uint64), rows)
    return replace(piece, data=flat.plain_columns(piece.data).filter(pa.array(mask)), rows=piece.rows[mask])


def _with_numbers(data: pa.RecordBatch, log: WideLog) -> pa.RecordBatch:
    """Return the same rows with clicks as numbers beside the slate, where they were written in another way."""
    name, slate = (log.renamed.get(role, role) for role in ("clicks", "slate"))
    if log.description.clicks_as == "numbers" or name not in data.schema.names:
        return data
    column = data.column(name)
    if log.description.clicks_as == "values" and not _of_text(column.type):
        return data
    if log.description.clicks_as == "items":
        found, _ = conversions.clicks_from_ids(column, name, data.column(slate), slate)
    else:
        found = conversions.click_lists(column, name)
    clicks = flat.lists_of(np.nan_to_num(np.asarray(found.values)[found.at]), found.lengths)
    return data.set_column(data.schema.get_field_index(name), name, clicks)


def _of_text(kind: pa.DataType) -> bool:
    return _of_text(kind.value_type) if hasattr(kind, "value_field") else conversions.is_text(kind)


def _lists_of(piece: Piece, renamed: Mapping[str, str], lists: dict[str, pa.DataType | None]) -> pa.RecordBatch:
    """Return the same rows with JSON text lists as lists.

    lists: the type of each column of texts, None for plain texts: as the first piece has it, which is noted here.
    """
    ids = {renamed.get(role, role) for role in ("slate", "candidates")}
    roles = {renamed.get(role, role) for role in ROLES}
    columns = {
        name: flat.plain_column(one) for name, one in zip(piece.data.schema.names, piece.data.columns, strict=True)
    }
    for name, column in columns.items():
        plain = name in lists and lists[name] is None
        if plain or not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        try:
            found = _read_lists(column, name, lists.get(name), ids)
        except BadCell as cell:
            if name in roles or name in lists:
                raise piece.fault(cell) from None
            found = column  # texts that begin with a bracket, as no number does
        lists.setdefault(name, found.type if pa.types.is_list(found.type) else None)
        columns[name] = found
    return pa.record_batch(columns)


def _read_lists(column: pa.Array, name: str, kind: pa.DataType | None, ids: set[str]) -> pa.Array:
    """Return a column of texts as lists, if it holds any. kind: their type, if it is known."""
    if kind is not None:
        return from_json(column, name, kind.value_type)
    first = next((text.lstrip() for text in column.to_pylist() if text), "")
    held = pa.list_(pa.float64()) if first.startswith("[[") else pa.float64()
    return from_json(column, name, None if name in ids else held) if first.startswith("[") else column


def _groups(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Combine record batches into row groups."""
    waiting = [first]
    for data in others:
        if sum(map(len, waiting)) >= _GROUP_ROWS or sum(flat.size(one) for one in waiting) >= _GROUP_BYTES:
            yield waiting
            waiting = []
        waiting.append(data)
    if waiting:
        yield waiting
