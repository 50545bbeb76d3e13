"""Whole lists of a long table whose rows are scattered over a large file, of which the first rows hold but parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ...log.hashing import hashed
from .. import flat
from ..description import Description
from ..tables import Table, all_pieces
from . import names
from .columns import of_values
from .long import long_roles

_BYTES = 1 << 30
"""Bytes of rows, unpacked, that are looked through."""
_TRIED = 3
"""How many columns are tried as the id of lists."""
_ROWS = 50_000
_VARIED = 0.3
"""The least share of distinct values of an id that names do not tell."""


@dataclass
class HashedRows:
    """The rows of some values of a column: of one in `every`, by a hash of the value; `most` rows at most."""

    column: str
    most: int = _ROWS
    every: int = 1
    kept: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, data: pa.RecordBatch) -> None:
        """Keep rows; of fewer values where they are too many."""
        self.kept.append(self._chosen(data))
        while sum(map(len, self.kept)) > self.most:
            self.every *= 4
            self.kept = [self._chosen(one) for one in self.kept]

    def _chosen(self, data: pa.RecordBatch) -> pa.RecordBatch:
        codes = flat.id_codes(data.column(self.column), self.column).view(np.uint64)
        return data.filter(pa.array(hashed(codes) % np.uint64(self.every) == 0))


def scattered_roles(table: Table, rows: pa.Table, said: Mapping[str, str]) -> Description | None:
    """Tell the roles from lists that are whole, chosen from all rows by a hash of their id; None if that fails.

    rows: the first ones. So many bytes are looked through at most, however long that takes; what is then missing of
    the lists makes names decide, or the question is asked.
    """
    samples = [HashedRows(name) for name in _ids(rows, said)]
    left = _BYTES
    for piece in all_pieces(table, table.names):
        for sample in samples:
            sample.add(flat.plain_columns(piece.data))
        left -= flat.size(piece.data)
        if left < 0:
            break
    for sample in samples:
        found = long_roles(pa.Table.from_batches(sample.kept), said)
        impression = found.roles.get("impression")
        if found.settled and impression is not None and impression.column == sample.column:
            return replace(found, notes={**found.notes, "impression": "from a sample of whole lists"})
    return None


def _ids(rows: pa.Table, said: Mapping[str, str]) -> list[str]:
    """Return the columns that may be the id of lists, the likeliest first."""
    if "impression" in said:
        return [said["impression"]]
    able = []
    for name, column in of_values(rows).items():
        called = (
            names.closeness("impression", name) >= names.closeness("item", name)
            and names.closeness("impression", name) >= 2
        )
        if column.distinct > 1 and (called or _VARIED * rows.num_rows < column.distinct < rows.num_rows):
            able.append(name)
    return names.likeliest("impression", able)[:_TRIED]
