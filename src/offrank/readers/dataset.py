"""The user's own data sets of `pyarrow.dataset`, filtered or not."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .column_sets import refuse_missing
from .files import describe
from .parquet_orc_arrow import file_errors
from .tables import MOST_ROWS, Piece


@dataclass(frozen=True)
class DatasetTable:
    """A `pyarrow.dataset.Dataset`, read in order as one part, with its own partitions, filters and file system."""

    dataset: Any

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.dataset.schema.names)

    def parts(self) -> int:
        return 1

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        path, base, first = self._paths[0], 0, 0  # rows are numbered after filtering
        near = {"batch_readahead": 2, "fragment_readahead": 1}  # prefetched data wait in memory
        found = self.dataset.scanner(list(columns), batch_size=MOST_ROWS, use_threads=False, **near).scan_batches()
        while True:
            with file_errors(path, "dataset"):
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

    def describe(self) -> str:
        return describe(self._paths)

    @property
    def _paths(self) -> tuple[str, ...]:
        return tuple(getattr(self.dataset, "files", ())) or ("data set",)

    def _refuse_missing(self, fragment: Any, columns: tuple[str, ...]) -> None:
        """Raise if a file lacks a column of the first file, which pyarrow would fill with nulls."""
        # pyarrow.dataset imports pandas; whoever has a data set has imported it.
        told = importlib.import_module("pyarrow.dataset").get_partition_keys(fragment.partition_expression)
        here = getattr(fragment, "path", "data set")
        own = [*fragment.physical_schema.names, *told]
        refuse_missing(here, own, columns, self._paths[:1], lambda _: columns, self.names)
