"""Spark as an engine: a log is reduced where its rows are, and one state of each partition comes back."""

from __future__ import annotations

import importlib
import json
import re
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import itemgetter, xor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from .. import errors
from ..errors import LogError, OffrankError, UsageError
from ..log.batch import Integers
from .executors import Progress
from .states import dumps, loads

S = TypeVar("S")

_NUMBER = "__offrank_number"
"""The column that tells a row's partition (upper bits) and its place there (lower 33 bits), from Spark."""

_DIGEST = "__offrank_digest"
_PLACE_BITS = 33
_RETURNED = "partition bigint, rows bigint, digest bigint, failed boolean, answer binary"


@dataclass(eq=False)
class PartitionRows:
    """What a table reads: on an executor the rows of one partition, elsewhere none.

    asked: the columns that were asked for last. bases: [partitions] the number of rows in the partitions before each.
    rows, digest: of what was read so far.
    """

    batches: Iterable[pa.RecordBatch] | None = None
    bases: Integers = field(default_factory=lambda: np.zeros(1, np.int64))
    asked: tuple[str, ...] = ()
    rows: int = 0
    digest: int = 0

    def read(self, columns: tuple[str, ...]) -> Iterator[tuple[pa.RecordBatch, Integers]]:
        """Yield record batches of the partition, and the numbers of their rows in the whole log."""
        self.asked = columns
        for data in self.batches or ():
            number = np.asarray(data.column(_NUMBER))
            self.rows += len(data)
            self.digest ^= int(np.bitwise_xor.reduce(np.asarray(data.column(_DIGEST))))
            partition = np.minimum(number >> _PLACE_BITS, len(self.bases) - 1)  # more than were counted: refused later
            yield data.select(list(columns)), self.bases[partition] + (number & ((1 << _PLACE_BITS) - 1))


@dataclass(frozen=True, eq=False)
class Spark:
    """A Spark DataFrame, classic or Connect. where: its name in errors; rows: what tables read on the executors.

    together: a column; rows of equal values are brought into one partition and stand there in their order.
    counted: column -> (bases, rows, digest), found by a first count of the partitions and shared by all passes.
    """

    frame: Any
    where: str
    rows: PartitionRows
    together: str | None = None
    counted: dict[str, tuple[Integers, int, int]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the DataFrame, which stays on this machine."""
        return Spark, (None, self.where, self.rows, self.together)

    def each(self, task: Callable[[int], S], progress: Progress | None = None) -> Iterator[S]:
        """Return what `task(0)` returns in each partition, in their order; the table is the partition there.

        Raises:
            LogError: Spark fails.
            UsageError: the partitions do not hold the same rows as in the first pass.
            OffrankError: the first error of a task, as it was raised.
            RuntimeError: any other error of a task, with its words and where it was.
        """
        columns = self._asked(task)
        bases, rows, digest = self._count(columns[0])
        job = partial(_answered, task, self.rows, bases)
        found = self._collected(lambda: self._read(columns, len(bases)).mapInArrow(job, _RETURNED))
        found.sort(key=itemgetter("partition"))
        if raised := [_raised(one["answer"]) for one in found if one["failed"]]:
            raise min(raised, key=lambda error: getattr(error, "row", -1))
        if sum(one["rows"] for one in found) != rows or reduce(xor, (one["digest"] for one in found), 0) != digest:
            raise UsageError(
                f"the partitions of the {self.where} had other rows, or another order, when they were read again",
                "keep them: log = log.cache(), or save the log as a table and give that",
            )
        for done, one in enumerate(found, 1):
            yield loads(one["answer"])
            if progress is not None:
                progress(done, len(found))

    def head(self, columns: tuple[str, ...], most: int) -> list[tuple[pa.RecordBatch, Integers]]:
        """Return the first rows in record batches, and their numbers in the whole log."""
        bases, *_ = self._count(columns[0])
        read = self._read(columns, len(bases)).limit(most)
        found = self._collected(lambda: read.mapInArrow(_fetched, "rows binary"))
        batches = [each for (rows,) in found for each in pa.ipc.open_stream(rows)]
        return list(PartitionRows(batches, bases).read(columns))

    def _asked(self, task: Callable[[int], Any]) -> tuple[str, ...]:
        """Return the columns that a task reads: it runs here once on no rows. A copy, as on the executors."""
        cloudpickle = importlib.import_module("pyspark.cloudpickle")
        alone, rows = cloudpickle.loads(cloudpickle.dumps((task, self.rows)))
        rows.batches = ()
        alone(0)
        return tuple(rows.asked)

    def _read(self, columns: tuple[str, ...], partitions: int) -> Any:
        """Return the columns, then each row's number and digest; rows that belong together are together."""
        read = self.frame.selectExpr(*map(_quoted, columns), *self._numbered(columns[0]))
        if self.together is None:
            return read
        column = _quoted(self.together)
        return read.repartition(partitions, column).sortWithinPartitions(column, _quoted(_NUMBER))

    @staticmethod
    def _numbered(column: str) -> tuple[str, str]:
        number = "monotonically_increasing_id()"
        return f"{number} AS `{_NUMBER}`", f"xxhash64({number}, {_quoted(column)}) AS `{_DIGEST}`"

    def _count(self, column: str) -> tuple[Integers, int, int]:
        """Return the rows before each partition, all rows, and a digest of a column in its order."""
        if column not in self.counted:
            wanted, sums = ("spark_partition_id() AS part", "1 AS n", self._numbered(column)[1]), {"n": "sum"}
            found = self._collected(
                lambda: self.frame.selectExpr(*wanted).groupBy("part").agg(sums | {_DIGEST: "bit_xor"})
            )
            rows = np.zeros(max((one["part"] for one in found), default=0) + 1, np.int64)
            for one in found:
                rows[one["part"]] = one["sum(n)"]
            digest = reduce(xor, (one[f"bit_xor({_DIGEST})"] for one in found), 0)
            self.counted[column] = np.cumsum(rows) - rows, int(rows.sum()), digest
        return self.counted[column]

    def _collected(self, small: Callable[[], Any]) -> list[Any]:
        """Collect a small result; interrupting cancels the job.

        Raises:
            LogError: Spark fails.
        """
        with _cancelling(self.frame.sparkSession):
            try:
                return list(small().collect())
            except Exception as error:
                if _interrupted(error):
                    raise KeyboardInterrupt from error
                raise self._failed(error) from error

    def _failed(self, error: Exception) -> OffrankError:
        said = str(error)
        if missing := re.search(r"ModuleNotFoundError: No module named '([^']+)'", said):
            return UsageError(
                f"{missing[1]} is not installed where Spark runs Python",
                "install it there in the same version as here, or send it along: spark.archives",
            )
        first = said.strip().partition("\n")[0][:300] or type(error).__name__
        return LogError(f"Spark cannot read the {self.where}: {first}", "show() must work on the DataFrame")


def _answered(
    task: Callable[[int], Any], rows: PartitionRows, bases: Integers, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the one row that a partition returns. Runs on an executor."""
    rows.batches, rows.bases, failed = batches, bases, False
    try:
        answer = dumps(task(0))
    except Exception as error:  # noqa: BLE001  any error is raised again, on the driver
        answer, failed = _told(error), True
    partition = importlib.import_module("pyspark").TaskContext.get().partitionId()
    told = {"partition": partition, "rows": rows.rows, "digest": rows.digest, "failed": failed, "answer": answer}
    yield pa.RecordBatch.from_pylist([told])


def _fetched(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield record batches with their types. Runs on an executor."""
    for data in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, data.schema) as stream:
            stream.write_batch(data)
        yield pa.RecordBatch.from_pylist([{"rows": sink.getvalue().to_pybytes()}])


def _told(error: Exception) -> bytes:
    """Return an error as text: its class and arguments, if it is one of ours; else its words and where it was."""
    if isinstance(error, OffrankError):
        return json.dumps([type(error).__name__, error.__reduce__()[1]], default=int).encode()
    return json.dumps([None, [f"{type(error).__name__}: {error}", traceback.format_exc()]]).encode()


def _raised(told: bytes) -> Exception:
    """Return the error that `_told` wrote."""
    name, given = json.loads(told)
    if name is not None:
        known: type[OffrankError] = getattr(errors, name)
        return known(*given)
    error = RuntimeError(given[0])
    error.add_note(f"on a Spark executor:\n{given[1]}")
    return error


@contextmanager
def _cancelling(session: Any) -> Iterator[None]:
    """Cancel the jobs that are begun inside, if that is left by an exception such as an interruption."""
    connect = ".connect." in type(session).__module__
    owner = session if connect else session.sparkContext
    names = ("addTag", "removeTag", "interruptTag") if connect else ("addJobTag", "removeJobTag", "cancelJobsWithTag")
    add, remove, cancel = (getattr(owner, name) for name in names)
    tag = f"offrank-{uuid.uuid4().hex}"
    add(tag)
    try:
        yield
    except BaseException:
        cancel(tag)
        raise
    finally:
        remove(tag)


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the cause: pyspark may raise an error of its own where it waited for an answer."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
