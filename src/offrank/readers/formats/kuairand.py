"""KuaiRand (Gao et al. 2022): videos that were inserted into a feed at random (`log_random_*.csv`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import LogError
from ..beginning import Beginning
from ..computed_columns import Computed, DerivedTable, always, one_each
from ..files import is_paths
from ..tables import all_pieces, refuse_lacking
from ..wide import Invalid, WideLog
from .declared import Declared, drawn
from .registry import READERS, Reader

_REMEDY = "give log_random_*.csv, or the folder that contains it"
_LOG = Declared(
    "wide",
    own=("user_id", "video_id", "time_ms", "is_click", "is_rand", "tab"),
    source=f"KuaiRand: {_REMEDY}",
    kept=drawn("is_rand", "no row of {} was shown at random: is_rand is never 1", _REMEDY),
)
_UNSEEN = 0.5
"""Videos of the pool that no row may have shown, as many as are expected, up to which the pool is taken for known."""


@READERS.register
@Reader
def kuairand(source: Any, *, clicks: str = "is_click", invalid: Invalid = "raise") -> WideLog:
    """Read the random interventions of KuaiRand: `log_random_*.csv`, or the folder that holds it.

    An impression is a row with `is_rand` 1: one video, drawn uniformly from a pool. Columns: slate (the video),
    candidates (the pool: all videos that were inserted so, which one pass over the log finds), clicks, propensity
    (1 / the size of the pool), `user`, and the file's others to group by. A part of the file may show a part of the
    pool: it is refused where draws from as many videos as it shows would have left some of them unseen.

    clicks: the column of the feedback, such as `long_view` or `is_like`.

    Rows of `log_standard_*.csv` were recommended, with unknown probabilities, and are counted as `not-drawn`.
    Which videos came before and after in the feed was not published, so that nothing longer than one slot can be
    judged.

    Raises:
        ColumnError: a column of KuaiRand is missing. LogError: no row is random, or too few to tell the pool.
    """
    rows = _LOG.rows(_random(source))
    refuse_lacking(rows, (clicks,), _REMEDY)
    shown = [np.asarray(piece.data.column("video_id")) for piece in all_pieces(rows, ("video_id",))]
    videos, draws = np.unique(np.concatenate(shown)), sum(map(len, shown))
    if (unseen := len(videos) * (1 - 1 / len(videos)) ** draws) > _UNSEEN:
        raise LogError(
            f"{rows.describe()} has {draws:,} rows that were shown at random, too few to tell the pool that their "
            f"videos were drawn from: so many draws from the {len(videos):,} videos that they show would leave about "
            f"{max(unseen, 1):,.0f} unseen",
            _REMEDY,
        )
    computed: dict[str, Computed] = {
        "slate": one_each("video_id"),
        "candidates": always(pa.array(videos), "video_id"),
        "clicks": one_each(clicks),
        "propensity": (("video_id",), partial(_uniform, 1 / len(videos))),
    }
    kept = {name: name for name in rows.names if name not in ("video_id", "is_rand", clicks)}
    return WideLog(DerivedTable(rows, kept, computed, width=len(videos)), {"user": "user_id"}, invalid)


@kuairand.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    named = any(Path(path).name.startswith("log_random_") for path in beginning.paths)
    return _LOG.recognised(beginning) if not named or len(beginning.paths) < 2 else {}


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
