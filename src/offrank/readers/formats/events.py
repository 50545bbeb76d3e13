"""Logs of events: impressions and clicks as two tables, or as one stream of rows of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import ColumnError, UsageError
from ...wording import Option, Wording
from ..joining import ClicksBeside, ItemKeys, KeptRows
from ..long import LongLog
from ..opening import open_table
from ..tables import Table
from ..wide import Invalid, WideLog
from .registry import READERS, Reader


@READERS.register
@Reader.of("events")
def events(
    source: Any,
    *,
    clicks: str = "",
    kind: str = "",
    shown: str = "",
    clicked: str = "click",
    impression: str = "impression",
    item: str = "item",
    position: str = "position",
    slate: str = "",
    click_impression: str = "",
    click_item: str = "",
    invalid: Invalid = "raise",
) -> WideLog | LongLog:
    """Read impressions and the clicks on them, which are other rows: of a second table, or of another kind.

    - source: one table with rows of several kinds, or the impressions alone with `clicks`, or a list of two tables:
      the one without `position` and `slate` holds the clicks.
    - clicks: where the clicks are. kind: the column that tells the kinds of rows apart; shown, clicked: its values of
      impressions and of clicks, several with `|` between them.
    - impression, item: the columns that name an impression and an item of it. position: its rank. slate: the list of
      items, if a row is an impression. click_impression, click_item: how the table of the clicks calls them.

    Each item has a click or none: repeats are counted as `click-repeated`, clicks on what no impression showed as
    `click-outside-slate`. Rows of other kinds are not read. The clicks are held in memory, 16 bytes each.

    Raises:
        UsageError: the options do not say what is an impression and what a click.
        ColumnError: there is no such column. LogError: no click is on an item that was shown.
    """
    own = ItemKeys(impression, slate or item)
    theirs = ItemKeys(click_impression or impression, click_item or item)
    impressions, clicking = _tables(source, clicks, (kind, shown, clicked), slate or position)
    for table, wanted in (
        (impressions, (own.impression, own.item, *([] if slate else [position]))),
        (clicking, (theirs.impression, theirs.item)),
    ):
        for name in wanted:
            if name not in table.names:
                raise ColumnError(f"{table.describe()} has no column {name!r}", f"it has {', '.join(table.names)}")
    made = "clicks" if slate else "click"
    table = ClicksBeside(impressions, clicking, own, theirs, _free(made, impressions.names))
    if slate:
        return WideLog(table, {"slate": slate, made: table.made}, invalid)
    return LongLog(table, {"impression": impression, "item": item, "position": position, made: table.made}, invalid)


def _tables(source: Any, clicks: str, kinds: tuple[str, str, str], rank: str) -> tuple[Table, Table]:
    """Return the impressions and the clicks. rank: the column that only impressions have."""
    column, shown, clicked = kinds
    if column:
        if not shown:
            raise UsageError(
                f"which rows of {column!r} are impressions is not said",
                Wording("say so: {}", Option("format", f"events(kind={column}, shown=impression, clicked=click)")),
            )
        whole = open_table(source)
        return (
            KeptRows(whole, column, tuple(shown.split("|"))),
            KeptRows(open_table(clicks) if clicks else whole, column, tuple(clicked.split("|"))),
        )
    if clicks:
        return open_table(source), open_table(clicks)
    two = list(source) if isinstance(source, Sequence) and not isinstance(source, str | Path) else []
    if len(two) != 2:
        raise UsageError(
            "impressions and clicks are two tables, or rows of several kinds",
            Wording("say where the clicks are: {}", Option("format", "events(clicks='clicks.parquet')")),
        )
    first, second = map(open_table, two)
    if rank in first.names and rank in second.names:
        raise UsageError(f"both tables have a column {rank!r}", "give the impressions, and clicks= beside them")
    return (first, second) if rank in first.names else (second, first)


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name for a new column that no column has."""
    while name in taken:
        name = f"{name}_"
    return name
