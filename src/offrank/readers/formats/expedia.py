"""Expedia's hotel searches (Kaggle and ICDM 2013, `train.csv`): a row per hotel, some searches sorted at random."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from ...errors import UsageError
from ...log.rules import NOT_DRAWN
from ..beginning import Beginning
from ..description import Description
from ..joining import KeptRows
from ..long import LongLog
from ..opening import open_table
from ..tables import refuse_lacking
from ..wide import Gaps, Invalid
from .registry import READERS, Reader

Searches = Literal["random", "sorted", "all"]

_COLUMNS = {"impression": "srch_id", "item": "prop_id", "position": "position", "click": "click_bool"}
_RANDOM = "random_bool"
_KEPT: Mapping[Searches, tuple[str, ...]] = {"random": ("1",), "sorted": ("0",)}


@READERS.register
@Reader.of("long", of_tables=True)
def expedia(source: Any, *, searches: Searches = "random", gaps: Gaps = "close", invalid: Invalid = "raise") -> LongLog:
    """Read Expedia's `train.csv`, or a table of its columns: the hotels of each search and the clicks on them.

    - searches: "random" keeps those with `random_bool` 1, whose hotels were sorted at random: other rankings of the
      hotels that were shown can be judged by them, with `logging="uniform"`. The rest are counted as `not-drawn`.
      "sorted" keeps the others, which a ranker sorted: nothing was drawn, so that they can judge none. "all" keeps
      both, for click models.
    - gaps: positions of offers that are not in the file are missing; "close" makes the others ranks 1, 2, 3 ...;
      "raise" leaves them as they are, which click models read and all other jobs refuse.

    Bookings (`booking_bool`, `gross_bookings_usd`) stay columns of the hotels. Hotels that were not shown are unknown,
    and `test.csv` has no positions and no clicks.

    Raises:
        UsageError: there is no such choice of searches. ColumnError: a column of `train.csv` is missing.
    """
    if searches not in get_args(Searches):
        raise UsageError(f"searches is {searches!r}", 'use "random", "sorted" or "all"')
    table = open_table(source)
    refuse_lacking(table, (*_COLUMNS.values(), _RANDOM), "use Expedia's train.csv")
    others = NOT_DRAWN.code if searches == "random" else ""
    kept = KeptRows(table, _RANDOM, _KEPT[searches], others) if searches != "all" else table
    logging = "uniform" if searches == "random" else ""
    return LongLog(kept, _COLUMNS, invalid, gaps=gaps, description=Description("long", logging=logging))


@expedia.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    return {"searches": "random"} if {*_COLUMNS.values(), _RANDOM} <= {*beginning.names} else None
