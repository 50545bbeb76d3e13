"""Grouping of the rows of long tables by impression: checked, sorted, and gathered if they are scattered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..language.files import scratch
from ..log import _kernels, rules
from ..log.batch import Floats, Integers
from ..log.hashing import hashed
from ..log.python_values import as_arrow
from ..log.rules import Faults
from ..log.source import OnePart
from . import flat
from .conversions import RAW, clicks_of_items
from .decode import comes_again
from .tables import MOST_ROWS, Piece, Table, TableOver, all_pieces, unified_table

_LOWEST = 1000
"""The highest rank number allowed where ranks may be missing: slates are as long as their largest rank."""

_ROOM = 1_000_000
_ROW = "\0row"


class Rows:
    """The rows of a piece by impression: `starts` of each, `ends` with the end of the last, `of_row` [n].

    Raises:
        RowError: the id of an impression is null.
    """

    def __init__(self, piece: Piece, impression: str) -> None:
        self.piece, self.impression = piece, impression
        column = piece.data.column(impression)
        missing = Faults(np.zeros(len(column), np.int16))
        missing.mark(flat.nulls(column), rules.NULL, impression)
        if error := missing.first(piece.file, piece.rows, self.show):
            raise piece.located(error)
        codes = flat.id_codes(column, impression)
        begins = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
        self.starts: Integers = np.flatnonzero(begins)
        self.ends = np.append(self.starts, len(codes))
        self.of_row: Integers = np.cumsum(begins) - 1
        self._counted: dict[str, tuple[dict[str, Any], Integers, Integers]] = {}

    def count(self, column: str, top: int = 1, *, kept: bool = False, closed: bool = False) -> NDArray[np.bool_]:
        """Return the rows whose rank is not the next one of its impression [n], counted from `top`.

        kept: gaps stay, so that ranks must only be distinct. closed: ranks give the order only.
        The order is kept for `ordered`: the row of each rank, -1 for a missing rank, and where impressions begin.
        """
        rank = flat.numbers(self.piece.data.column(column), column) - (top - 1)
        order = np.flatnonzero(~np.isnan(rank))
        of_row, place = self.of_row[order], rank[order]
        if not ((of_row[1:] != of_row[:-1]) | (place[1:] >= place[:-1])).all():  # most logs are in this order
            order = order[np.lexsort((place, of_row))]
            of_row, place = self.of_row[order], rank[order]
        counts = np.bincount(of_row, minlength=len(self.starts))
        if kept or closed:
            fine = np.append(True, (of_row[1:] != of_row[:-1]) | (place[1:] > place[:-1]))[: len(order)]
        else:
            fine = place == np.arange(len(order)) - (np.cumsum(counts) - counts)[of_row] + 1
        if kept:
            fine &= (place >= 1) & (place <= _LOWEST) & (np.floor(place) == place)
        wrong = np.zeros(len(rank), np.bool_)
        wrong[order[~fine]] = True
        if kept:  # the last place of each impression is its largest rank
            order, of_row, place = order[fine], of_row[fine], place[fine].astype(np.int64)
            counts = np.zeros(len(self.starts), np.int64)
            counts[of_row] = place
            spread = np.full(counts.sum(), -1)
            spread[(np.cumsum(counts) - counts)[of_row] + place - 1] = order
            order = spread
        begin = np.append(0, np.cumsum(counts))
        self._counted[column] = {"top": top, "kept": kept, "closed": closed}, order, begin
        return wrong

    def copies(self, item: str, rank: str) -> tuple[NDArray[np.bool_], int]:
        """Return the rows with the item and rank of an earlier one of their impression [n]; the row of the first."""
        ranks = np.nan_to_num(flat.numbers(self.piece.data.column(rank), rank), nan=-1.0)
        codes = flat.id_codes(self.piece.data.column(item), item) ^ hashed(ranks.view(np.uint64)).view(np.int64)
        again = comes_again(self.of_row, codes, np.ones(len(codes), np.bool_))
        first = int(again.argmax())
        alike = (self.of_row == self.of_row[first]) & (codes == codes[first])
        return again, int(self.piece.rows[alike.argmax()])

    def count_clicks(self, name: str, item: str) -> NDArray[np.bool_]:
        """Put numbers in the place of the ids of clicked items; return the impressions that name other items."""
        data = self.piece.data
        clicks, wrong = clicks_of_items(data.column(name), data.column(item), self.starts)
        data = data.append_column(RAW + name, data.column(name))
        place = data.schema.get_field_index(name)
        self.piece = replace(self.piece, data=data.set_column(place, name, as_arrow(clicks)))
        return wrong

    def ordered(self, name: str, rank: str) -> pa.Array:
        """Return a column as a list per impression, in the order of a column of ranks; null at a missing rank."""
        _, order, begin = self._counted[rank]
        missing = order < 0
        places = as_arrow(order, missing)
        return flat.lists_between(self.piece.data.column(name).take(places), begin)

    def differing(self, name: str) -> NDArray[np.bool_]:
        """Return the rows whose value differs from their impression's first row [n]."""
        column = self.piece.data.column(name)
        if pa.types.is_floating(column.type):
            values = flat.numbers(column, name)
            first = values[self.starts][self.of_row]
            return np.asarray((values != first) & ~(np.isnan(values) & np.isnan(first)))
        codes, nulls = flat.id_codes(column, name), flat.nulls(column)
        found = codes != codes[self.starts][self.of_row]
        return np.asarray(found | (nulls != nulls[self.starts][self.of_row]) if nulls.any() else found)  # 0 is not null

    def show(self, column: str, row: int) -> str:
        """Format a value for an error message."""
        raw = RAW + column
        return flat.show_value(self.piece.data.column(raw if raw in self.piece.data.schema.names else column), row)

    def without(self, faults: Faults, outcome: Container[str], earned: Floats) -> Rows:
        """Drop impressions with a faulty row; each counts once, for its first such row.

        outcome, earned: as `Faults.dropped` takes them, of impressions.
        """
        bad = np.flatnonzero(faults.which)
        impressions, first = np.unique(self.of_row[bad], return_index=True)
        own = Faults(np.zeros(len(self.starts), np.int16))
        own.rules, own.which[impressions] = faults.rules, faults.which[bad[first]]
        keep = own.which[self.of_row] == 0
        data, told = self.piece.data.filter(as_arrow(keep)), (own.counts(), own.dropped(outcome, earned))
        kept = Rows(Piece(data, self.piece.file, self.piece.rows[keep], self.piece.base, *told), self.impression)
        for column, (how, _, _) in self._counted.items():
            kept.count(column, **how)
        return kept


@dataclass(frozen=True)
class GatheredTable(OnePart, TableOver):
    """A table with the rows of each impression together, in their order; impressions are ordered by first row.

    Beyond a million rows, each part of the impressions is kept in a temporary file. Rows are numbered across all
    files.
    """

    table: Table
    impression: str
    rows: int

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        left_out: Counter[str] = Counter()
        for piece in self._all(columns, left_out):
            yield replace(piece, skipped=dict(left_out)) if left_out else piece
            left_out.clear()

    def _all(self, columns: tuple[str, ...], left_out: Counter[str]) -> Iterator[Piece]:
        """Yield the gathered rows. left_out: is filled with what the table leaves out before the first."""
        if self.rows <= _ROOM:
            yield from self._gathered(list(self._numbered(columns, left_out)))
            return
        with scratch(Path(gettempdir()), "offrank-") as folder:
            for paths in self._spread(folder, columns, left_out):
                with ExitStack() as open_files:
                    found = [open_files.enter_context(pa.ipc.open_stream(pa.memory_map(str(path)))) for path in paths]
                    batches = [batch for one in found for batch in one]
                    yield from self._gathered(sorted(batches, key=lambda batch: batch.column(_ROW)[0].as_py()))

    def _numbered(self, columns: tuple[str, ...], left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
        """Yield all rows with their numbers."""
        for piece in all_pieces(self.table, columns):
            left_out.update(piece.skipped)
            yield flat.plain_columns(piece.data).append_column(_ROW, as_arrow(piece.rows + piece.base))

    def _spread(self, folder: Path, columns: tuple[str, ...], left_out: Counter[str]) -> list[list[Path]]:
        """Write the rows to files: all rows of an impression in one group of them, with a file for each schema."""
        groups = -(-self.rows // _ROOM)
        writers: dict[pa.Schema, list[pa.RecordBatchStreamWriter]] = {}
        paths: list[list[Path]] = [[] for _ in range(groups)]
        with ExitStack() as open_files:
            for data in self._numbered(columns, left_out):
                if data.schema not in writers:
                    for number, group in enumerate(paths):
                        group.append(folder / f"{number}-{len(writers)}")
                    streams = [pa.ipc.new_stream(str(group[-1]), data.schema) for group in paths]
                    writers[data.schema] = [open_files.enter_context(stream) for stream in streams]
                codes = flat.id_codes(data.column(self.impression), self.impression).view(np.uint64)
                place = hashed(codes) % np.uint64(groups)
                for number in np.unique(place).tolist():
                    writers[data.schema][number].write_batch(data.filter(as_arrow(place == number)))
        return paths

    def _gathered(self, batches: list[pa.RecordBatch]) -> Iterator[Piece]:
        if not batches:
            return
        table = unified_table(batches)
        codes = np.concatenate([flat.id_codes(one, self.impression) for one in table.column(self.impression).chunks])
        which = flat.as_numpy(as_arrow(codes).dictionary_encode().indices)  # the number of each, by its first row
        order, counts = np.empty(len(which), np.int64), np.bincount(which)
        _kernels.in_groups(which, np.cumsum(counts) - counts, order)
        ordered = table.take(as_arrow(order))
        for data in ordered.to_batches(max_chunksize=MOST_ROWS):
            rows = flat.as_numpy(data.column(_ROW))
            yield Piece(data.drop_columns([_ROW]), self.describe(), rows)
