"""A simulated log as a table of the readers, so that it can be written like any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..log.batch import LogBatch
from ..log.source import Needs, Source
from ..readers.tables import Piece

_BESIDE = frozenset(["query", "slate", "clicks", "candidates", "propensity"])


class Simulated(Protocol):
    """A source that knows its columns."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def parts(self) -> int: ...

    def select(self, needed: Needs) -> Source: ...

    def describe(self) -> str: ...


@dataclass(frozen=True)
class SimulatedTable:
    """The columns of a simulated log, without the matrices of rank propensities."""

    source: Simulated

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.source.names if name != "rank_propensity")

    def parts(self) -> int:
        return self.source.parts()

    def describe(self) -> str:
        return self.source.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        roles = frozenset(columns) & {"clicks", "candidates", "propensity"}
        needed = Needs(roles, frozenset(columns) - _BESIDE, keys=frozenset(columns) & {"query"})
        for batch in self.source.select(needed).batches(part):
            data = {name: _column(batch, name) for name in columns}
            yield Piece(pa.record_batch(data), self.describe(), batch.row.astype(np.int64))


def _column(batch: LogBatch, name: str) -> Any:
    contexts, clicks = batch.contexts, batch.clicks
    assert clicks is not None
    match name:
        case "query":
            return contexts.keys["query"]
        case "slate":
            return lists(np.take_along_axis(contexts.candidates, batch.slates, axis=1))
        case "clicks":
            return lists(clicks.astype(np.int8))
        case "candidates":
            return lists(contexts.candidates)
        case "propensity":
            return batch.shown.written["propensity"]
        case _:
            return lists(contexts.scores[name])


def lists(rows: NDArray[Any]) -> pa.Array:
    """[n, w] as a list column without nulls."""
    offsets = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
    kind = pa.list_(pa.field("item", pa.from_numpy_dtype(rows.dtype), nullable=False))
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(rows).ravel(), type=kind)
