"""Files of learning to rank: queries in SVMlight's text with positions beside them, and sessions in CLAX's Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import LogError, UsageError
from ...log.batch import Integers
from ...log.graded_queries import Judged
from .. import flat
from ..computed_columns import in_lists
from ..description import Description
from ..files import find
from ..opening import Beginning
from ..parquet_orc_arrow import ParquetTable
from ..svmlight import read_svmlight
from ..tables import MemoryTable, Piece, refuse_lacking
from ..text import whole_lines
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_LINE = re.compile(r"-?\d+(\.\d+)?( qid:\d+)?( \d+:[-+.\deE]+)+\s*(#.*)?")
_POSITIONS = ".position"
_LOOKED_AT = 20
"""Lines that must all be in the format."""


@READERS.register
@Reader.of("pairs")
def svmlight(path: str | PathLike[str], *, positions: str = "", invalid: Invalid = "raise") -> WideLog:
    """Read a query file of LightGBM or XGBoost whose labels are clicks, with the positions of its documents.

    - positions: the file of positions, one a line; by default the one beside the data that ends in `.position`.

    An impression is a query: its slate is its documents by their positions, which are taken for an order. Columns:
    slate (the numbers of the lines), clicks, `query`, `features` (a vector for each document, beside `candidates`). No
    propensities were logged. All is held in memory.

    Labels other than 0 and 1 are judgements, not clicks, and without positions nobody knows what was shown: such files
    are refused. `offrank simulate` takes them, and draws clicks of its own.

    Raises:
        UsageError: the argument is not a path. LogError: there are no positions or no clicks, or a line is none.
    """
    if not isinstance(path, str | PathLike):
        raise UsageError(f"{type(path).__name__} is not a path", "give the path of one file")
    where = fspath(path)
    beside = positions or where.removesuffix(".gz") + _POSITIONS
    if not Path(beside).is_file():
        raise LogError(
            f"{where} has judged documents but no positions, so it does not say what was shown",
            f"give the positions as {beside}, or simulate users: offrank simulate --data {where}",
        )
    judged = read_svmlight(where)
    if not np.isin(judged.grade, (0, 1)).all():
        raise LogError(
            f"{where} has labels other than 0 and 1: they are judgements, and clicks are missing",
            f"use a file whose labels are clicks, or simulate users: offrank simulate --data {where}",
        )
    table = _in_positions(judged, _places(beside, judged.rows))
    return WideLog(MemoryTable(table, where), {}, invalid, description=Description("wide"))


@svmlight.recognised
def _is_svmlight(beginning: Beginning) -> Mapping[str, Any] | None:
    found = [line for line in beginning.text.splitlines()[:_LOOKED_AT] if not line.startswith("#")]
    return {} if len(beginning.paths) == 1 and found and all(map(_LINE.fullmatch, found)) else None


def _places(path: str, rows: int) -> Any:
    """Return the position of each document [rows]."""
    found = [*whole_lines(path, 0, "a position, a whole number", "give one position per line")]
    if len(found) != rows:
        raise LogError(f"{path} has {len(found):,} positions for {rows:,} documents", "give one for each document")
    return np.array(found)


def _in_positions(judged: Judged, places: Any) -> pa.Table:
    """Return a row per query, its documents by their positions."""
    order = np.lexsort((places, judged.owner))
    again = (np.diff(places[order]) == 0) & (np.diff(judged.owner[order]) == 0)
    if again.any():
        query = judged.query[judged.owner[order[1:][again][0]]]
        raise LogError(f"two documents of query {query} have the same position", "give each document its own position")
    ends, columns = pa.array(judged.first, pa.int64()), {"slate": judged.document, "clicks": judged.grade}
    made = {name: pa.LargeListArray.from_arrays(ends, pa.array(of[order])) for name, of in columns.items()}
    width = judged.features.shape[1]
    vectors = in_lists(pa.array(judged.features[order].ravel()), width)
    return pa.table(made | {"query": judged.query, "features": pa.LargeListArray.from_arrays(ends, vectors)})


_LISTS = {"slate": "query_doc_ids", "clicks": "clicks", "labels": "labels"}
_READ = (*_LISTS.values(), "positions", "mask", "query_id")
_LOWEST = 1000
"""The highest position that is read."""


@READERS.register
@Reader.of("wide", own=("query_doc_ids", "clicks"))
def clax(path: str | Path | Sequence[str | Path], *, invalid: Invalid = "raise") -> WideLog:
    """Read sessions in the Parquet layout of CLAX's data sets: a file, a folder or a glob.

    Columns: slate (the ids at their positions, from 1 as they are; positions without one are empty), clicks, `query`
    (the `query_id`) and `labels` beside the items, where they are there, and the file's others. Places are padding
    where `mask` is false or the id is 0. The ids are of pairs of query and document already, so that they identify
    documents without a query. Lists hold numbers of any type.

    Raises:
        LogError: there is no file; while reading, a list has another length than its ids, or a position is none.
        ColumnError: query_doc_ids or clicks is missing.
    """
    stored = ParquetTable(find(path, (".parquet",)))
    refuse_lacking(stored, ("query_doc_ids", "clicks"), "give sessions in CLAX's layout")
    return WideLog(ClaxTable(stored), {}, invalid)


@dataclass(frozen=True)
class ClaxTable:
    """Parquet files in the layout of CLAX, seen as a wide table."""

    stored: ParquetTable

    @property
    def names(self) -> tuple[str, ...]:
        lists = (name for name, column in _LISTS.items() if column in self.stored.names)
        query = ("query",) if "query_id" in self.stored.names else ()
        return (*lists, *query, *(name for name in self.stored.names if name not in _READ))

    def parts(self) -> int:
        return self.stored.parts()

    def describe(self) -> str:
        return self.stored.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        source = {name: "query_id" if name == "query" else _LISTS.get(name, name) for name in columns}
        always = ["query_doc_ids", *(name for name in ("positions", "mask") if name in self.stored.names)]
        for piece in self.stored.pieces(part, tuple(dict.fromkeys([*always, *source.values()]))):
            places = SessionPlaces(piece)
            made = {name: places.column(name, column) for name, column in source.items()}
            yield replace(piece, data=pa.record_batch(made))


class SessionPlaces:
    """The places of a piece that are no padding: flat indices `at`, and row and position (from 0) of each.

    Raises:
        LogError: a list has another length than its ids, or a position is no whole number from 1 or comes twice.
    """

    def __init__(self, piece: Piece) -> None:
        self.piece, self.rows = piece, len(piece.data)
        ids = flat.lists(piece.data.column("query_doc_ids"), "query_doc_ids")
        self.lengths = ids.lengths
        row = ids.row
        kept = flat.id_codes(ids.values, "query_doc_ids") > 0
        position = ids.place.astype(np.float64)
        if "mask" in piece.data.schema.names:
            kept &= self._flat("mask") > 0
        if "positions" in piece.data.schema.names:
            position = self._flat("positions") - 1
        wrong = kept & ~((position >= 0) & (position < _LOWEST) & (position % 1 == 0))
        self.at = np.flatnonzero(kept & ~wrong)
        self.row, self.position = row[self.at], position[self.at].astype(np.int64)
        order = np.lexsort((self.position, self.row))
        self.at, self.row, self.position = self.at[order], self.row[order], self.position[order]
        twice = (np.diff(self.row) == 0) & (np.diff(self.position) == 0)
        self._refuse(row[wrong], "a position is not a whole number from 1 to 1,000")
        self._refuse(self.row[1:][twice], "two documents have the same position")

    def column(self, name: str, column: str) -> pa.Array:
        """Return a column of the wide layout."""
        data = self.piece.data.column(column)
        if name not in _LISTS:
            return data
        values = flat.lists(data, column).values if name == "slate" else pa.array(self._flat(column))
        if name == "labels":  # beside the items, without gaps
            return flat.lists_of(values.take(pa.array(self.at)), np.bincount(self.row, minlength=self.rows))
        lengths = np.zeros(self.rows, np.int64)
        np.maximum.at(lengths, self.row, self.position + 1)
        place = np.full(lengths.sum(), -1)
        place[(np.cumsum(lengths) - lengths)[self.row] + self.position] = self.at
        return flat.lists_of(values.take(pa.array(place, mask=place < 0)), lengths)

    def _flat(self, column: str) -> NDArray[np.float64]:
        """Return the values of a list column that stands beside the ids."""
        found = flat.lists(self.piece.data.column(column), column)
        self._refuse(
            np.flatnonzero(found.lengths != self.lengths), f"{column!r} does not have the length of its query_doc_ids"
        )
        return flat.numbers(found.values, column)

    def _refuse(self, rows: Integers, why: str) -> None:
        if len(rows):
            where = f"{self.piece.file}, row {int(self.piece.rows[rows.min()])} (the first is 0)"
            raise LogError(f"{where}: {why}", "correct the session, or remove it")
