"""Lists joined with the exposures of an experiment: which variation each user was in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, EmptyLogError, OffrankError
from ..log.batch import Floats
from . import flat
from .beginning import Beginning
from .conversions import is_number, whole_column
from .joining import JoinedTable, event_times, free_name
from .roles.names import SURE_FIT, closeness
from .tables import Piece, all_pieces, first_rows
from .unfolding import unfolded
from .without_slates import ExposureColumns, exposure_columns

UNEXPOSED, SWITCHED, BEFORE = "user-without-exposure", "user-in-two-variations", "user-before-exposure"
"""Rules of rows that are left out: their user was in no variation, in several, or not yet in one."""


@dataclass(frozen=True)
class ExposedLists(JoinedTable):
    """A table of lists with a column `made`: the variation that the user was in, as another table of exposures tells.

    Rows of users without an exposure, with two variations, or before the first exposure where both tables have a time,
    are left out and counted. The exposures are held in memory.
    """

    exposed_by: ExposureColumns
    user: str
    times: tuple[str, str] | None = None

    def describe(self) -> str:
        by = f"{self.made} of {self.user}"
        return f"{self.table.describe()} with the exposures of {self.other.describe()} ({by})"

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        left_out = joined = 0
        beside = (self.user, *([self.times[0]] if self.times else []))
        for piece in self.table.pieces(part, self.asked(columns, beside)):
            variation, left = self._variations(piece.data)
            kept = ~flat.nulls(variation)
            left_out, joined = left_out + left[UNEXPOSED], joined + len(variation) - left[UNEXPOSED]
            data = flat.kept_rows(self.completed(piece.data, variation, columns), kept)
            yield replace(piece, data=data, rows=piece.rows[kept], skipped=dict(Counter(piece.skipped) + left))
        if left_out and not joined and self.parts() == 1:
            raise self.unjoined("no user of the lists was exposed", (self.user,), (self.exposed_by.user,))

    def _variations(self, rows: pa.RecordBatch) -> tuple[pa.Array, Counter[str]]:
        """Return the variation of each row, null of those that are left out, and how many are by which rule."""
        at = pc.index_in(_texts(rows.column(self.user)), self._held.column(_USER))
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
        """Return the times of rows.

        Raises:
            ColumnError: they cannot be compared with those of the exposures.
        """
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
        """The rows of the other table that tell of a user and a variation.

        Raises:
            EmptyLogError: there are none.
        """
        columns = tuple(dict.fromkeys([*self.exposed_by, *([self.times[1]] if self.times else [])]))
        pieces = [flat.plain_columns(piece.data) for piece in all_pieces(self.other, columns)]
        rows = pa.Table.from_batches(pieces) if pieces else pa.table({name: pa.nulls(0) for name in columns})
        rows = rows.filter(pc.and_(*(pc.is_valid(rows.column(name)) for name in self.exposed_by[::2])))
        if not rows.num_rows:
            raise EmptyLogError(f"{self.other.describe()} has no exposures", "give one row per exposed user")
        return rows

    @cached_property
    def _held(self) -> pa.Table:
        """Each user once, a variation, how many there are, and the first time.

        Raises:
            ColumnError: they are of several experiments. EmptyLogError: there are none.
        """
        rows, (user, experiment, variation) = self._exposures, self.exposed_by
        tests = pc.unique(_texts(rows.column(experiment))).drop_null()
        if len(tests) > 1:
            named = ", ".join(map(repr, tests.to_pylist()[:_NAMED]))
            raise ColumnError(
                f"{self.other.describe()} has the exposures of {len(tests)} experiments: {named}",
                "give the rows of one experiment",
            )
        when = (
            event_times(whole_column(rows.column(self.times[1])), self.times[1]) if self.times else np.zeros(len(rows))
        )
        columns = {_USER: _texts(rows.column(user)), "variation": _texts(rows.column(variation))}
        made = pa.table({**columns, "first": np.where(np.isnan(when), -np.inf, when)})
        asked: list[Any] = [("variation", "first"), ("variation", "count_distinct"), ("first", "min")]
        return made.group_by(_USER, use_threads=False).aggregate(asked)


_USER, _HELD = "user", ("variation_first", "variation_count_distinct", "first_min")
_NAMED = 3
"""Experiments that an error shows."""
_EPOCH, _OTHER_UNIT = 1e8, 300.0
"""The least number that is a time since 1970, in seconds at least; how much larger it is in another unit."""


def with_exposures(beginning: Beginning) -> Beginning:
    """Return the beginning of the lists with their exposures, where a source is two such tables; else it itself.

    Raises:
        ColumnError: they are of several experiments. LogError: they do not join, or there are none.
    """
    if not isinstance(beginning.source, list | tuple) or len(beginning.source) != 2:
        return beginning
    try:
        tables = [unfolded(table) for table in beginning.tables]
    except OffrankError:
        return beginning
    found = [exposure_columns(table.names) for table in tables]
    if len(tables) != 2 or (found[0] is None) == (found[1] is None):
        return beginning
    (shown, _), (exposures, by) = sorted(zip(tables, found, strict=True), key=lambda pair: pair[1] is not None)
    if by is None:
        return beginning
    user = max(shown.names, key=lambda name: (name == by.user, closeness("user", name)), default="")
    if user != by.user and closeness("user", user) < SURE_FIT:
        return beginning
    made = free_name(by.variation, shown.names)
    times = [max(table.names, key=partial(closeness, "time")) for table in (shown, exposures)]
    both = all(closeness("time", name) >= SURE_FIT for name in times)
    joined = ExposedLists(shown, exposures, made, by, user, (times[0], times[1]) if both else None)
    first_rows(joined, (made,))  # what does not fit is said here: whoever looks at a table takes it for none
    return Beginning(joined, where=beginning.where)


def _texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return flat.plain_column(whole_column(column)).cast(pa.large_string())
