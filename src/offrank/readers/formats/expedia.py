"""Expedia's hotel searches (Kaggle and ICDM 2013, `train.csv`): a row per hotel, some searches sorted at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from ...errors import UsageError
from ...wording import Option, Wording
from ..beginning import Beginning
from ..long import LongLog
from ..wide import Gaps, Invalid
from .declared import Declared, Only, drawn
from .registry import READERS

Searches = Literal["random", "sorted", "all"]

_NONE = "no search of {} was sorted at random (random_bool is never 1), so no other ranking can be evaluated"
_SORTED = "a ranker sorted these searches or some of them, so no other ranking can be evaluated"
_TRAIN = Declared(
    "long",
    own=("srch_id", "prop_id", "position", "click_bool", "random_bool"),
    source="Expedia's train.csv",
    roles={"impression": "srch_id", "item": "prop_id", "position": "position", "click": "click_bool"},
)
_KEPT = {
    "random": replace(
        _TRAIN,
        kept=drawn(
            "random_bool", _NONE, Wording("for click models read all: {}", Option("format", "expedia(searches=all)"))
        ),
        logging="uniform",
    ),
    "sorted": replace(_TRAIN, kept=Only("random_bool", ("0",)), lacks=_SORTED),
    "all": replace(_TRAIN, lacks=_SORTED),
}


@READERS.register
@_TRAIN.reader
def expedia(source: Any, *, searches: Searches = "random", gaps: Gaps = "close", invalid: Invalid = "raise") -> LongLog:
    """Read Expedia's `train.csv`, or a table of its columns: the hotels of each search and the clicks on them.

    - searches: "random" keeps those with `random_bool` 1, whose hotels were sorted at random: other rankings of the
      hotels that were shown can be judged by them, with `logging="uniform"`. The rest are counted as `not-drawn`.
      "sorted" keeps the others, which a ranker sorted: nothing was drawn, so that they can judge none. "all" keeps
      both, for click models: so is a table read of which no search is random.
    - gaps: positions of offers that are not in the file are missing; "close" makes the others ranks 1, 2, 3 ...;
      "raise" leaves them as they are, which click models read and all other jobs refuse.

    Bookings (`booking_bool`, `gross_bookings_usd`) stay columns of the hotels. Hotels that were not shown are unknown,
    and `test.csv` has no positions and no clicks.

    Raises:
        UsageError: there is no such choice of searches. ColumnError: a column of `train.csv` is missing. LogError: no
            search is random.
    """
    if searches not in get_args(Searches):
        raise UsageError(f"searches is {searches!r}", 'use "random", "sorted" or "all"')
    return replace(_KEPT[searches], gaps=gaps).long_log(source, invalid)


@expedia.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    if _TRAIN.recognised(beginning) is None:
        return None
    rows = beginning.rows
    none = rows is not None and not pc.any(pc.equal(rows.column("random_bool").cast(pa.string()), "1")).as_py()
    return {"searches": "all" if none else "random"}
