"""Long tables whose rows do not stand together by impression: put together, without holding the log in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from ..log.hashing import hashed
from . import arrow
from .tables import MOST_ROWS, Piece, Table

_ROOM = 1_000_000
_ROW = "\0row"


@dataclass(frozen=True)
class GatheredTable:
    """A table with the rows of each impression together, in their order; impressions in order of their first rows.

    Of more than a million rows each part of the impressions waits in a temporary file. Rows are numbered through all
    files.
    """

    table: Table
    impression: str
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    def parts(self) -> int:
        return 1

    def describe(self) -> str:
        return self.table.describe()

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.rows <= _ROOM:
            yield from self._gathered(list(self._numbered(columns)))
            return
        with TemporaryDirectory(prefix="offrank-") as folder:
            for path in self._spread(Path(folder), columns):
                with pa.ipc.open_stream(pa.memory_map(str(path))) as found:
                    yield from self._gathered(list(found))

    def _numbered(self, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """All rows, each with its number."""
        for part in range(self.table.parts()):
            for piece in self.table.pieces(part, columns):
                data = arrow.plain_columns(piece.data)
                yield data.append_column(_ROW, pa.array(piece.rows + piece.base))

    def _spread(self, folder: Path, columns: tuple[str, ...]) -> list[Path]:
        """The rows in files, those of an impression all in one."""
        paths = [folder / str(number) for number in range(-(-self.rows // _ROOM))]
        writers: list[pa.RecordBatchStreamWriter] = []
        with ExitStack() as open_files:
            for data in self._numbered(columns):
                writers = writers or [open_files.enter_context(pa.ipc.new_stream(str(p), data.schema)) for p in paths]
                codes = arrow.codes(data.column(self.impression), self.impression).view(np.uint64)
                place = hashed(codes) % np.uint64(len(paths))
                for number in np.unique(place).tolist():
                    writers[number].write_batch(data.filter(pa.array(place == number)))
        return paths

    def _gathered(self, batches: list[pa.RecordBatch]) -> Iterator[Piece]:
        if not batches:
            return
        table = pa.Table.from_batches(batches)
        codes = np.concatenate([arrow.codes(one, self.impression) for one in table.column(self.impression).chunks])
        _, first, which = np.unique(codes, return_index=True, return_inverse=True)
        ordered = table.take(pa.array(np.argsort(first[which], kind="stable")))
        for data in ordered.to_batches(max_chunksize=MOST_ROWS):
            rows = data.column(_ROW).to_numpy()
            yield Piece(data.drop_columns([_ROW]), self.describe(), rows)
