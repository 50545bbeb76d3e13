"""Logs of a router of language models, and of any choice of one option: what was chosen, how probably, what it earned.

request_id, model, propensity, score; and the other options as a list, or as an object {option: probability}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import ColumnError, LogError
from ...log.schema import GROUPING, ROLES
from .. import flat, names
from ..computed_columns import Computed, DerivedTable, always, one_each
from ..conversions import is_number, whole_column, yes_or_no
from ..names import DICTIONARY, SURE_FIT, group_columns
from ..opening import Beginning, open_table
from ..roles import single as pick
from ..roles.columns import of_values
from ..tables import MemoryTable, Table, all_pieces, first_rows, refuse_lacking
from ..unfolding import unfolded
from ..wide import Invalid, WideLog
from .registry import READERS, Reader


@READERS.register
@Reader.of("wide", of_tables=True)
def router(
    source: Any,
    *,
    chosen: str = "model",
    reward: str = "reward",
    propensity: str = "propensity",
    candidates: str = "",
    probs: str = "",
    inclusion: str = "",
    invalid: Invalid = "raise",
) -> WideLog:
    """Read a table with a choice per row as impressions of one slot.

    - chosen, reward, propensity: the columns of what was chosen, of what it earned (of any sign) and of the probability
      with which it was chosen; empty where that was not logged: say `logging`, such as `counted(by=query)`.
    - candidates: the column that lists the options of each row. probs: the column of objects {option: probability},
      which tells options and propensity, and becomes the score `probs` beside the candidates: `plackett_luce(probs)` is
      the router. With neither, the options are those that were ever chosen, which one pass over the log finds.
    - inclusion: the column of the probability with which a row was kept; of `pdrop`, of that it was not.

    Columns: slate, candidates, reward, propensity, and the others as they are, to group by: a new router's choice is
    `ranking(new_model)`. Other objects of probabilities with these options are scores: `plackett_luce(new_probs)` is a
    new router. Costs can be judged as a reward of their own, `router(reward=cost)`.

    Raises:
        ColumnError: there is no such column, or options differ from row to row and are not listed.
        LogError: too many options were chosen for a router.
    """
    table = unfolded(open_table(source))
    probs = probs or (propensity if propensity not in table.names and _fields(propensity, table.names) else "")
    fields = _fields(probs, table.names)
    propensity = "" if fields else propensity
    refuse_lacking(table, [chosen, reward, *filter(None, (propensity, candidates, inclusion))])
    computed: dict[str, Computed] = {"slate": one_each(chosen)}
    kept = {"reward": reward}
    if fields:
        computed["candidates"] = tuple(fields.values()), partial(_options, tuple(fields))
        computed["probs"] = tuple(fields.values()), partial(_beside, len(fields))
        computed["propensity"] = (chosen, *fields.values()), partial(_chosen, tuple(fields))
    elif propensity:
        kept["propensity"] = propensity
    if inclusion and "drop" in inclusion.lower():
        computed["inclusion"] = (inclusion,), kept_rate
    elif inclusion:
        kept["inclusion"] = inclusion
    options: Sequence[str] = tuple(fields)
    if candidates:
        kept["candidates"] = candidates
    elif not fields:
        if propensity:
            _refuse_unlisted(table, chosen, reward, propensity)
        every = ever(table, chosen)
        computed["candidates"], options = always(every, chosen), [*map(str, every.to_pylist())]
    used = {chosen, reward, inclusion, *kept.values(), *fields.values()}
    for name in dict.fromkeys(one.partition(".")[0] for one in table.names if "." in one and not candidates):
        own = _fields(name, table.names)
        if name != probs and own.keys() >= {*options}:
            computed[name] = (*fields.values(), *(own[one] for one in options)), partial(_beside, len(options))
            used |= {*own.values()}
    kept |= {name: name for name in table.names if name not in used and name not in computed and name not in kept}
    groups = names.group_columns(kept, used)
    return WideLog(DerivedTable(table, kept, computed, width=max(len(fields), 1)), groups, invalid)


@router.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    rows = beginning.rows
    if rows is None or not rows.num_rows or len({*rows.column_names}) < rows.num_columns:
        return None
    single = [name for name in rows.column_names if not pa.types.is_nested(rows.schema.field(name).type)]
    words = DICTIONARY
    chosen = [name for name in single if name.lower() in words["ROUTE"] and pick.is_choice(rows.column(name))]
    reward = [name for name in single if name.lower() in words["ROUTE_REWARD"] and is_number(rows[name].type)]
    written = [name for name in single if names.closeness("propensity", name) >= 3 and pick.is_probability(rows[name])]
    probs = [name for name in words["ROUTE_PROBS"] if _fields(name, rows.column_names)]
    reward = [name for name in reward if name.lower() == "reward"] or reward
    written = [] if probs else written
    ranks = any(names.closeness(role, name) >= 3 for role in ("position", "click", "item") for name in single)
    if ranks or any(len(one) != 1 for one in (chosen, reward, probs or written)):  # rows may belong together
        return _by_shape(rows)
    listed = [name for name in words["ROUTE_OPTIONS"] if name in rows.column_names]
    found = {"chosen": chosen[0], "reward": reward[0]}
    rates = [name for name in single if name.lower() in {*words["INCLUSION"], "pdrop"} and is_number(rows[name].type)]
    found |= {"inclusion": rates[0]} if len(rates) == 1 else {}
    if probs:
        known = {*rows.column(chosen[0]).unique().to_pylist()} <= {*_fields(probs[0], rows.column_names)}
        return {**found, "probs": probs[0]} if known else None
    found["propensity"] = written[0]
    if listed:
        return {**found, "candidates": listed[0]} if len(listed) == 1 else None
    return None if pick.lacks_options(rows, pick.ChoiceColumns(chosen[0], reward[0], written[0], alone=True)) else found


def _by_shape(rows: pa.Table) -> Mapping[str, Any] | None:
    """Tell a choice of anything else by an option, what it earned and a probability called so, in rows of their own."""
    found = pick.choice_of(rows)
    if found is None:
        told = choice_by_objects(rows)
        return told if told and told["reward"] else None
    if not found.alone:
        return None
    named = {"chosen": found.chosen, "reward": found.earned}
    if not found.propensity:
        probs = _distribution(rows, found.chosen)
        return {**named, "probs": probs} if probs else None
    return None if pick.lacks_options(rows, found) else {**named, "propensity": found.propensity}


def choice_by_objects(rows: pa.Table) -> Mapping[str, str] | None:
    """Return a choice told by the one object of probabilities of its options; an empty reward if that is unclear."""
    single = [one.name for one in rows.schema if "." not in one.name and not pa.types.is_nested(one.type)]
    if any(names.closeness("position", name) >= SURE_FIT for name in single):
        return None
    pairs = [(one, found) for one in single if pick.is_choice(rows[one]) and (found := _distribution(rows, one))]
    if len(pairs) != 1:
        return None
    words = names.words_of("ROUTE_REWARD")
    called = [name for name in single if words & {*names.parts(name)} and is_number(rows[name].type)]
    earned = called or [pick.earned_of(of_values(rows.select(single)), pairs[0][0]) or ""]
    return {"chosen": pairs[0][0], "reward": earned[0] if len(earned) == 1 else "", "probs": pairs[0][1]}


def _distribution(rows: pa.Table, chosen: str) -> str:
    """Return the one column of objects that tells the probability of each option; where several do, that called so."""
    options, able = {*map(str, rows.column(chosen).unique().to_pylist())}, []
    for name in dict.fromkeys(one.partition(".")[0] for one in rows.column_names):
        own = _fields(name, rows.column_names)
        if own.keys() >= options and all(is_number(rows.schema.field(one).type) for one in own.values()):
            each = np.nan_to_num(_matrix(rows.select([*own.values()]).combine_chunks().to_batches()[0]))
            able += [name] if (each >= 0).all() and np.allclose(each.sum(axis=1), 1, atol=_ROUNDED) else []
    called = [name for name in able if name.lower() in DICTIONARY["ROUTE_PROBS"]]
    return next(iter(called or able), "") if len(called or able) == 1 else ""


_ROUNDED = 0.01
"""How far from 1 the probabilities of a row may add up, as they are written."""


def _fields(probs: str, columns: Sequence[str]) -> dict[str, str]:
    """Return the columns that an object of probabilities was unfolded to, by option."""
    return {name.removeprefix(f"{probs}."): name for name in columns if probs and name.startswith(f"{probs}.")}


def _refuse_unlisted(table: Table, chosen: str, reward: str, propensity: str) -> None:
    """Raise if not every row had all options that were ever chosen, by the propensities of the first rows.

    Raises:
        ColumnError: the options have to be listed.
    """
    rows = first_rows(table, (chosen, propensity))
    if not (rows.num_rows and pick.is_choice(rows.column(chosen)) and pick.is_probability(rows.column(propensity))):
        return
    found = pick.ChoiceColumns(chosen, reward, propensity, alone=True)
    if pick.lacks_options(rows, found):
        said = f"{propensity!r} shows that not every row of {table.describe()} had all options of {chosen!r}"
        raise ColumnError(said, pick.TO_LIST.format(found.spelled))


def ever(table: Table, chosen: str) -> pa.Array:
    """Return all values of a column, ascending."""
    pieces = (piece.data.column(chosen) for piece in all_pieces(table, (chosen,)))
    found = {value for one in pieces for value in flat.plain_column(one).unique().to_pylist()} - {None}
    if len(found) > pick.MOST_OPTIONS:
        raise LogError(f"{chosen!r} has {len(found):,} different values", "name the column of the options")
    return pa.array(sorted(found))


def _options(options: Sequence[str], rows: pa.RecordBatch) -> pa.Array:
    """Return the options of each row that have a probability."""
    known = _known(rows)
    return flat.lists_of(pa.array(np.tile(options, (len(rows), 1))[known]), known.sum(axis=1))


def _beside(options: int, rows: pa.RecordBatch) -> pa.Array:
    """Return probabilities of the options of each row: the last columns, if others before them tell the options."""
    names = rows.schema.names
    known = _known(rows.select(names[:options]))
    return flat.lists_of(pa.array(_matrix(rows.select(names[-options:]))[known]), known.sum(axis=1))


def kept_rate(rows: pa.RecordBatch) -> pa.Array:
    """Return the probability with which rows were kept, from that with which they were not."""
    return pa.array(1 - flat.numbers(rows.column(0), rows.schema.names[0]))


def _known(rows: pa.RecordBatch) -> Any:
    return np.column_stack([~flat.nulls(column) for column in rows.columns])


def _matrix(rows: pa.RecordBatch) -> Any:
    return np.column_stack([flat.numbers(rows.column(name), name) for name in rows.schema.names])


def _chosen(options: Sequence[str], rows: pa.RecordBatch) -> pa.Array:
    """Return the probability of what was chosen; NaN, which breaks a rule, where it is not an option."""
    place = pc.index_in(rows.column(0).cast(pa.string()), pa.array(options, pa.string())).fill_null(len(options))
    each = np.column_stack([_matrix(rows.select(rows.schema.names[1:])), np.full(len(rows), np.nan)])
    return pa.array(each[np.arange(len(rows)), np.asarray(place)])


@READERS.register
@Reader.of("wide", general=True, of_tables=True)
def ab_test(
    source: Any, *, arm: str = "arm", reward: str = "reward", impression: str = "", invalid: Invalid = "raise"
) -> WideLog:
    """Read an A/B test of which no rankers are known as impressions of one slot, in which each arm shows itself.

    - arm, reward: the columns of the arm, and of what a row earned, of any sign; the numbers of a list are added.
    - impression: the column of rows that belong together, such as the items of a list: what they earned is added, and
      one row for each is held in memory.

    Columns: slate, candidates (all arms), reward, the score `is_A` by which `top(is_A)` shows arm A, and the others.
    Those that are called user, session or query, such as `user_id`, tell which rows depend on each other.

    Raises:
        ColumnError: there is no such column. LogError: too many arms, or two in one impression.
    """
    table = unfolded(open_table(source))
    refuse_lacking(table, (arm, reward, *([impression] if impression else [])))
    table = _added(table, arm, reward, impression) if impression else table
    arms = ever(table, arm)
    others = (name for name in table.names if name != reward and (name not in ROLES or name in GROUPING))
    kept = {name: name for name in others}
    made = {f"is_{one}": always(pc.cast(pc.equal(arms, one), pa.float64()), arm) for one in arms}
    made |= {"slate": one_each(arm), "candidates": always(arms, arm), "reward": ((reward,), partial(_earned, reward))}
    return WideLog(DerivedTable(table, kept, made, width=len(arms)), group_columns(kept, {arm}), invalid)


def _earned(reward: str, rows: pa.RecordBatch | pa.Table) -> pa.Array:
    """Return what each row earned, of a list the sum.

    Raises:
        ColumnError: it holds no numbers.
    """
    values = flat.plain_column(whole_column(rows.column(0)))
    if not pa.types.is_nested(values.type):
        return pa.array(flat.numbers(yes_or_no(values), reward), from_pandas=True)
    earned = flat.numbers(pc.list_flatten(values), reward)
    return pa.array(np.bincount(pc.list_parent_indices(values), earned, len(values)))


def _added(table: Table, arm: str, reward: str, impression: str) -> MemoryTable:
    """Return a row per impression: what its rows earned together, and the first value of all else.

    Raises:
        LogError: one has two arms.
    """
    rows = pa.Table.from_batches(piece.data for piece in all_pieces(table, table.names))
    rows = rows.set_column(table.names.index(reward), reward, _earned(reward, rows.combine_chunks().select([reward])))
    others = [name for name in table.names if name not in (reward, impression)]
    asked = [(reward, "sum", pc.ScalarAggregateOptions(skip_nulls=False)), (arm, "count_distinct")]
    found = rows.group_by(impression, use_threads=False).aggregate([*asked, *((name, "first") for name in others)])
    if pc.max(found.column(f"{arm}_count_distinct")).as_py() > 1:
        raise LogError(f"rows of one {impression!r} have 2 values of {arm!r}", "name a column whose rows have one arm")
    found = found.drop_columns(f"{arm}_count_distinct").rename_columns([impression, reward, *others])
    return MemoryTable(found, table.describe())
