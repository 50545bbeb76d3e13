"""KuaiRand (Gao et al. 2022): videos that were inserted into a feed at random (`log_random_*.csv`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import LogError
from ...log.rules import NOT_DRAWN
from ..beginning import Beginning
from ..computed_columns import Computed, DerivedTable, always, one_each
from ..files import is_paths
from ..joining import KeptRows
from ..opening import open_table
from ..tables import all_pieces, refuse_lacking
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_RANDOM, _VIDEO = "is_rand", "video_id"
_OWN = {"user_id", _VIDEO, "time_ms", "is_click", _RANDOM, "tab"}
_ENOUGH, _NEW = 100, 0.1
"""Random rows from which the pool is doubted, and the largest share of them that may be the only one of a video."""
_REMEDY = "give log_random_*.csv, or the folder that contains it"


@READERS.register
@Reader
def kuairand(source: Any, *, clicks: str = "is_click", invalid: Invalid = "raise") -> WideLog:
    """Read the random interventions of KuaiRand: `log_random_*.csv`, or the folder that holds it.

    An impression is a row with `is_rand` 1: one video, drawn uniformly from a pool. Columns: slate (the video),
    candidates (the pool: all videos that were inserted so, which one pass over the log finds), clicks, propensity
    (1 / the size of the pool), `user`, and the file's others to group by. A part of the file shows a part of the pool:
    read it whole.

    clicks: the column of the feedback, such as `long_view` or `is_like`.

    Rows of `log_standard_*.csv` were recommended, with unknown probabilities, and are counted as `not-drawn`.
    Which videos came before and after in the feed was not published, so that nothing longer than one slot can be
    judged.

    Raises:
        ColumnError: a column of KuaiRand is missing. LogError: no row is random.
    """
    table = open_table(_random(source))
    refuse_lacking(table, sorted(_OWN | {clicks}), _REMEDY)
    drawn = KeptRows(table, _RANDOM, ("1",), NOT_DRAWN.code)
    videos = (np.asarray(piece.data.column(_VIDEO)) for piece in all_pieces(drawn, (_VIDEO,)))
    shown = np.concatenate([np.zeros(0, np.int64), *videos])
    pool, times = np.unique(shown, return_counts=True)
    once = int((times == 1).sum())  # over the rows: the probability that the next video is a new one (Good)
    if len(shown) >= _ENOUGH and once > _NEW * len(shown):
        raise LogError(
            f"{table.describe()} has {len(shown):,} rows that were shown at random, too few to tell the pool that "
            f"their videos were drawn from: {once:,} of {len(pool):,} videos stand in one row only",
            _REMEDY,
        )
    if not len(pool):
        raise LogError(f"no row of {table.describe()} was shown at random: {_RANDOM} is never 1", _REMEDY)
    computed: dict[str, Computed] = {
        "slate": one_each(_VIDEO),
        "candidates": always(pa.array(pool), _VIDEO),
        "clicks": one_each(clicks),
        "propensity": ((_VIDEO,), partial(_uniform, 1 / len(pool))),
    }
    kept = {name: name for name in table.names if name not in (_VIDEO, _RANDOM, clicks)}
    return WideLog(DerivedTable(drawn, kept, computed, width=len(pool)), {"user": "user_id"}, invalid)


@kuairand.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    named = any(Path(path).name.startswith("log_random_") for path in beginning.paths)
    return {} if {*beginning.names} >= _OWN or (named and len(beginning.paths) > 1) else None


def _random(source: Any) -> Any:
    """Return the random logs of a folder; anything else as it is."""
    if is_paths(source) and isinstance(source, str | Path) and Path(source).is_dir():
        found = [str(path) for path in sorted(Path(source).glob("log_random_*.csv*"))]
        if not found:
            raise LogError(f"there is no log_random_*.csv in {str(source)!r}", _REMEDY)
        return found
    return source


def _uniform(propensity: float, rows: pa.RecordBatch) -> pa.Array:
    return pa.array(np.full(len(rows), propensity))
