"""What is read as what: the columns of a log, with what each can be used for, by its first rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import ColumnError, UsageError
from ..log.batch import Integers
from ..log.schema import LONG_ROLES, ROLES
from ..log.source import Source
from . import arrow
from .long import LongLog
from .wide import WideLog

LIKE = {
    "propensity": ("pscore", "propensities", "propensity_score", "action_prob", "logging_prob"),
    "query": ("query_id", "qid", "search_term", "search_query"),
    "user": ("user_id", "uid", "member_id", "customer_id"),
    "session": ("session_id", "visit_id"),
    "clicks": ("clicked", "click", "is_click"),
    "click": ("clicks", "clicked", "is_click"),
    "reward": ("revenue", "conversion"),
    "inclusion": ("sampling_rate", "sample_rate", "keep_prob"),
}
"""Names that logs often have for a role; nothing is read by them until somebody says so."""


_ROWS = 1000


@dataclass(frozen=True)
class Column:
    """A column of a log: its name and type, and the use that is made of it.

    use: a role; `score` and `ranking` beside the candidates; `group` for a value per impression; else empty. like: the
    role whose usual name it has, where that role has no column.
    """

    name: str
    type: str
    use: str = ""
    like: str = ""


def described(log: Source) -> tuple[Column, ...]:
    """The columns of a log, in its own order.

    Raises:
        UsageError: not a log from `read_log`.
        LogError: its first rows cannot be read.
    """
    if not isinstance(log, WideLog | LongLog):
        raise UsageError(f"cannot look at the columns of {type(log).__name__}", "give a log from read_log")
    known = LONG_ROLES if isinstance(log, LongLog) else ROLES
    role_of = {log.renamed.get(role, role): role for role in known}
    piece = next(log.table.pieces(0, log.table.names), None)
    if piece is None:
        return ()
    look = _Long if isinstance(log, LongLog) else _Wide
    uses = look(arrow.without_views(piece.data.slice(0, _ROWS)), {role: name for name, role in role_of.items()})
    roles = {role_of[name] for name in log.table.names if name in role_of}
    found = []
    for name in log.table.names:
        near = next((role for role, names in LIKE.items() if name.lower() in names and role in known), "")
        use = role_of.get(name) or uses.use(name)
        like = near if near not in roles and name not in role_of else ""
        found.append(Column(name, _type(piece.data.schema.field(name).type), use, like))
    return tuple(found)


@dataclass(frozen=True)
class _Wide:
    """The first rows of a log in the wide layout. own: role -> column."""

    data: pa.RecordBatch
    own: dict[str, str]

    def use(self, name: str) -> str:
        """What a column without a role can be used for."""
        if not pa.types.is_nested(self.data.schema.field(name).type):
            return "group"
        candidates = self.own["candidates"]
        beside = candidates if candidates in self.data.schema.names else self.own["slate"]
        try:
            return self._beside(name, arrow.id_lists(self.data.column(beside), beside))
        except ColumnError:
            return ""

    def _beside(self, name: str, items: arrow.Lists) -> str:
        values, starts, lengths, null = arrow.lists(self.data.column(name), name)
        if null is not None or values.null_count or pa.types.is_nested(values.type):
            return ""
        if not pa.types.is_floating(values.type) and self._ranks(values, starts, lengths, items, name):
            return "ranking"
        return "score" if _is_number(values.type) and np.array_equal(lengths, items.lengths) else ""

    def _ranks(self, values: pa.Array, starts: Integers, lengths: Integers, items: arrow.Lists, name: str) -> bool:
        """Whether every list holds candidates of its row, none twice."""
        codes = arrow.codes(values, name)
        for row in range(len(starts)):
            held = codes[starts[row] : starts[row] + lengths[row]]
            known = items.values[items.starts[row] : items.starts[row] + items.lengths[row]]
            if len(np.unique(held)) < len(held) or not np.isin(held, known).all():
                return False
        return True


@dataclass(frozen=True)
class _Long:
    """The first rows of a log in the long layout. own: role -> column."""

    data: pa.RecordBatch
    own: dict[str, str]

    def use(self, name: str) -> str:
        """What a column without a role can be used for."""
        column = self.data.column(name)
        if pa.types.is_nested(column.type):
            return ""
        if not self._differs(column, name).any():
            return "group"
        return "score" if _is_number(column.type) and not column.null_count else ""

    def _differs(self, column: pa.Array, name: str) -> NDArray[np.bool_]:
        """[n] rows whose value is not that of the row above, of the same impression."""
        impression = arrow.codes(self.data.column(self.own["impression"]), self.own["impression"])
        values = arrow.numbers(column, name) if _is_number(column.type) else arrow.codes(column, name)
        return np.asarray((values[1:] != values[:-1]) & (impression[1:] == impression[:-1]))


def _type(kind: pa.DataType) -> str:
    """A type in words: `list of double`."""
    return (
        f"list of {_type(kind.value_type)}" if pa.types.is_nested(kind) and hasattr(kind, "value_type") else str(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
