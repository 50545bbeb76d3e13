"""The table of an A/B test without rankers: which arm each row had, and what it earned."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError
from ...log.schema import GROUPING, ROLES
from .. import flat
from ..computed_columns import DerivedTable, always, one_each
from ..conversions import whole_column
from ..opening import open_table
from ..roles.names import group_columns
from ..tables import MemoryTable, Table, all_pieces, refuse_lacking
from ..unfolding import unfolded
from ..wide import Invalid, WideLog
from .registry import READERS, Reader
from .router import ever


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
        return pa.array(flat.numbers(values, reward), from_pandas=True)
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
        raise LogError(
            f"rows of one {impression!r} have two values of {arm!r}", "name a column whose rows have one arm"
        )
    found = found.drop_columns(f"{arm}_count_distinct").rename_columns([impression, reward, *others])
    return MemoryTable(found, table.describe())
