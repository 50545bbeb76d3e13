"""The roles of a table with a row per impression, and lists in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ...errors import ColumnError, LogError
from ...log.batch import Floats
from .. import arrow, conversions
from ..arrow import Lists
from ..description import Description
from . import names
from .choice import Roles
from .columns import of_values

_FEW = 0.01
"""The largest share of rows that may break a rule."""


@dataclass(frozen=True, eq=False)
class ListColumn:
    """The first rows of a column of lists."""

    name: str
    lists: Lists

    @cached_property
    def ids(self) -> Lists | None:
        """The lists as ids, None if they are none."""
        kind = self.lists.values.type
        if pa.types.is_floating(kind) or pa.types.is_nested(kind) or pa.types.is_temporal(kind):
            return None
        if pa.types.is_boolean(kind) or pa.types.is_null(kind):
            return None
        codes = arrow.codes(self.lists.values, self.name)
        return Lists(codes, self.lists.starts, self.lists.lengths, self.lists.null, arrow.id_kind(kind))

    @cached_property
    def numbers(self) -> Floats:
        """The values of all lists as clicks or other numbers; none [0] of anything else."""
        try:
            return arrow.numbers(conversions.clicks(self.lists.values, self.name), self.name)
        except ColumnError:
            return np.empty(0)

    @property
    def distinct(self) -> bool:
        """Whether the ids of a list are distinct, and not all lists are the same few numbers."""
        return self.ids is not None and bool(self.ids.twice().mean() <= _FEW)

    def within(self, other: ListColumn) -> bool:
        """Whether the ids of each list stand in the other's list."""
        if self.ids is None or other.ids is None or self.ids.kind != other.ids.kind:
            return False
        return bool((other.ids.places(self.ids) == -2).any(axis=1).mean() <= _FEW)

    def beside(self, other: ListColumn) -> bool:
        """Whether the lists have the lengths of another's."""
        return bool((self.lists.lengths == other.lists.lengths).mean() >= 1 - _FEW)


def wide_roles(rows: pa.Table, said: Mapping[str, str]) -> Description:
    """Tell the roles of the columns of a wide table from its first rows. said: those that were given."""
    lists, roles = _lists(rows), Roles(said)
    ids = {name: one for name, one in lists.items() if one.distinct and one.lists.lengths.max(initial=0) > 0}
    clicks = [name for name, one in lists.items() if _may_be_clicks(one)]
    ids = {name: one for name, one in ids.items() if name not in clicks or names.fit("click", name) < 2}
    slate = _slate(roles, ids, [lists[name] for name in clicks if name in lists])
    if slate is None:
        return Description("none", {}, lacks="no column holds lists of distinct ids: the items that were shown")
    if slate not in lists:
        return Description("none", {}, lacks=f"no column {slate!r} holds lists of ids, the items that were shown")
    shown = lists[slate]
    if "clicks" in said or "reward" in said:
        roles.choose("clicks", [], "") if "clicks" in said else None
        lacks = ""
    else:
        lacks = _clicks(roles, lists, shown, clicks)
    if "candidates" not in said:
        pool = [name for name, one in ids.items() if _is_pool(one, shown)]
        roles.if_sure("candidates", [name for name in pool if name not in roles.taken])
    _beside(roles, lists, shown, rows)
    return Description("wide", roles.found, None, roles.notes, tuple(roles.unsettled), lacks)


def _lists(rows: pa.Table) -> dict[str, ListColumn]:
    """Return the columns of lists."""
    found = {}
    for name in rows.column_names:
        kind = rows.schema.field(name).type
        if pa.types.is_nested(kind) and hasattr(kind, "value_type") and not pa.types.is_map(kind):
            column = rows.column(name).combine_chunks()
            column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
            try:
                found[name] = ListColumn(name, arrow.lists(column, name))
            except (ColumnError, LogError):
                continue
    return {name: one for name, one in found.items() if not pa.types.is_nested(one.lists.values.type)}


def _may_be_clicks(one: ListColumn) -> bool:
    """Whether lists may hold clicks: whole numbers, most of them 0, or a name that says it."""
    known = one.numbers[~np.isnan(one.numbers)]
    if not len(known) or known.min() < 0:
        return False
    return bool(known.max() <= 1 and (known % 1 == 0).all()) or names.fit("click", one.name) >= 2


def _slate(roles: Roles, ids: Mapping[str, ListColumn], beside: list[ListColumn]) -> str | None:
    """Choose the list that was shown: clicks stand beside it, and candidates contain it."""
    if "slate" in roles.said:
        return roles.choose("slate", [], "")
    beside = [one for one in beside if names.fit("click", one.name) >= 2] or beside
    clicked = [name for name, one in ids.items() if any(each.beside(one) and each is not one for each in beside)]
    able = clicked or list(ids)
    smaller = [name for name in able if not any(_is_pool(ids[name], ids[one]) for one in able if one != name)]
    return roles.choose("slate", smaller or able, "its ids are distinct in each row, and clicks stand beside it")


def _is_pool(pool: ListColumn, shown: ListColumn) -> bool:
    """Whether lists contain the shown ones and more."""
    more = pool.lists.lengths.sum() > shown.lists.lengths.sum()
    return pool is not shown and bool(more) and shown.within(pool)


def _clicks(roles: Roles, lists: Mapping[str, ListColumn], shown: ListColumn, clicks: list[str]) -> str:
    """Give the role of the clicks, or ask; return what is lacking."""
    able = [name for name in clicks if lists[name] is not shown and lists[name].beside(shown)]
    called = [name for name in able if names.fit("click", name) >= 2 or name == "clicks"]
    if called:
        chosen = str(roles.choose("clicks", called, "numbers beside the slate, called so", words="click"))
        kind = lists[chosen].lists.values.type
        if conversions.is_time(kind):
            roles.notes["clicks"] = "a time where it was clicked"
        elif conversions.is_text(kind):
            roles.notes["clicks"] = "in words"
    elif able:
        roles.ask("clicks", sorted(able, key=lambda name: -names.fit("used", name)))
    return "" if able else "no list beside the slate tells what was clicked: log 1 or 0 for each item shown"


def _beside(roles: Roles, lists: Mapping[str, ListColumn], shown: ListColumn, rows: pa.Table) -> None:
    """Give the roles of values of the row, and of logged probabilities, to columns that are called so."""
    single = of_values(rows)
    for role in ("query", "user", "session"):
        roles.if_sure(role, [name for name in single if names.fit(role, name) >= 2])
    logged = {name: one.numbers for name, one in single.items() if pa.types.is_floating(one.data.type)}
    listed = {
        name: one.numbers
        for name, one in lists.items()
        if pa.types.is_floating(one.lists.values.type) and one.beside(shown)
    }
    for role, found in (("propensity", logged), ("slot_propensity", listed)):
        named = [name for name in found if names.fit("propensity", name) >= 2 and _probabilities(found[name])]
        roles.if_sure(role, named, "propensity")


def _probabilities(numbers: Floats) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool(len(known) and known.min() > 0 and known.max() <= 1)
