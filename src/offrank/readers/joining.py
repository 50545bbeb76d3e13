"""Two tables joined: impressions with the clicks on them, and lists with the variations of an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ColumnError, EmptyLogError, LogError
from ..log.batch import Floats, Integers
from ..log.hashing import hashed
from ..log.source import stamp_of
from . import flat
from .conversions import is_number, whole_column
from .json_text import BadCell
from .tables import Piece, Table, TableOver, all_pieces, first_piece

OUTSIDE, REPEATED, EARLY = "click-outside-slate", "click-repeated", "click-before-impression"
"""Rules of clicks that are left out: on what no impression showed, again on what was clicked, and before it was shown.
"""
UNEXPOSED, SWITCHED, BEFORE = "user-without-exposure", "user-in-two-variations", "user-before-exposure"
"""Rules of rows that are left out: their user was in no variation, in several, or not yet in one."""
_SHOWN = 3
"""Ids of each table, or experiments, that an error shows."""


@dataclass(frozen=True)
class KeptRows(TableOver):
    """The rows of a table whose `column` has one of some values, as texts. others: the rule by which others count."""

    table: Table
    column: str
    values: tuple[str, ...]
    others: str = ""
    num_rows: ClassVar[None] = None  # how many have one is not known before they are read

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        for piece in self.table.pieces(part, tuple(dict.fromkeys((*columns, self.column)))):
            kind = _texts(piece.data, self.column)
            kept = pc.fill_null(pc.is_in(kind, pa.array(self.values, pa.large_string())), False)
            rows = piece.rows[np.asarray(kept)]
            left = {self.others: len(kept) - len(rows)} if self.others and len(rows) < len(kept) else {}
            skipped = {**piece.skipped, **left}
            if len(rows) or skipped:
                data = flat.kept_rows(piece.data.select(list(columns)), kept)
                yield replace(piece, data=data, rows=rows, skipped=skipped)


@dataclass(frozen=True)
class ItemKeys:
    """The columns of a table that name an impression and an item of it, or a list of items (listed), and the time."""

    impression: str
    item: str
    time: str = ""
    listed: bool = False

    @property
    def ids(self) -> tuple[str, str]:
        return self.impression, self.item

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.ids, *([self.time] if self.time else []))


@dataclass(frozen=True)
class HeldClicks:
    """Clicks in memory. keys: of each clicked item, ascending. counts: its clicks. latest: the time of the last."""

    keys: NDArray[np.uint64]
    counts: Integers
    latest: Floats


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name for a new column that no column has."""
    return free_name(f"{name}_", taken) if name in taken else name


@dataclass(frozen=True)
class JoinedTable(TableOver):
    """A table of impressions with a column `made`, which another table tells."""

    table: Table
    other: Table
    made: str

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.table.names, self.made)

    def stamp(self) -> Mapping[str, Any] | None:
        own, others = stamp_of(self.table), stamp_of(self.other)
        return None if own is None or others is None else {**own, **others}

    def asked(self, columns: tuple[str, ...], beside: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns to read for some of this table. beside: those that join it."""
        return tuple(dict.fromkeys([name for name in (*columns, *beside) if name != self.made]))

    def completed(self, data: pa.RecordBatch, made: pa.Array, columns: tuple[str, ...]) -> pa.RecordBatch:
        """Return these columns of rows, among them what was made."""
        return pa.record_batch({name: made if name == self.made else data.column(name) for name in columns})

    def unjoined(self, what: str, own: tuple[str, ...], others: tuple[str, ...]) -> LogError:
        """Return the error of tables of which no row joins another. own, others: the columns that would join them."""
        said = []
        for table, names in ((self.table, own), (self.other, others)):
            first = first_piece(table, names)
            if first is not None:
                rows = range(min(_SHOWN, len(first.data)))
                ids = [", ".join(flat.show_value(first.data.column(name), row) for name in names) for row in rows]
                shown = ", ".join(f"({one})" if len(names) > 1 else one for one in ids)
                said.append(f"{table.describe()} has {', '.join(map(repr, names))} such as {shown}")
        return LogError(f"{what}: {'; '.join(said)}", "name the columns that have the same ids in both")


@dataclass(frozen=True)
class ClicksBeside(JoinedTable):
    """A table of impressions with a column `made`: whether the rows of another table say that an item was clicked.

    The clicks are held in memory, 24 bytes each; impressions are read in order, as one part. Clicks on what no
    impression showed, repeated clicks, and those before the impression where both have a time, are counted with the
    last rows.
    """

    shown_by: ItemKeys
    clicked_by: ItemKeys

    def parts(self) -> int:
        return min(self.table.parts(), 1)

    def describe(self) -> str:
        return f"{self.table.describe()} with the clicks of {self.other.describe()}"

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        if self.made not in columns:
            yield from all_pieces(self.table, columns)
            return
        held, (found, early) = None, np.zeros((2, len(self._clicked.keys)), np.bool_)
        for piece in all_pieces(self.table, self.asked(columns, self.shown_by.all)):
            if held is not None:
                yield held
            with piece.telling():
                clicked = self._marked(piece.data, found, early)
            held = replace(piece, data=self.completed(piece.data, clicked, columns))
        if held is not None:
            yield replace(held, skipped={**held.skipped, **self._left_out(found, early & ~found)})

    @cached_property
    def _texts(self) -> bool:
        """Whether ids are compared as texts: those of one table are whole numbers and those of the other are not."""
        kinds = {
            flat.id_kind(_values(first.data.column(name), name, keys.listed and name == keys.item).type)
            for table, keys in ((self.table, self.shown_by), (self.other, self.clicked_by))
            for first in [first_piece(table, (keys.impression, keys.item))]
            if first is not None
            for name in (keys.impression, keys.item)
        }
        return "text" in kinds

    @cached_property
    def _clicked(self) -> HeldClicks:
        """The clicks of the other table."""
        keys, when = [np.zeros(0, np.uint64)], [np.zeros(0)]
        for piece in all_pieces(self.other, self.clicked_by.all):
            with piece.telling():
                ids = [_ids(piece.data.column(name), name) for name in self.clicked_by.ids]
            nowhere = flat.nulls(ids[0]) | flat.nulls(ids[1])
            keys.append(np.where(nowhere, np.uint64(0x9E3779B97F4A7C15), self._keys(*ids)))  # the key of nothing
            when.append(self._times(piece.data, self.clicked_by))
        unique, place, counts = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
        latest = np.full(len(unique), -np.inf)
        np.maximum.at(latest, place, np.concatenate(when))
        return HeldClicks(unique, counts, latest)

    def _times(self, data: pa.RecordBatch, keys: ItemKeys, unknown: float = np.inf) -> Floats:
        """Return the times of rows; `unknown` where there is none."""
        if not (self.shown_by.time and self.clicked_by.time):
            return np.full(len(data), unknown)
        found = event_times(data.column(keys.time), keys.time)
        return np.where(np.isnan(found), unknown, found)

    def _keys(self, impression: pa.Array, item: pa.Array) -> NDArray[np.uint64]:
        both = [self._codes(impression, self.shown_by.impression), self._codes(item, self.shown_by.item)]
        return hashed(hashed(both[0]) ^ both[1])

    def _codes(self, column: pa.Array, name: str) -> NDArray[np.uint64]:
        column = flat.plain_column(column)
        in_texts = self._texts and not pa.types.is_nested(column.type)  # lists are no ids, which is told
        return flat.id_codes(column.cast(pa.large_string()) if in_texts else column, name).view(np.uint64)

    def _marked(self, data: pa.RecordBatch, found: NDArray[np.bool_], early: NDArray[np.bool_]) -> pa.Array:
        """Return the clicks beside the items of some rows, and note which clicks were found, and which came early."""
        impression, item = (_ids(data.column(name), name) for name in self.shown_by.ids)
        since, lists = self._times(data, self.shown_by, -np.inf), None
        if self.shown_by.listed:
            lists = flat.lists(item, self.shown_by.item)
            row = lists.row
            impression, item, since = impression.take(pa.array(row)), lists.values, since[row]
        keys, held = self._keys(impression, item), self._clicked
        place = np.minimum(np.searchsorted(held.keys, keys), max(len(held.keys) - 1, 0))
        clicked = held.keys[place] == keys if len(held.keys) else np.zeros(len(keys), np.bool_)
        after = clicked & (held.latest[place] >= since) if len(held.keys) else clicked
        found[place[after]], early[place[clicked & ~after]] = True, True
        marks = pa.array(after.astype(np.int8))
        return marks if lists is None else flat.lists_of(marks, lists.lengths)

    def _left_out(self, found: NDArray[np.bool_], early: NDArray[np.bool_]) -> dict[str, int]:
        """Return the clicks that were left out, by rule; raise a `LogError` if none is on what was shown."""
        counts = self._clicked.counts
        if len(counts) and not (found | early).any():
            raise self.unjoined("no click is on an item that was shown", self.shown_by.ids, self.clicked_by.ids)
        outside, again = int(counts[~(found | early)].sum()), int((counts[found] - 1).sum())
        left = ((OUTSIDE, outside), (REPEATED, again), (EARLY, int(counts[early].sum())))
        return {rule: count for rule, count in left if count}


def _values(column: pa.Array, name: str, listed: bool) -> pa.Array:
    """Return the ids of a column, or of its lists."""
    with suppress(BadCell):  # which is told when the rows are read
        return flat.plain_column(flat.lists(column, name).values) if listed else _ids(column, name)
    return pa.array([], pa.string())


def _ids(column: pa.Array, name: str) -> pa.Array:
    """Return ids, whole numbers where others made fractions of them; raise a `BadCell` at one that is not exact."""
    column = flat.plain_column(column)
    if not pa.types.is_floating(column.type):
        return column
    ids = flat.numbers(column, name)
    wrong = np.flatnonzero((ids != np.floor(ids)) & ~np.isnan(ids) | (np.abs(ids) >= 2.0**53))
    if len(wrong):
        vague = "is a fraction, or so large that several ids become it"
        raise BadCell(int(wrong[0]), name, vague, "write ids as integers or strings")
    return pc.cast(pc.if_else(pa.array(np.isnan(ids)), None, pa.array(ids)), pa.int64())


def _exact(piece: Piece, name: str) -> pa.RecordBatch:
    """Return the rows of a piece; raise a `RowError` at an id of a column that is not exact."""
    with piece.telling():
        _ids(piece.data.column(name), name)
    return piece.data


def event_times(column: pa.Array, name: str) -> Floats:
    """Return times as numbers: microseconds of those that are dates, and of texts; numbers as they are; NaN for none.

    Raises:
        ColumnError: they are no times.
    """
    column = flat.plain_column(column)
    if is_number(column.type):
        return flat.numbers(column, name)
    for zone in (None, "UTC"):
        try:
            found = column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64())
        except pa.ArrowException:
            continue
        return np.asarray(found.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)
    raise ColumnError(f"{name!r} contains {column.type}, not times", "use ISO times, or seconds as numbers")


class ExposureColumns(NamedTuple):
    """The columns that tell which variation of an experiment a user was in."""

    user: str
    experiment: str
    variation: str


@dataclass(frozen=True)
class ExposedLists(JoinedTable):
    """A table of lists with a column `made`: the variation that the user was in, as another table of exposures tells.

    Rows of users without an exposure, with two variations, or before the first exposure where both tables have a time,
    are left out and counted. The exposures are held in memory.
    """

    exposed_by: ExposureColumns
    user: str
    times: tuple[str, str] | None = None
    num_rows: ClassVar[None] = None

    def describe(self) -> str:
        by = f"{self.made} of {self.user}"
        return f"{self.table.describe()} with the exposures of {self.other.describe()} ({by})"

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        left_out = joined = 0
        beside = (self.user, *([self.times[0]] if self.times else []))
        for piece in self.table.pieces(part, self.asked(columns, beside)):
            variation, left = self._variations(_exact(piece, self.user))
            kept = ~flat.nulls(variation)
            left_out, joined = left_out + left[UNEXPOSED], joined + len(variation) - left[UNEXPOSED]
            data = flat.kept_rows(self.completed(piece.data, variation, columns), kept)
            yield replace(piece, data=data, rows=piece.rows[kept], skipped=dict(Counter(piece.skipped) + left))
        if left_out and not joined and self.parts() == 1:
            raise self.unjoined("no user of the lists was exposed", (self.user,), (self.exposed_by.user,))

    def _variations(self, rows: pa.RecordBatch) -> tuple[pa.Array, Counter[str]]:
        """Return the variation of each row, null of those that are left out, and how many are by which rule."""
        at = pc.index_in(_texts(rows, self.user), self._held.column(_USER))
        variation, several, first = (whole_column(self._held.column(name)).take(at) for name in _HELD)
        unexposed = flat.nulls(at)
        switched = ~unexposed & (flat.numbers(several, _USER) > 1)
        early = np.zeros(len(at), np.bool_)
        if self.times:
            early = ~unexposed & ~switched & (self._times_of(rows.column(self.times[0])) < flat.numbers(first, _USER))
        left = {UNEXPOSED: unexposed, SWITCHED: switched, BEFORE: early}
        kept = pc.if_else(pa.array(unexposed | switched | early), None, variation)
        return kept, Counter({rule: int(rows.sum()) for rule, rows in left.items()})

    def _times_of(self, column: pa.Array) -> Floats:
        """Return the times of rows; raise a `ColumnError` if they do not compare with those of the exposures."""
        shown, exposed = self.times or ("", "")
        when, first = event_times(column, shown), flat.numbers(whole_column(self._held.column(_HELD[2])), exposed)
        known, first = when[np.isfinite(when)], first[np.isfinite(first)]
        if len(known) and len(first):
            numbers = is_number(self._exposures.column(exposed).type)
            middle = sorted((float(np.median(known)), float(np.median(first))))
            units = numbers and middle[0] > _EPOCH and middle[1] > _OTHER_UNIT * middle[0]
            if units or numbers != is_number(column.type):
                raise ColumnError(
                    f"times in {shown!r} of the lists and in {exposed!r} of the exposures have different formats",
                    "use the same format in both: ISO times, or seconds",
                )
        return when

    @cached_property
    def _exposures(self) -> pa.Table:
        """The rows of the other table with a user and a variation; raise an `EmptyLogError` if there are none."""
        columns = tuple(dict.fromkeys([*self.exposed_by, *([self.times[1]] if self.times else [])]))
        each = (_exact(piece, self.exposed_by.user) for piece in all_pieces(self.other, columns))
        pieces = [flat.plain_columns(data) for data in each]
        rows = pa.Table.from_batches(pieces) if pieces else pa.table({name: pa.nulls(0) for name in columns})
        rows = rows.filter(pc.and_(*(pc.is_valid(rows.column(name)) for name in self.exposed_by[::2])))
        if not rows.num_rows:
            raise EmptyLogError(f"{self.other.describe()} has no exposures", "give one row per exposed user")
        return rows

    @cached_property
    def _held(self) -> pa.Table:
        """Each user once, a variation, how many there are, and the first time; or a `ColumnError`, `EmptyLogError`."""
        rows, (user, experiment, variation) = self._exposures, self.exposed_by
        tests = pc.unique(_texts(rows, experiment)).drop_null()
        if len(tests) > 1:
            named = ", ".join(map(repr, tests.to_pylist()[:_SHOWN]))
            raise ColumnError(
                f"{self.other.describe()} has the exposures of {len(tests)} experiments: {named}",
                "give the rows of one experiment",
            )
        when = (
            event_times(whole_column(rows.column(self.times[1])), self.times[1]) if self.times else np.zeros(len(rows))
        )
        columns = {_USER: _texts(rows, user), "variation": _texts(rows, variation)}
        made = pa.table({**columns, "first": np.where(np.isnan(when), -np.inf, when)})
        asked: list[Any] = [("variation", "first"), ("variation", "count_distinct"), ("first", "min")]
        return made.group_by(_USER, use_threads=False).aggregate(asked)


_USER, _HELD = "user", ("variation_first", "variation_count_distinct", "first_min")
_EPOCH, _OTHER_UNIT = 1e8, 300.0
"""The least number that is a time since 1970, in seconds at least; how much larger it is in another unit."""


def _texts(rows: pa.Table | pa.RecordBatch, name: str) -> pa.Array:
    column = flat.plain_column(whole_column(rows.column(name)))
    if pa.types.is_nested(column.type):
        raise ColumnError(f"{name!r} contains {column.type}, not a value a row", "name a column of texts or numbers")
    with suppress(BadCell):  # of an arm that is a fraction
        column = _ids(column, name)
    return column.cast(pa.large_string())
