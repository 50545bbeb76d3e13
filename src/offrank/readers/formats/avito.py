"""Avito's context ads (Kaggle 2015, `trainSearchStream.tsv`): the ads of each search, and clicks on some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..long import LongLog
from ..wide import Gaps, Invalid
from .declared import Declared, Only
from .registry import READERS

_STREAM = Declared(
    "long",
    own=("SearchID", "AdID", "Position", "ObjectType", "IsClick"),
    source="Avito's trainSearchStream.tsv",
    roles={"impression": "SearchID", "item": "AdID", "position": "Position", "click": "IsClick"},
    kept=Only("ObjectType", ("3",), "place-not-recorded"),
    lacks="clicks are known of contextual ads alone (ObjectType 3), whose order is kept as by --gaps close; nothing "
    "was drawn, so no other ranking can be evaluated",
)


@READERS.register
@_STREAM.reader
def avito(source: Any, *, gaps: Gaps = "close", invalid: Invalid = "raise") -> LongLog:
    """Read Avito's `trainSearchStream.tsv`: the contextual ads of each search and the clicks on them.

    Rows of other ads (`ObjectType` 1 and 2) have no `IsClick`; they are left out, and counted as `place-not-recorded`.
    `HistCTR` is what Avito expected before. Nothing was drawn: click models can be fitted, no other ranking be judged.

    gaps: the positions between those of contextual ads are missing; "close" makes them ranks 1, 2, 3 ...; "raise"
    leaves them as they are, which click models read and all other jobs refuse.

    Raises:
        ColumnError: a column is missing.
    """
    return replace(_STREAM, gaps=gaps).long_log(source, invalid)
