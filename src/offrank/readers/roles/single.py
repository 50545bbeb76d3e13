"""Tables with a choice of one option per row: which column is the option, and which is what it earned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import conversions, flat, names
from ..names import SURE_FIT, words_of
from .columns import Column, like_probabilities, of_values

TO_LIST = (
    "name the column that lists the options of each row, format='router({}, candidates=NAME)'; if every row had all of "
    "them, the propensities are wrong"
)
MOST_OPTIONS = 100
"""Options that a row is chosen from, at most."""
_FLAGS = ("click", "used", "outcome")
"""Roles whose words may call a flag that tells what a choice earned, the likelier ones first."""
_FULL = 0.95
"""The mean weight of uniform, at least, where each row has all options; it is 1, but for some that are never chosen."""
_ERRORS = 5
"""Standard errors below that, from which it is no chance."""
_EFFECTIVE = 0.1
"""The least effective share of the rows at which weights that were not seen cannot explain it."""


@dataclass(frozen=True)
class ChoiceColumns:
    """The columns of a table with a choice in each row: what was chosen, what it earned, and how probable it was.

    propensity: empty where it is not told. alone: whether it is sure that no rows belong together. called: the column
    that is called a propensity and holds no probabilities, if there is one.
    """

    chosen: str
    earned: str
    propensity: str
    alone: bool
    called: str = ""

    @property
    def spelled(self) -> str:
        """The options of `router`."""
        roles = {"chosen": self.chosen, "reward": self.earned, "propensity": self.propensity or self.called}
        return ", ".join(f"{role}={name}" for role, name in roles.items() if name)


def choice_of(rows: pa.Table) -> ChoiceColumns | None:
    """Return the columns of a table with a choice in each row, by their names and values; None if they are unclear."""
    single = _without_lists(rows)
    chosen = _best("option", [name for name in single if is_choice(rows.column(name))])
    if not chosen or any(names.closeness("position", name) >= SURE_FIT for name in single if name != chosen):
        return None
    earned = earned_of(single, chosen)
    near, written = _probabilities(rows, single)
    if earned is None or len(near) > 1:
        return None
    propensity, called = (written[0], "") if written else ("", next(iter(near), ""))
    return ChoiceColumns(chosen, earned, propensity, _are_alone(single, chosen), called)


def earned_of(single: Mapping[str, Column], chosen: str) -> str | None:
    """Return the column of what a choice earned: a flag that is called so, or else numbers; None if it is unclear."""
    flags = [name for name, one in single.items() if len(one.clicks) and name != chosen and one.clicks.max() == 1]
    earned = next((found for role in _FLAGS if (found := _best(role, flags))), None)
    return earned or _best("outcome", [name for name, one in single.items() if len(one.numbers) and name != chosen])


def costed_choice(rows: pa.Table) -> ChoiceColumns | None:
    """Return the columns of a table of choices with a probability and a cost, such as `a, cost, p`; None of others."""
    single = _without_lists(rows)
    if any(names.closeness("position", name) >= SURE_FIT for name in single):
        return None
    costs = [name for name, one in single.items() if words_of("COST") & {*names.parts(name)} and len(one.numbers)]
    written = [name for name in _probabilities(rows, single)[1] if name not in costs]
    able = [name for name in single if name not in (*costs, *written) and is_choice(rows.column(name))]
    chosen = _best("option", able) or next((name for name in able if name.lower() == "a" or len(able) == 1), None)
    if chosen is None or len(costs) != 1 or len(written) != 1:
        return None
    return ChoiceColumns(chosen, costs[0], written[0], _are_alone(single, chosen))


def _without_lists(rows: pa.Table) -> dict[str, Column]:
    """Return the columns of a table without lists and objects; none of one with any."""
    return {} if any(pa.types.is_nested(kind) for kind in rows.schema.types) else of_values(rows)


def _probabilities(rows: pa.Table, names_in: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the columns that are called a probability, and those of them that hold any."""
    near = [name for name in names_in if names.closeness("propensity", name) >= SURE_FIT or name.lower() == "p"]
    return near, [name for name in near if is_probability(rows.column(name))]


def _are_alone(single: Mapping[str, Column], chosen: str) -> bool:
    """Whether each row has an id or a time of its own, or no column that is called as an id of lists comes twice."""
    if any(_of_each_row(one) for one in single.values()):
        return True
    roles = "impression", "session", "item"
    called = (name for role in roles for name in single if names.closeness(role, name) >= SURE_FIT and name != chosen)
    return not any(len(single[name].groups) for name in called)


def lacks_options(rows: pa.Table, found: ChoiceColumns) -> bool:
    """Whether some rows had not all options that were ever chosen: each is chosen as often as its propensity says."""
    options = rows.column(found.chosen).combine_chunks().unique()
    numbers = flat.numbers(rows.column(found.propensity).combine_chunks(), found.propensity)
    weight = 1 / len(options) / numbers[numbers > 0]
    error = weight.std() / np.sqrt(len(weight))
    effective = weight.sum() ** 2 / (weight**2).sum() / len(weight)
    return bool(weight.mean() + _ERRORS * error < _FULL and effective >= _EFFECTIVE)


def _of_each_row(column: Column) -> bool:
    """Whether a column is an id of its own in each row, or a time that hardly ever comes twice."""
    timed = pa.types.is_temporal(column.data.type) or names.closeness("time", column.name) >= 3
    least = _TIMES_APART if timed else 1.0
    return pc.count_distinct(column.data).as_py() >= least * len(column.data)


_TIMES_APART = 0.95
"""The least share of times that differ where rows belong to no lists."""


def _best(role: str, able: Sequence[str]) -> str | None:
    """Return the column whose name fits a role best, None if none is called so or two fit as well."""
    ranked = sorted(able, key=lambda name: -names.closeness(role, name))
    fits = [names.closeness(role, name) for name in ranked]
    clear = fits and fits[0] >= SURE_FIT and (len(fits) == 1 or fits[0] > fits[1])
    return ranked[0] if clear else None


def is_choice(column: pa.ChunkedArray) -> bool:
    """Whether a column holds texts or whole numbers of which few differ."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if column.null_count or not (conversions.is_text(kind) or pa.types.is_integer(kind)):
        return False
    return 2 <= len(column.cast(kind).unique()) <= min(MOST_OPTIONS, len(column) // 2)


def is_probability(column: pa.ChunkedArray) -> bool:
    """Whether a column holds probabilities, not all of them 1."""
    numbers = flat.numbers(conversions.whole_column(column), "") if conversions.is_number(column.type) else np.empty(0)
    return like_probabilities(numbers) and bool(np.nanmin(numbers) < 1)
