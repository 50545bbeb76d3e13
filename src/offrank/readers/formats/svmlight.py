"""Query files of LightGBM and XGBoost in SVMlight's text, with the positions at which their documents were shown.

grade qid:query index:value ...    beside it FILE.position, and FILE.query or FILE.group where no line has `qid:`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import LogError, UsageError
from ...log.graded_queries import Judged
from ..beginning import Beginning
from ..computed_columns import in_lists
from ..description import Description
from ..svmlight import read_svmlight
from ..tables import MemoryTable
from ..text import is_whole, lines, malformed
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_LINE = re.compile(r"-?\d+(\.\d+)?( qid:\d+)?( \d+:[-+.\deE]+)+\s*(#.*)?")
_POSITIONS = ".position"
_LOOKED_AT = 20
"""Lines that must all be in the format."""


@READERS.register
@Reader.of("pairs")
def svmlight(path: str | PathLike[str], *, positions: str = "", invalid: Invalid = "raise") -> WideLog:
    """Read a query file of LightGBM or XGBoost whose labels are clicks, with the positions of its documents.

    - positions: the file of positions, one a line; by default the one beside the data that ends in `.position`.

    An impression is a query: its slate is its documents by their positions, which are taken for an order. Columns:
    slate (the numbers of the lines), clicks, `query`, `features` (a vector for each document, beside `candidates`). No
    propensities were logged. All is held in memory.

    Labels other than 0 and 1 are judgements, not clicks, and without positions nobody knows what was shown: such files
    are refused. `offrank simulate` takes them, and draws clicks of its own.

    Raises:
        UsageError: the argument is not a path. LogError: there are no positions or no clicks, or a line is none.
    """
    if not isinstance(path, str | PathLike):
        raise UsageError(f"{type(path).__name__} is not a path", "give the path of one file")
    where = fspath(path)
    beside = positions or where.removesuffix(".gz") + _POSITIONS
    if not Path(beside).is_file():
        raise LogError(
            f"{where} has judged documents but no positions, so it does not say what was shown",
            f"give the positions as {beside}, or simulate users: offrank simulate --data {where}",
        )
    judged = read_svmlight(where)
    if not np.isin(judged.grade, (0, 1)).all():
        raise LogError(
            f"{where} has labels other than 0 and 1: they are judgements, and clicks are missing",
            f"use a file whose labels are clicks, or simulate users: offrank simulate --data {where}",
        )
    table = _table(judged, _places(beside, judged.rows))
    return WideLog(MemoryTable(table, where), {}, invalid, description=Description("wide"))


@svmlight.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    found = [line for line in beginning.text.splitlines()[:_LOOKED_AT] if not line.startswith("#")]
    return {} if len(beginning.paths) == 1 and found and all(map(_LINE.fullmatch, found)) else None


def _places(path: str, rows: int) -> Any:
    """Return the position of each document [rows]."""
    found = []
    for number, text in lines(path):
        if word := text.strip():
            if not is_whole(word):
                raise malformed(path, number, text, "a position, a whole number", "give one position per line")
            found.append(int(word))
    if len(found) != rows:
        raise LogError(f"{path} has {len(found):,} positions for {rows:,} documents", "give one for each document")
    return np.array(found)


def _table(judged: Judged, places: Any) -> pa.Table:
    """Return a row per query, its documents by their positions."""
    order = np.lexsort((places, judged.owner))
    again = (np.diff(places[order]) == 0) & (np.diff(judged.owner[order]) == 0)
    if again.any():
        query = judged.query[judged.owner[order[1:][again][0]]]
        raise LogError(f"two documents of query {query} have the same position", "give each document its own position")
    ends, columns = pa.array(judged.first, pa.int64()), {"slate": judged.document, "clicks": judged.grade}
    made = {name: pa.LargeListArray.from_arrays(ends, pa.array(of[order])) for name, of in columns.items()}
    width = judged.features.shape[1]
    vectors = in_lists(pa.array(judged.features[order].ravel()), width)
    return pa.table(made | {"query": judged.query, "features": pa.LargeListArray.from_arrays(ends, vectors)})
