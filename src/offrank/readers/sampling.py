"""A sample of a log that is too large to be looked at whole: whole lists, from places spread over its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import LogError
from ..log.batch import Integers
from ..log.hashing import hashed
from . import conversions, flat, names
from .computed_columns import DerivedTable
from .csv_json import CsvJsonTable
from .description import Description
from .files import Files
from .long import LongLog
from .parquet_orc_arrow import StoredTable
from .roles.columns import of_values
from .roles.long import long_roles
from .tables import Piece, Table, TableOver, all_pieces
from .text import TextTable
from .unfolding import RankedTable
from .unfolding.table import Reshaped
from .wide import WideLog

SAMPLE_ABOVE = 1 << 28
"""Bytes of files above which a log is described from a sample."""
_SAMPLED, _PLACES, _ONE_IN = 16 << 20, 16, 4
"""Bytes of a sample, at most one in `_ONE_IN`, and the places that it is from, if files can be read from the middle."""
_ROWS_BY_ID = 200_000
"""Rows of a sample of lists that are chosen by their id."""
_LONGEST = 4
"""A place holds at least so many times the rows between the first and the last row of a list."""
_TAIL, _ASTRAY, _FROM_TOP = 0.99, 0.001, 0.9
"""The share of lists by which that is measured; the largest share of lists in several places, of lists that are chosen
apart; and the least share that begins at the top."""

How = Literal["spread", "beginning", "by id"]


@dataclass(frozen=True)
class LogSample:
    """How a log was sampled.

    rows, size: rows of the table that were read, and their bytes, unpacked. whole: bytes of the files. places: from how
    many places. how: from places spread over the files, their beginning, or lists chosen by their id from all rows.
    """

    rows: int
    size: int
    whole: int
    places: int
    how: How

    @property
    def said(self) -> str:
        """The sample in words, after `in`."""
        return {
            "spread": f"a sample of {_size(self.size)} from {self.places} places of its {_size(self.whole)}",
            "beginning": f"the first {_size(self.size)} of its {_size(self.whole)}, which can only be read in order",
            "by id": f"a sample of {_size(self.size)} of its {_size(self.whole)}: whole lists, chosen by their id",
        }[self.how]


@dataclass(frozen=True)
class HeldTable(TableOver):
    """Some rows of a table, in memory. A part holds those of one place."""

    table: Table
    places: tuple[tuple[Piece, ...], ...]

    def parts(self) -> int:
        return len(self.places)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in self.places[part]:
            yield replace(piece, data=piece.data.select(list(columns)))


def sampled(log: WideLog | LongLog, above: int | None) -> tuple[WideLog | LongLog, LogSample | None]:
    """Return a log that reads a sample of its rows if its files have more bytes than `above`, and how that was chosen.

    Without such files, or if they are joined, it is returned as it is.

    Raises:
        LogError: what was chosen cannot be read.
    """
    table = log.table.table if isinstance(log.table, RankedTable) else log.table
    leaf = _leaf(table)
    whole = 0 if above is None or leaf is None else sum(_sizes_behind(leaf))
    if leaf is None or above is None or whole <= above:
        return log, None
    try:
        places, how = _places(log, table, leaf, min(_SAMPLED, whole // _ONE_IN))
    except LogError as error:
        raise LogError(f"in a sample of it: {error.message}", error.remedy) from error
    if not places:
        return log, None
    held = HeldTable(table, tuple(_renumbered(places)))
    found = replace(log.table, table=held) if isinstance(log.table, RankedTable) else held
    log = replace(log, stored=found, noted={}) if isinstance(log, LongLog) else replace(log.looked_at(), stored=found)
    pieces = [piece.data for place in held.places for piece in place]
    return log, LogSample(sum(map(len, pieces)), sum(flat.size(one) for one in pieces), whole, len(places), how)


def _leaf(table: Table) -> CsvJsonTable | StoredTable | TextTable | None:
    """Return the files behind a table whose rows are made of theirs, one of one; None if there are none."""
    while isinstance(table, Reshaped | DerivedTable):
        table = table.table
    return table if isinstance(table, CsvJsonTable | StoredTable | TextTable) else None


def _sizes_behind(leaf: CsvJsonTable | StoredTable | TextTable) -> list[int]:
    files = Files(leaf.paths) if isinstance(leaf, TextTable) else leaf.files
    return [one.size or 0 for one in files.system.get_file_info(list(files.paths))]


def _places(log: WideLog | LongLog, table: Table, leaf: Any, size: int) -> tuple[list[list[Piece]], How]:
    """Return rows from each place, and how they were chosen."""
    try:
        places = [place for place in _read(table, leaf, size) if place]
    except LogError:
        if not (isinstance(log, LongLog) and isinstance(leaf, CsvJsonTable) and leaf.kind != "json"):
            raise
        places = [place for place in _read(table, leaf.typed(_texts(log, leaf)), size) if place]  # ids of several kinds
    how: How = "spread" if len(places) > 1 else "beginning"
    if isinstance(log, WideLog):
        return places, how
    impression, position = log.column("impression"), log.column("position")
    kept = whole_lists(places, impression, position)
    if kept is not None:
        return kept, how
    rows = HashedRows(impression, _ROWS_BY_ID)
    for piece in all_pieces(table, table.names):
        rows.add(flat.plain_columns(piece.data))
    return [[Piece(one, table.describe(), np.arange(len(one))) for one in rows.kept if len(one)]], "by id"


def _read(table: Table, leaf: Any, size: int) -> Iterator[list[Piece]]:
    """Yield the rows of each place that is read."""
    if isinstance(leaf, StoredTable):
        chosen = _some_of(table.parts())
        for part in chosen:
            yield _up_to(table.pieces(part, table.names), size // len(chosen))
        return
    if isinstance(leaf, CsvJsonTable):
        cut = leaf.cuttable and [*_blocks(leaf, size)]
        for path, start, block in cut or []:
            inside = _with(table, leaf.holding(path, block))
            yield [replace(one, rows=one.rows + (start > 0)) for one in inside.pieces(0, table.names)]
        if cut:
            return
        if len(leaf.files.paths) > 1:
            chosen = _some_of(len(leaf.files.paths))
            for file in chosen:
                inside = _with(table, leaf.holding(leaf.files.paths[file]))
                yield _up_to(inside.pieces(0, table.names), size // len(chosen))
            return
    yield _up_to(table.pieces(0, table.names), size)


def _texts(log: LongLog, leaf: CsvJsonTable) -> dict[str, pa.DataType]:
    """Return the types of the columns of ids, which a first block cannot show."""
    roles = "impression", "item", "query", "user", "session"
    return {name: pa.string() for role in roles if (name := log.renamed.get(role, role)) in leaf.names}


def _with(table: Table, leaf: CsvJsonTable) -> Table:
    """Return a table with other files behind it."""
    given: Any = table
    return replace(given, table=_with(table.table, leaf)) if isinstance(table, Reshaped | DerivedTable) else leaf


def _blocks(leaf: CsvJsonTable, size: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield (path, first byte, lines with the header) from places that are spread over text files."""
    sizes = _sizes_behind(leaf)
    ends = [*accumulate(sizes)]
    block = size // _PLACES
    for place in range(_PLACES):
        at = place * ends[-1] // _PLACES
        file = int(np.searchsorted(ends, at, "right"))
        path, start = leaf.files.paths[file], at - (ends[file] - sizes[file])
        found = leaf.lines_at(path, start, block)
        if found:
            yield path, start, found


def _some_of(parts: int) -> list[int]:
    """Return the numbers of parts, or of one by a hash in each of as many ranges as there are places.

    What is evenly apart may be alike: each seventh day.
    """
    ends = np.linspace(0, parts, min(parts, _PLACES) + 1).astype(np.uint64)
    return (ends[:-1] + hashed(np.arange(len(ends) - 1, dtype=np.uint64)) % np.diff(ends)).tolist()


def _up_to(pieces: Iterable[Piece], most: int) -> list[Piece]:
    """Return the first pieces, until they have so many bytes."""
    found: list[Piece] = []
    for piece in pieces:
        rows = len(piece.data) * most // max(flat.size(piece.data), 1)
        if rows < len(piece.data):
            return [*found, piece.between(0, max(rows, 1))]
        found.append(piece)
        most -= flat.size(piece.data)
    return found


def _renumbered(places: Iterable[Iterable[Piece]]) -> Iterator[tuple[Piece, ...]]:
    """Number the rows of all places one after another, so that none has the number of another."""
    first = 0
    for place in places:
        made = []
        for piece in place:
            made.append(replace(piece, rows=np.arange(first, first + len(piece.data)), base=0, line_of=None))
            first += len(piece.data)
        yield tuple(made)


def _size(count: int) -> str:
    """Say a number of bytes in three digits."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count / 1000:.3g} kB"


@dataclass(frozen=True)
class _Place:
    """Rows that follow each other. which: [rows] the list of each; ids: [lists]; first, last: [lists] their rows."""

    pieces: Sequence[Piece]
    which: Integers
    ids: Integers
    first: Integers
    last: Integers
    top: Integers

    @classmethod
    def of(cls, pieces: Sequence[Piece], impression: str, position: str) -> _Place:
        """Look at the lists of some rows."""
        columns = [flat.plain_columns(piece.data) for piece in pieces]
        codes = np.concatenate([flat.id_codes(one.column(impression), impression) for one in columns])
        ranks = np.concatenate([flat.numbers(conversions.positions(one.column(position)), position) for one in columns])
        ids, first, which = np.unique(codes, return_index=True, return_inverse=True)
        last, top = np.zeros(len(ids), np.int64), np.full(len(ids), np.inf)
        np.maximum.at(last, which, np.arange(len(codes)))
        np.fmin.at(top, which, ranks)
        return cls(pieces, which, ids, first, last, top)

    def reach(self) -> int | None:
        """Return the rows between the first and the last of a list at most; None if it is unknown."""
        apart = self.last - self.first
        for found in (int(apart.max()), int(np.quantile(apart, _TAIL))):
            if _LONGEST * (found + 1) <= len(self.which):
                return found
        return None

    def whole(self, reach: int) -> NDArray[np.bool_]:
        """Return which lists are whole [lists]: those whose other rows could not be outside."""
        begins = self.pieces[0].rows[0] == 0
        inside = (self.first >= reach + 1) | begins
        return inside & (self.last < len(self.which) - reach - 1) & (self.last - self.first <= reach)

    def kept(self, lists: NDArray[np.bool_]) -> list[Piece]:
        """Return the rows of some lists."""
        found, start, rows = [], 0, lists[self.which]
        for piece in self.pieces:
            chosen = rows[start : start + len(piece.data)]
            start += len(chosen)
            found.append(replace(piece, data=flat.kept_rows(piece.data, chosen), rows=piece.rows[chosen]))
        return [piece for piece in found if len(piece.data)]


def whole_lists(places: Sequence[Sequence[Piece]], impression: str, position: str) -> list[list[Piece]] | None:
    """Return the rows of the lists that are whole within their place; None if the rows of lists stand further apart.

    places: rows that follow each other, of the long layout.
    """
    found = [_Place.of(pieces, impression, position) for pieces in places]
    ids, times = np.unique(np.concatenate([one.ids for one in found]), return_counts=True)
    tops = np.concatenate([one.top for one in found])
    if (times > 1).mean() > _ASTRAY or (tops == tops.min()).mean() < _FROM_TOP:
        return None
    kept, twice = [], ids[times > 1]
    for one in found:
        reach = one.reach()
        if reach is None:
            return None
        kept.append(one.kept(one.whole(reach) & ~np.isin(one.ids, twice)))
    return [pieces for pieces in kept if pieces]


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

    rows: the first ones. So many bytes are looked through at most, of parts that are chosen by a hash; what is then
    missing of the lists makes names decide, or the question is asked.
    """
    samples = [HashedRows(name) for name in _ids(rows, said)]
    left, order = _BYTES, np.argsort(hashed(np.arange(table.parts(), dtype=np.uint64)), kind="stable")
    for piece in (piece for part in order.tolist() for piece in table.pieces(part, table.names)):
        for sample in samples:
            sample.add(flat.plain_columns(piece.data))
        left -= flat.size(piece.data)
        if left < 0:
            break
    for sample in samples:
        found = long_roles(pa.Table.from_batches(sample.kept), said)
        if found.settled and found.roles.get("impression") == sample.column:
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
