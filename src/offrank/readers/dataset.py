"""CSV, TSV, JSON lines and data sets of the user, through `pyarrow.dataset`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from ..errors import ColumnError
from .files import Files
from .tables import MOST_ROWS, Piece, reading

_NULLS = ["", "NA", "null", "NULL", "nan", "NaN"]
TEXT = ("csv", "tsv", "json")


def library() -> Any:
    """`pyarrow.dataset`, which is imported where it is used, since it imports pandas."""
    return importlib.import_module("pyarrow.dataset")


@dataclass(frozen=True)
class FileTable:
    """Files of one kind, read in order as one part.

    Folders called `key=value` give a column. kinds: types of columns of text files, where they cannot be read off the
    first rows.
    """

    files: Files
    kind: str
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)

    @cached_property
    def dataset(self) -> Any:
        ds = library()
        hive = ds.partitioning(flavor="hive")
        with reading(self.files.paths[0], self.kind):
            found = ds.dataset(list(self.files.paths), None, _format(self.kind), self.files.system, hive)
            names = [name for name in self.kinds if name in found.schema.names]
            if not names:
                return found
            fields = [pa.field(name, self.kinds.get(name, kind)) for name, kind in zip(*_columns(found), strict=True)]
            return ds.dataset(list(self.files.paths), pa.schema(fields), _format(self.kind), self.files.system, hive)

    @cached_property
    def names(self) -> tuple[str, ...]:
        with reading(self.files.paths[0], self.kind):
            return tuple(self.dataset.schema.names)

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        return pieces_in_order(self.dataset, columns, self.kind)

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
    near = {"batch_readahead": 2, "fragment_readahead": 1}  # what is read ahead waits in memory
    scanner = dataset.scanner(list(columns), batch_size=MOST_ROWS, use_threads=False, **near)
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


def _format(kind: str) -> Any:
    ds = library()
    match kind:
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
    ds = library()
    known = {*fragment.physical_schema.names, *ds.get_partition_keys(fragment.partition_expression)}
    missing = [name for name in columns if name not in known and name in dataset.schema.names]
    if missing:
        first = next(iter(dataset.get_fragments())).path
        raise ColumnError(f"{fragment.path} has no column {missing[0]!r}, but {first} has", "mend the file")
