"""CSV, TSV, JSON lines and the user's own data sets, through `pyarrow.dataset`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .files import Files, describe
from .stored import reading, refuse_missing
from .tables import MOST_ROWS, Piece

_NULLS = ["", "NA", "null", "NULL", "nan", "NaN"]
TEXT = ("csv", "tsv", "json")


def library() -> Any:
    """Import `pyarrow.dataset` where it is used, since it imports pandas."""
    return importlib.import_module("pyarrow.dataset")


@dataclass(frozen=True)
class FileTable:
    """Text files of one format, or a user's data set (`given`), filtered or not; read in order as one part.

    Folders called `key=value` give a column. kinds: types of columns of text files that the first rows
    do not show.
    """

    files: Files
    kind: str
    kinds: Mapping[str, pa.DataType] = field(default_factory=dict)
    given: Any = None

    @classmethod
    def of(cls, dataset: Any) -> FileTable:
        """Build a table from a `pyarrow.dataset.Dataset`."""
        return cls(Files(tuple(getattr(dataset, "files", ())) or ("data set",)), "dataset", given=dataset)

    @cached_property
    def dataset(self) -> Any:
        if self.given is not None:
            return self.given
        with reading(self.files.paths[0], self.kind):
            found = self._opened(None)
            kinds = [
                self.kinds.get(name, kind) for name, kind in zip(found.schema.names, found.schema.types, strict=True)
            ]
            named = pa.schema(list(zip(found.schema.names, kinds, strict=True)))
            return found if named == found.schema else self._opened(named)

    def _opened(self, schema: pa.Schema | None) -> Any:
        hive = library().partitioning(flavor="hive")
        return library().dataset(list(self.files.paths), schema, _format(self.kind), self.files.system, hive)

    @cached_property
    def names(self) -> tuple[str, ...]:
        with reading(self.files.paths[0], self.kind):
            return tuple(self.dataset.schema.names)

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, base, first = self.files.paths[0], 0, 0  # rows are numbered after filtering
        near = {"batch_readahead": 2, "fragment_readahead": 1}  # prefetched data wait in memory
        found = self.dataset.scanner(list(columns), batch_size=MOST_ROWS, use_threads=False, **near).scan_batches()
        while True:
            # CSV errors name the line; JSON errors count from the beginning of a block.
            with reading(f"{path}, after row {first}" if self.kind == "json" else path, self.kind):
                tagged = next(found, None)
            if tagged is None:
                return
            fragment, data = tagged.fragment, tagged.record_batch
            here = getattr(fragment, "path", path)
            if here != path:
                path, base, first = here, base + first, 0
            if not first:
                self._refuse_missing(fragment, columns)
            if len(data):
                yield Piece(data, here, np.arange(first, first + len(data)), base)
            first += len(data)

    def typed(self, kinds: Mapping[str, pa.DataType]) -> FileTable:
        """Return the same files with the types of some columns given."""
        return replace(self, kinds=kinds) if self.kind in TEXT else self

    def describe(self) -> str:
        return describe(self.files.paths)

    def stamp(self) -> dict[str, Any] | None:
        return None if self.given is not None else self.files.stamp()

    def _refuse_missing(self, fragment: Any, columns: tuple[str, ...]) -> None:
        """Raise if a file lacks a column of the first file, which pyarrow would fill with nulls."""
        told = library().get_partition_keys(fragment.partition_expression)
        refuse_missing(
            getattr(fragment, "path", "data set"),
            [*fragment.physical_schema.names, *told],
            columns,
            self.files.paths[0],
        )


def _format(kind: str) -> Any:
    ds = library()
    if kind == "json":
        return ds.JsonFileFormat()
    options = pyarrow.csv.ConvertOptions(null_values=_NULLS, strings_can_be_null=True, quoted_strings_can_be_null=False)
    return ds.CsvFileFormat(
        pyarrow.csv.ParseOptions(delimiter="\t" if kind == "tsv" else ","),
        ds.CsvFragmentScanOptions(convert_options=options),
    )
