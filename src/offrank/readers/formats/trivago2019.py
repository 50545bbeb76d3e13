"""Trivago's RecSys Challenge 2019 (`train.csv`): the clicks on lists of hotels, among other actions of sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...log.source import stamp_of
from .. import flat
from ..beginning import Beginning
from ..description import Description
from ..impressions import lists_of
from ..joining import OUTSIDE, KeptRows
from ..opening import open_table
from ..tables import Piece, Table, TableOver, refuse_lacking
from ..unfolding import unfolded
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_ACTION, _CLICKOUT = "action_type", "clickout item"
_OWN = ("reference", "impressions", "prices", "session_id", _ACTION)
_ROLES = {"slate": "impressions", "user": "user_id", "session": "session_id"}

_LACKS = "it contains only lists with a click, so no other ranking can be evaluated"


@READERS.register
@Reader.of("sessions", of_tables=True)
def trivago2019(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read Trivago's `train.csv`: each click on a hotel with the list that it was in.

    An impression is a row with the action `clickout item`. Columns: slate (`impressions`, top first), clicks (1 for
    `reference`), `user`, `session`, and as they are `prices`, `platform`, `city`, `device` and the others. A list whose
    `reference` is not among its hotels has no click, which is counted as `click-outside-slate`; so has one without a
    reference, as in the challenge's test data.

    **Only lists with a click are there**: no click rate and no other ranking can be judged by them, since lists that
    nobody clicked are missing. Click models can learn where users look, given that they click.

    Raises:
        ColumnError: a column of `train.csv` is missing.
    """
    table = unfolded(open_table(source))
    refuse_lacking(table, _OWN, "use Trivago's train.csv of 2019")
    kept = KeptRows(table, _ACTION, (_CLICKOUT,))
    return WideLog(ReferenceClicks(kept), _ROLES, invalid, description=Description("sessions", lacks=_LACKS))


@trivago2019.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    return {} if {*_OWN, *_ROLES.values()} <= {*beginning.names} else None


@dataclass(frozen=True)
class ReferenceClicks(TableOver):
    """Lists of hotels with a column `clicks`: 1 for the hotel that the row refers to."""

    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return ("clicks", *self.table.names)

    def stamp(self) -> Mapping[str, Any] | None:
        return stamp_of(self.table)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        own = [name for name in columns if name != "clicks"]
        if len(own) == len(columns):
            yield from self.table.pieces(part, columns)
            return
        for piece in self.table.pieces(part, tuple(dict.fromkeys((*own, "reference", "impressions")))):
            data = piece.data
            clicks, outside = _clicks(data.column("reference"), data.column("impressions"))
            skipped = {**piece.skipped, OUTSIDE: outside} if outside else piece.skipped
            made = pa.record_batch({name: clicks if name == "clicks" else data.column(name) for name in columns})
            yield replace(piece, data=made, skipped=skipped)


def _clicks(reference: pa.Array, impressions: pa.Array) -> tuple[pa.Array, int]:
    """Return the clicks beside the lists of hotels, and the references that are not in their list."""
    shown = flat.lists(impressions, "impressions")
    hotel = pc.utf8_trim_whitespace(flat.plain_column(reference).cast(pa.large_string()))
    row = pa.array(np.repeat(np.arange(len(shown.lengths)), shown.lengths))
    same = pc.fill_null(pc.equal(shown.values.cast(pa.large_string()), hotel.take(row)), False)
    found = np.bincount(row.filter(same), minlength=len(shown.lengths)) > 0
    return lists_of(same.cast(pa.int8()), shown.lengths), int((~found & ~flat.nulls(reference)).sum())
