"""The beginning of a source: what is looked at to tell how it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..errors import OffrankError
from . import arrow
from .contents import HEAD
from .files import find, is_paths
from .opening import open_table
from .tables import Table
from .unfolding import unfolded

ROWS = 50_000
"""Rows that are looked at."""
BYTES = 1 << 25
"""Bytes of rows that are looked at: rows may be long."""


@dataclass(frozen=True)
class Beginning:
    """What is looked at of a source.

    paths: its files, if it has any. head: the first bytes of the first file, unpacked. table: the source as a plain
    table, and rows: its first rows; both None where it is no table: then trouble says why. A stream that can be read
    once only has no rows here.
    """

    source: Any
    paths: tuple[str, ...] = ()
    head: bytes = b""
    table: Table | None = None
    rows: pa.Table | None = None
    trouble: OffrankError | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns; none where it is no table."""
        return () if self.table is None else self.table.names

    @property
    def named(self) -> str:
        """Where the table is."""
        return "" if self.table is None else self.table.describe()

    @property
    def text(self) -> str:
        """The first bytes as text; empty where they are not UTF-8."""
        try:
            whole = self.head if len(self.head) < HEAD else self.head[: self.head.rfind(b"\n") + 1]
            return "" if b"\0" in whole else whole.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ""

    @classmethod
    def of(cls, source: Any, kind: str | None = None, *, empty: bool = False) -> Beginning:
        """Look at a source. kind, empty: as `open_table` takes them."""
        paths, head = _head(source, empty)
        try:
            table = unfolded(open_table(source, kind, empty=empty))
            return cls(source, paths, head, table, None if getattr(table, "once", False) else first_rows(table))
        except OffrankError as error:
            return cls(source, paths, head, trouble=error)


def _head(source: Any, empty: bool) -> tuple[tuple[str, ...], bytes]:
    if not is_paths(source):
        return (), b""
    try:
        files = find(source, empty=empty)
        return files.paths, files.head(files.paths[0])
    except (OffrankError, OSError):
        return (), b""


def first_rows(table: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """The first rows of a table. columns: all if None."""
    names = table.names if columns is None else tuple(columns)

    def batches() -> Iterator[pa.RecordBatch]:
        rows = size = 0
        for part in range(table.parts()):
            for piece in table.pieces(part, names):
                yield arrow.usual_columns(piece.data)
                rows, size = rows + len(piece.data), size + piece.data.nbytes
                if rows >= ROWS or size >= BYTES:
                    return

    found = [pa.Table.from_batches([one]) for one in batches()]
    return pa.concat_tables(found, promote_options="permissive") if found else pa.table({name: [] for name in names})
