"""Files and data sets through `pyarrow.dataset`: Parquet, CSV, TSV, JSON lines; here or far away; in hive folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ..errors import ColumnError, LogError
from .files import Files
from .tables import MOST_ROWS, Piece, rows_for

_NULLS = ["", "NA", "null", "NULL", "nan", "NaN"]
_HIVE = ds.partitioning(flavor="hive")
TEXT = ("csv", "tsv", "json")
_WANTED = {
    "parquet": ("a Parquet file", "give a Parquet file"),
    "arrow": ("an Arrow IPC file", "give an Arrow IPC (Feather) file"),
    "csv": ("CSV", "write CSV with a header line in UTF-8, and the same kind of value in every row of a column"),
    "tsv": ("TSV", "write TSV with a header line in UTF-8, and the same kind of value in every row of a column"),
    "json": ("JSON lines", "write an object a line in UTF-8, and the same kind of value in every row of a column"),
    "dataset": ("a log", "mend the data set that was given"),
}


@dataclass(frozen=True)
class FileTable:
    """Files of one kind; a part is a row group of Parquet, other files are read in order as one part.

    Folders called `key=value` give a column. kinds: types of columns of text files, where they cannot be read off the
    first rows.
    """

    files: Files
    kind: str
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)

    @cached_property
    def dataset(self) -> Any:
        with reading(self.files.paths[0], self.kind):
            found = ds.dataset(list(self.files.paths), None, _format(self.kind), self.files.system, _HIVE)
            names = [name for name in self.kinds if name in found.schema.names]
            if not names:
                return found
            fields = [pa.field(name, self.kinds.get(name, kind)) for name, kind in zip(*_columns(found), strict=True)]
            return ds.dataset(list(self.files.paths), pa.schema(fields), _format(self.kind), self.files.system, _HIVE)

    @cached_property
    def names(self) -> tuple[str, ...]:
        with reading(self.files.paths[0], self.kind):
            return tuple(self.dataset.schema.names)

    @cached_property
    def _groups(self) -> list[tuple[Any, int, int]]:
        """(row group, its first row in the file, rows in the files before) per part."""
        found, base = [], 0
        for fragment in self.dataset.get_fragments():
            with reading(fragment.path, self.kind):
                groups, first = fragment.split_by_row_group(), 0
            for group in groups:
                rows = group.row_groups[0].num_rows
                if rows:
                    found.append((group, first, base))
                first += rows
            base += first
        return found

    def parts(self) -> int:
        return len(self._groups) if self.kind == "parquet" else 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.kind != "parquet":
            yield from pieces_in_order(self.dataset, columns, self.kind)
            return
        group, first, base = self._groups[part]
        _refuse_missing(group, columns, self.dataset)
        metadata = group.metadata.row_group(group.row_groups[0].id)
        batches = group.to_batches(
            self.dataset.schema, list(columns), batch_size=_batch_rows(metadata, columns), batch_readahead=1,
            use_threads=False,
        )  # fmt: skip
        with reading(group.path, self.kind):
            for data in batches:
                yield Piece(data, group.path, np.arange(first, first + len(data)), base)
                first += len(data)

    def typed(self, kinds: Mapping[str, pa.DataType]) -> FileTable:
        """The same files, with the kinds of some columns said."""
        return replace(self, kinds=kinds) if self.kind in TEXT else self

    def describe(self) -> str:
        return self.files.describe()


@dataclass(frozen=True)
class DatasetTable:
    """A data set that the user has, filtered or not; read in order as one part."""

    dataset: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.dataset.schema.names)

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        return pieces_in_order(self.dataset, columns, "dataset")

    def describe(self) -> str:
        paths = getattr(self.dataset, "files", None)
        return Files(tuple(paths)).describe() if paths else "data set"


def pieces_in_order(dataset: Any, columns: tuple[str, ...], kind: str) -> Iterator[Piece]:
    """The rows of a data set, file after file; row numbers are those of the rows that its filter leaves."""
    paths = getattr(dataset, "files", None) or ["data set"]
    path, base, first = paths[0], 0, 0
    scanner = dataset.scanner(list(columns), batch_size=MOST_ROWS, use_threads=False)
    found = scanner.scan_batches()
    while True:
        with reading(f"{path}, after row {first}", kind):
            tagged = next(found, None)
        if tagged is None:
            return
        fragment, data = tagged.fragment, tagged.record_batch
        here = getattr(fragment, "path", "data set")
        if here != path:
            path, base, first = here, base + first, 0
        if not first:
            _refuse_missing(fragment, columns, dataset)
        if len(data):
            yield Piece(data, here, np.arange(first, first + len(data)), base)
        first += len(data)


@contextmanager
def reading(where: str, kind: str) -> Iterator[None]:
    """What a file that is not what it should be raises, as one error.

    Raises:
        LogError: it cannot be read.
    """
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        what, remedy = _WANTED[kind]
        said = (
            str(error).split("': ")[-1].partition("\n")[0].removeprefix("Invalid: ")
        )  # without where it was found, which `where` says
        raise LogError(f"{where} cannot be read as {what}: {said}", remedy) from error


def _format(kind: str) -> Any:
    match kind:
        case "parquet":
            return ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False))
        case "arrow":
            return ds.IpcFileFormat()
        case "json":
            return ds.JsonFileFormat()
    options = pyarrow.csv.ConvertOptions(null_values=_NULLS, strings_can_be_null=True, quoted_strings_can_be_null=False)
    return ds.CsvFileFormat(
        pyarrow.csv.ParseOptions(delimiter="\t" if kind == "tsv" else ","),
        ds.CsvFragmentScanOptions(convert_options=options),
    )


def _columns(dataset: Any) -> tuple[list[str], list[pa.DataType]]:
    return dataset.schema.names, dataset.schema.types


def _refuse_missing(fragment: Any, columns: tuple[str, ...], dataset: Any) -> None:
    """Raise if a file lacks a column that the first file has: pyarrow would fill it with nulls."""
    known = {*fragment.physical_schema.names, *ds.get_partition_keys(fragment.partition_expression)}
    missing = [name for name in columns if name not in known and name in dataset.schema.names]
    if missing:
        first = next(iter(dataset.get_fragments())).path
        raise ColumnError(f"{fragment.path} has no column {missing[0]!r}, but {first} has", "mend the file")


def _batch_rows(group: pq.RowGroupMetaData, columns: tuple[str, ...]) -> int:
    """Rows per batch, so that wide lists do not fill the memory."""
    values = 0
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema.split(".")[0] in columns:
            values += column.num_values
    return rows_for(values // max(group.num_rows, 1))
