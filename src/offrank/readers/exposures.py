"""Lists joined with the exposures of an experiment: which variation each user was in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, EmptyLogError, LogError, OffrankError
from ..log.batch import Floats, Integers
from . import flat
from .beginning import Beginning
from .conversions import is_number, whole_column
from .joining import event_times, stamp_of_both
from .roles.names import closeness
from .tables import Piece, Table, all_pieces, first_rows
from .unfolding import unfolded
from .without_slates import ExposureColumns, exposure_columns

UNEXPOSED, SWITCHED, BEFORE = "user-without-exposure", "user-in-two-variations", "user-before-exposure"
"""Rules of rows that are left out: their user was in no variation, in several, or not yet in one."""


@dataclass(frozen=True)
class HeldExposures:
    """Exposures in memory. users: each once. variation: its index in `names`, -1 of several. first: its first time.

    numbers: whether times are written as numbers.
    """

    users: pa.Array
    variation: Integers
    names: pa.Array
    first: Floats
    numbers: bool


@dataclass(frozen=True)
class ExposedLists:
    """A table of lists with a column `made`: the variation that the user was in, as another table of exposures tells.

    Rows of users without an exposure, with two variations, or before the first exposure where both tables have a time,
    are left out and counted. The exposures are held in memory.
    """

    shown: Table
    exposures: Table
    exposed_by: ExposureColumns
    user: str
    made: str
    times: tuple[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.shown.names, self.made)

    def parts(self) -> int:
        return self.shown.parts()

    def describe(self) -> str:
        by = f"{self.made} of {self.user}"
        return f"{self.shown.describe()} with the exposures of {self.exposures.describe()} ({by})"

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of_both(self.shown, self.exposures)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        beside = (self.user, *([self.times[0]] if self.times else []))
        wanted = [name for name in columns if name != self.made]
        known, unknown = False, None
        for piece in self.shown.pieces(part, tuple(dict.fromkeys([*wanted, *beside]))):
            variation, left = self._variations(piece.data)
            names = self._held.names.take(pa.array(np.maximum(variation, 0)))
            data = piece.data.select(wanted).append_column(self.made, names).select(list(columns))
            kept = variation >= 0
            known, unknown = known or left[UNEXPOSED] < len(variation), unknown or piece
            skipped = dict(Counter(piece.skipped) + left)
            yield replace(piece, data=flat.kept_rows(data, kept), rows=piece.rows[kept], skipped=skipped)
        if not known and unknown is not None and self.parts() == 1:
            raise self._unjoined(unknown.data)

    def _variations(self, rows: pa.RecordBatch) -> tuple[Integers, Counter[str]]:
        """Return the variation of each row, -1 of those that are left out, and how many are by which rule."""
        held = self._held
        at = pc.index_in(_texts(rows.column(self.user)), held.users).fill_null(-1).to_numpy(zero_copy_only=False)
        unexposed, variation = at < 0, held.variation[at]
        switched = ~unexposed & (variation < 0)
        early = np.zeros(len(at), np.bool_)
        if self.times:
            when = self._times_of(rows.column(self.times[0]), held)
            early = ~unexposed & ~switched & (when < held.first[at])
        left = {UNEXPOSED: unexposed, SWITCHED: switched, BEFORE: early}
        out = unexposed | switched | early
        return np.where(out, -1, variation), Counter({rule: int(rows.sum()) for rule, rows in left.items()})

    def _times_of(self, column: pa.Array, held: HeldExposures) -> Floats:
        """Return the times of rows.

        Raises:
            ColumnError: they cannot be compared with those of the exposures.
        """
        shown, exposed = self.times or ("", "")
        when, first = event_times(column, shown), held.first[np.isfinite(held.first)]
        known = when[np.isfinite(when)]
        if len(known) and len(first):
            middle = sorted((float(np.median(known)), float(np.median(first))))
            units = held.numbers and middle[0] > _EPOCH and middle[1] > _OTHER_UNIT * middle[0]
            if units or held.numbers != is_number(column.type):
                raise ColumnError(
                    f"times in {shown!r} of the lists and in {exposed!r} of the exposures have different formats",
                    "use the same format in both: ISO times, or seconds",
                )
        return when

    @cached_property
    def _held(self) -> HeldExposures:
        """The exposures.

        Raises:
            ColumnError: they are of several experiments. EmptyLogError: there are none.
        """
        user, experiment, variation = self.exposed_by
        columns = (user, experiment, variation, *([self.times[1]] if self.times else []))
        pieces = [
            flat.plain_columns(piece.data.select(list(dict.fromkeys(columns))))
            for piece in all_pieces(self.exposures, tuple(dict.fromkeys(columns)))
        ]
        rows = (
            pa.Table.from_batches(pieces) if pieces else pa.table({name: pa.array([], pa.string()) for name in columns})
        )
        rows = rows.filter(pc.and_(pc.is_valid(rows.column(user)), pc.is_valid(rows.column(variation))))
        if not rows.num_rows:
            raise EmptyLogError(f"{self.exposures.describe()} has no exposures", "give one row per exposed user")
        self._refuse_experiments(rows.column(experiment))
        users = _texts(rows.column(user)).dictionary_encode()
        names = _texts(rows.column(variation)).dictionary_encode()
        one, of = users.indices.to_numpy(), names.indices.to_numpy().astype(np.int64)
        least, most = np.full(len(users.dictionary), len(names.dictionary)), np.full(len(users.dictionary), -1)
        np.minimum.at(least, one, of)
        np.maximum.at(most, one, of)
        first = np.full(len(users.dictionary), np.inf)
        when = (
            event_times(whole_column(rows.column(self.times[1])), self.times[1]) if self.times else np.zeros(len(rows))
        )
        np.minimum.at(first, one, np.where(np.isnan(when), -np.inf, when))
        numbers = self.times is not None and is_number(rows.column(self.times[1]).type)
        return HeldExposures(users.dictionary, np.where(least == most, most, -1), names.dictionary, first, numbers)

    def _refuse_experiments(self, column: pa.ChunkedArray) -> None:
        tests = pc.unique(_texts(column)).drop_null()
        if len(tests) > 1:
            named = ", ".join(map(repr, tests.to_pylist()[:_NAMED]))
            raise ColumnError(
                f"{self.exposures.describe()} has the exposures of {len(tests)} experiments: {named}",
                "give the rows of one experiment",
            )

    def _unjoined(self, rows: pa.RecordBatch) -> LogError:
        ids = (_texts(rows.column(self.user)), self._held.users)
        shown, exposed = (", ".join(map(repr, one.slice(0, _NAMED).to_pylist())) for one in ids)
        return LogError(
            f"no user of the lists was exposed: {self.shown.describe()} has {self.user!r} such as {shown}, but "
            f"{self.exposures.describe()} has {self.exposed_by.user!r} such as {exposed}",
            "use the same ids in both",
        )


_NAMED = 3
"""Ids and experiments that an error shows."""
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
        tables = [unfolded(table) for table in beginning.opened.tables]
    except OffrankError:
        return beginning
    found = [exposure_columns(table.names) for table in tables]
    if len(tables) != 2 or (found[0] is None) == (found[1] is None):
        return beginning
    (shown, _), (exposures, by) = sorted(zip(tables, found, strict=True), key=lambda pair: pair[1] is not None)
    user = _user(shown.names, by.user) if by is not None else ""
    if by is None or not user:
        return beginning
    made = by.variation
    while made in shown.names:
        made += "_"
    joined = ExposedLists(shown, exposures, by, user, made, _times(shown, exposures))
    first_rows(joined, (made,))  # what does not fit is said here: whoever looks at a table takes it for none
    return Beginning.of(joined, where=beginning.opened.where)


def _user(names: tuple[str, ...], same: str) -> str:
    """Return the column of the users: that of the same name, else the one that is called so best."""
    best = max(names, key=lambda name: (name == same, closeness("user", name)), default="")
    return best if best == same or closeness("user", best) >= _CALLED else ""


def _times(shown: Table, exposures: Table) -> tuple[str, str] | None:
    """Return the columns of the times of both tables; None if one of them has none."""
    found = [max(table.names, key=lambda name: closeness("time", name)) for table in (shown, exposures)]
    return (found[0], found[1]) if all(closeness("time", name) >= _CALLED for name in found) else None


_CALLED = 2
"""How well a name must fit; see `roles.names.closeness`."""


def _texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return flat.plain_column(whole_column(column)).cast(pa.large_string())
