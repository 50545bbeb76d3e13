"""Tables with a choice of one option per row: which column is the option, and which is what it earned."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from .. import conversions
from . import names
from .columns import Column, of_values

MOST_OPTIONS = 100
"""Options that a row is chosen from, at most."""
_CLICKS = ("click", "used", "outcome")


def chosen_and_earned(rows: pa.Table) -> tuple[str, str] | None:
    """Return the columns of what was chosen and of what it earned, by their names and values; None if unclear.

    That rows do not belong together must be sure: a column is an id or a time of its own in each row, none a position.
    """
    single = of_values(rows)
    if not any(_of_each_row(one) for one in single.values()) or any(
        names.closeness("position", name) >= 2 for name in single
    ):
        return None
    chosen = _best("option", [name for name in single if is_choice(rows.column(name))])
    flags = [name for name, one in single.items() if len(one.clicks) and name != chosen and one.clicks.max() == 1]
    called = next((found for role in _CLICKS if (found := _best(role, flags))), None)
    return (chosen, called) if chosen and called else None


def _of_each_row(column: Column) -> bool:
    """Whether a column is an id of its own in each row, or a time that hardly ever comes twice."""
    timed = conversions.is_temporal(column.data.type) or names.closeness("time", column.name) >= 3
    least = _TIMES_APART if timed else 1.0
    return pc.count_distinct(column.data).as_py() >= least * len(column.data)


_TIMES_APART = 0.95
"""The least share of times that differ where rows belong to no lists."""


def _best(role: str, able: Sequence[str]) -> str | None:
    """Return the column whose name fits a role best, None if none is called so or two fit as well."""
    ranked = sorted(able, key=lambda name: -names.closeness(role, name))
    fits = [names.closeness(role, name) for name in ranked]
    clear = fits and fits[0] >= 2 and (len(fits) == 1 or fits[0] > fits[1])
    return ranked[0] if clear else None


def is_choice(column: pa.ChunkedArray) -> bool:
    """Whether a column holds texts or whole numbers of which few differ."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if column.null_count or not (conversions.is_text(kind) or pa.types.is_integer(kind)):
        return False
    return 2 <= len(column.cast(kind).unique()) <= min(MOST_OPTIONS, len(column) // 2)


def is_probability(column: pa.ChunkedArray) -> bool:
    """Whether a column holds probabilities, not all of them 1."""
    number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if not number or column.null_count:
        return False
    least, most = (pc.min_max(column)[end].as_py() for end in ("min", "max"))
    return bool(0 < least <= most <= 1 and least < 1)
