"""Diginetica (CIKM Cup 2016): what each query returned (`train-queries.csv`), and the clicks (`train-clicks.csv`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import ColumnError, LogError
from ..beginning import Beginning
from ..joining import ClicksBeside, ItemKeys, KeptRows
from ..opening import open_table
from ..unfolding import unfolded
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_QUERIES, _CLICKS = "train-queries.csv", "train-clicks.csv"
_OWN = {"queryId", "sessionId", "items", "is.test"}


@READERS.register
@Reader.of("events")
def diginetica(path: str | Path, *, invalid: Invalid = "raise") -> WideLog:
    """Read the folder of Diginetica's files, or its `train-queries.csv` with `train-clicks.csv` beside it.

    An impression is a query: `items` in the order of the shop's default ranking, top first. Columns: slate, clicks,
    `session`, `user` where it is known, and as they are `queryId`, `categoryId`, `searchstring.tokens`, `eventdate`
    and the others. Queries of the challenge's test (`is.test`) have no clicks and are left out. Clicks are joined
    on `queryId` and `itemId`; those on other items and repeats are counted.

    One ranker sorted the items, and no propensities were logged: other rankings cannot be judged unless like queries
    were answered differently. Click models can be fitted.

    Raises:
        LogError: the files are not there, or no click is on what was returned. ColumnError: a column is missing.
    """
    queries, clicks = _files(Path(path))
    table = unfolded(open_table(queries), {"slate": "items"})
    if missing := _OWN - {*table.names}:
        raise ColumnError(f"{queries} has no column {min(missing)!r}", f"use Diginetica's own {_QUERIES}")
    kept = KeptRows(table, "is.test", ("FALSE", "false", "False"))
    by = ItemKeys("queryId", "items", listed=True), ItemKeys("queryId", "itemId")
    joined = ClicksBeside(kept, open_table(clicks), *by, "clicks")
    return WideLog(joined, {"slate": "items", "session": "sessionId", "user": "userId"}, invalid)


@diginetica.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    names = {Path(path).name for path in beginning.paths}
    try:
        _files(Path(beginning.source))
    except (LogError, TypeError):
        return None
    return {} if _QUERIES in names and (_CLICKS in names or {*beginning.names} >= _OWN) else None


def _files(path: Path) -> tuple[str, str]:
    """Return the files of the queries and of the clicks."""
    folder = path if path.is_dir() else path.parent
    found = [str(folder / name) for name in (_QUERIES, _CLICKS)]
    for one in found:
        if not Path(one).is_file():
            raise LogError(f"there is no {one}", f"give the folder that contains {_QUERIES} and {_CLICKS}")
    return found[0], found[1]
