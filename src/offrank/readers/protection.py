"""Whether the files of a log carry checksums, without which a bit that turns in a number is another number."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import OffrankError
from ..log.checksums import are_beside_batches
from .column_sets import FileTable
from .files import Files
from .parquet_orc_arrow import ArrowTable, ParquetTable
from .tables import Table, TableOver

_CHECKED = ("gzip", "bz2")
"""Compressions that hold a checksum of what they have packed; those of the others are optional."""
_SIZES = 3
"""Fields of the head of a Parquet page before its checksum: the type, and two sizes."""


def has_checksums(table: Table) -> bool | None:
    """Whether the first file of a table carries checksums; None of a table in memory, and where that cannot be told."""
    stored: Any = table
    while isinstance(stored, TableOver):
        stored = stored.table
    if not isinstance(stored, FileTable):
        return None
    files, path = stored.files, stored.files.paths[0]
    try:
        if files.packed(path) is not None:
            return True if files.packed(path) in _CHECKED else None
        if isinstance(stored, ParquetTable):
            return _in_pages(files, path)
        return isinstance(stored, ArrowTable) and are_beside_batches(files.system.open_input_file(path))
    except (OffrankError, OSError, pa.ArrowException, IndexError):
        return None


def _in_pages(files: Files, path: str) -> bool:
    """Whether the first page of a Parquet file has a checksum in its head, in Thrift's compact protocol."""
    source = files.system.open_input_file(path)
    column = pq.read_metadata(source).row_group(0).column(0)
    places = (column.dictionary_page_offset, column.data_page_offset)
    head = source.read_at(64, min(place for place in places if place))
    at = 0
    for _ in range(_SIZES):
        at += 1  # the number and the type of the field
        while head[at] & 0x80:
            at += 1
        at += 1
    return head[at] == 0x15  # the next field, a whole number; without a checksum the one after it, a struct
