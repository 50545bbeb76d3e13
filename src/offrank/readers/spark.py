"""Spark DataFrames as tables: their rows stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ..errors import LogError, UsageError, optional
from ..log.source import OnePart, refuse_placed
from ..running.spark import PartitionRows, Spark
from .files import SPARK
from .tables import Piece, bounded

_FIRST = 256
"""Rows that are fetched to try a job on, before all are read where they are."""


@dataclass(frozen=True, eq=False)
class SparkTable(OnePart):
    """A Spark DataFrame, classic or Connect; on Spark's executors, the rows of one partition of it.

    Its rows are numbered in the order of its partitions.
    """

    names: tuple[str, ...]
    spark: Spark

    @classmethod
    def of(cls, frame: Any, where: str = "Spark DataFrame") -> SparkTable:
        """Build a table from a DataFrame; raise a `UsageError` if it is a stream."""
        if frame.isStreaming:
            raise UsageError(f"the {where} is a stream, which has no end", "give a table that can be read again")
        return cls(tuple(frame.columns), Spark(frame, where, PartitionRows()))

    @classmethod
    def named(cls, name: str) -> SparkTable:
        """Build a table from its name in Spark, in the session that is active or that Spark's own settings give.

        Raises:
            MissingExtraError: pyspark is not installed.
            LogError: Spark has no such table.
        """
        session = optional("pyspark.sql", "reading a Spark table needs pyspark", "spark").SparkSession
        try:
            return cls.of(session.builder.getOrCreate().table(name), f"{SPARK}{name}")
        except Exception as error:
            first = str(error).partition("\n")[0]
            raise LogError(f"{SPARK}{name} cannot be read: {first}", "name a table: spark:db.table") from error

    def engine(self) -> Spark | None:
        """Return what reduces it where its rows are."""
        return self.spark

    def grouped(self, column: str) -> SparkTable:
        """Return the same rows, with equal values of a column in one partition, side by side in their order."""
        return replace(self, spark=replace(self.spark, together=column))

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.spark.rows.batches is None:
            yield from self._first(columns)
            return
        for data, rows in self.spark.rows.read(columns):
            start = 0
            for some in bounded(pa.Table.from_batches([data])):
                yield Piece(some, self.describe(), rows[start : start + len(some)])
                start += len(some)

    def _first(self, columns: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the first rows, where only these are on this machine; there must be no need for more."""
        fetched = 0
        for data, rows in self.spark.head(columns, _FIRST):
            yield Piece(data, self.describe(), rows)
            fetched += len(rows)
        if fetched == _FIRST:
            refuse_placed(self, "this job reads all rows")

    def describe(self) -> str:
        return self.spark.where
