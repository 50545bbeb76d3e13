"""Where Arrow record batches come from, read lazily, in parts: tables in memory and frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..log.batch import Integers

MOST_ROWS = 32_768
_MOST_VALUES = 2_000_000


@dataclass(frozen=True)
class Piece:
    """Some rows of a table. rows: [n] their numbers in `file`; base: rows in the files before it.

    skipped: what was left out of these rows, by rule.
    """

    data: pa.RecordBatch
    file: str
    rows: Integers
    base: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)

    def between(self, start: int, end: int) -> Piece:
        """The rows from start to end."""
        return replace(self, data=self.data.slice(start, end - start), rows=self.rows[start:end])


def numbered(found: Iterable[pa.RecordBatch], file: str, first: int = 0, base: int = 0) -> Iterator[Piece]:
    """Record batches that follow each other in a file, from row `first` on."""
    for data in found:
        yield Piece(data, file, np.arange(first, first + len(data)), base)
        first += len(data)


class Table(Protocol):
    """A picklable description of tabular data."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""

    def parts(self) -> int:
        """How many pieces can be read side by side."""

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        """The rows of one part, of these columns only."""

    def describe(self) -> str:
        """Where the data is."""


def outline(layout: str, table: Table) -> str:
    """A line on the log, and one per column; rows only where they are known without reading them.

    They are of tables in memory, and of Parquet, which has them in its metadata.
    """
    held = getattr(table, "table", None)  # of tables in memory; a data set of text files; Parquet is asked itself
    held = getattr(table, "dataset", table) if held is None else held
    rows, schema = getattr(held, "num_rows", None), getattr(held, "schema", None)
    kinds = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    columns = "".join(f"\n  {name}: {kinds[name]}" if name in kinds else f"\n  {name}" for name in table.names)
    return f"{table.describe()}: {layout} layout{'' if rows is None else f', {rows:,} rows'}{columns}"


@dataclass(frozen=True)
class MemoryTable:
    """An Arrow table in memory; a part is a slice of it."""

    table: pa.Table
    where: str = "table"
    part_rows: int = 131_072

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.schema.names)

    def parts(self) -> int:
        return -(-self.table.num_rows // self.part_rows)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        first = part * self.part_rows
        part_of_it = self.table.select(list(columns)).slice(first, self.part_rows)
        yield from numbered(bounded(part_of_it), self.where, first)

    def describe(self) -> str:
        return f"{self.where} in memory"


@dataclass(frozen=True)
class LazyTable:
    """A Polars LazyFrame, run anew for each reading, in order as one part."""

    frame: Any

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.frame.collect_schema().names())

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        frames = self.frame.select(columns).collect_batches(chunk_size=MOST_ROWS, maintain_order=True)
        yield from numbered((data for frame in frames for data in frame.to_arrow().to_batches()), "lazy frame")

    def describe(self) -> str:
        return "lazy frame"


def bounded(table: pa.Table) -> list[pa.RecordBatch]:
    """A table in batches that are not too large."""
    batches: list[pa.RecordBatch] = table.to_batches(
        max_chunksize=rows_for(table.nbytes // (8 * max(table.num_rows, 1)))
    )
    return batches


def rows_for(values_per_row: int) -> int:
    """Rows per batch, so that wide lists do not fill the memory."""
    return int(np.clip(_MOST_VALUES // max(values_per_row, 1), 64, MOST_ROWS))
