"""ORC files, whose stripes are read in parallel."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ..errors import UsageError
from .stored import StoredTable
from .tables import bounded


class OrcTable(StoredTable):
    """ORC files; a part is a stripe."""

    kind = "orc"

    def _open(self, path: str) -> Any:
        try:
            library = importlib.import_module("pyarrow.orc")
        except ImportError as error:  # some builds of pyarrow are without
            raise UsageError(f"{path} is ORC, which this pyarrow cannot read", "export Parquet") from error
        return library.ORCFile(self.files.system.open_input_file(path))

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of the first file, and their types."""
        return self._schema(self.files.paths[0])

    def _schema(self, path: str) -> pa.Schema:
        return self._open(path).schema

    def _lengths(self, path: str) -> list[int]:
        """Return the rows of each stripe, which the library tells by reading one column."""
        file = self._open(path)
        return [len(file.read_stripe(number, self._first(file))) for number in range(file.nstripes)]

    def _batches(self, path: str, number: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        found = self._open(path).read_stripe(number, columns)
        yield from bounded(pa.Table.from_batches([found]).select(columns))

    @staticmethod
    def _first(file: Any) -> list[str]:
        return [next((one.name for one in file.schema if not pa.types.is_nested(one.type)), file.schema.names[0])]
