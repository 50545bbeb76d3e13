"""Diginetica (CIKM Cup 2016): what each query returned (`train-queries.csv`), and the clicks (`train-clicks.csv`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import LogError
from ..beginning import Beginning
from ..joining import ItemKeys
from ..opening import open_table
from ..wide import Invalid, WideLog
from .declared import Declared, Only
from .registry import READERS

_FILES = "train-queries.csv", "train-clicks.csv"
_QUERIES = Declared(
    "events",
    own=("queryId", "sessionId", "items", "is.test"),
    source=f"Diginetica's own {_FILES[0]}",
    roles={"slate": "items", "session": "sessionId", "user": "userId"},
    kept=Only("is.test", ("FALSE", "false", "False")),
    clicks=ItemKeys("queryId", "itemId"),
)


@READERS.register
@_QUERIES.reader
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
    return _QUERIES.log(queries, invalid, open_table(clicks))


diginetica.of_tables = False  # a path tells of both files


@diginetica.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    names = {Path(path).name for path in beginning.paths}
    try:
        _files(Path(beginning.source))
    except (LogError, TypeError):
        return None
    known = _FILES[1] in names or _QUERIES.recognised(beginning) is not None
    return {} if _FILES[0] in names and known else None


def _files(path: Path) -> tuple[str, str]:
    """Return the files of the queries and of the clicks."""
    folder = path if path.is_dir() else path.parent
    found = [str(folder / name) for name in _FILES]
    for one in found:
        if not Path(one).is_file():
            raise LogError(f"there is no {one}", f"give the folder that contains {' and '.join(_FILES)}")
    return found[0], found[1]
