"""Finn.no slates (Eide et al. 2021, `data.npz`): what users of a marketplace were shown, and the click on each slate.

userId [users], slate [users, times, places], click, click_idx, slate_lengths, interaction_type [users, times].
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import LogError, UsageError
from ...log.arrays import array_names, read_arrays
from ..beginning import Beginning
from ..tables import MemoryTable
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_OWN = ("userId", "slate", "click", "slate_lengths")
_PADDING, _NO_CLICK = 0, 1
_REMEDY = "use data.npz of the Finn.no slates"


@READERS.register
@Reader
def finn_slates(path: str | PathLike[str], *, invalid: Invalid = "raise") -> WideLog:
    """Read `data.npz` of the Finn.no slates: search results and recommendations with at most one click each.

    Columns: slate (without the padding 0 and the item 1, which stands for no click), clicks, `user`,
    `interaction_type` (1 search, 2 recommendations) to group by. Item 2 stands for all that are rare; where it comes
    twice, click models count its first place. Items that were ranked lower than what was shown are unknown, and no
    propensities were logged: other rankings cannot be judged, and click models can be fitted. The arrays are held in
    memory.

    Raises:
        UsageError: the argument is not a path. LogError: it cannot be read, or an array is missing.
    """
    if not isinstance(path, str | PathLike):
        raise UsageError(f"{type(path).__name__} is not a path", _REMEDY)
    where = fspath(path)
    found = read_arrays(where, _OWN, _REMEDY)
    if missing := [name for name in _OWN if name not in found]:
        raise LogError(f"{where} has no array {missing[0]!r}", _REMEDY)
    try:
        table = _table(found)
    except (ValueError, IndexError) as error:
        raise LogError(f"the arrays of {where} have inconsistent shapes: {error}", _REMEDY) from error
    return WideLog(MemoryTable(table, where), {"user": "userId"}, invalid, duplicates="first", clicks_as="items")


@finn_slates.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    return {} if {*_OWN} <= array_names(beginning.paths, beginning.head) else None


def _table(arrays: Mapping[str, Any]) -> pa.Table:
    """Return a row per slate that was shown."""
    user, time = np.nonzero(arrays["slate_lengths"] > 0)
    slate, length = arrays["slate"][user, time], arrays["slate_lengths"][user, time]
    shown = (np.arange(slate.shape[1]) < length[:, None]) & ~np.isin(slate, (_PADDING, _NO_CLICK))
    rows = np.flatnonzero(shown.any(axis=1))
    user, time, slate, shown = user[rows], time[rows], slate[rows], shown[rows]
    click = arrays["click"][user, time]
    columns = {
        "slate": pa.LargeListArray.from_arrays(np.append(0, np.cumsum(shown.sum(axis=1))), pa.array(slate[shown])),
        "clicks": pa.array(click, mask=np.isin(click, (_PADDING, _NO_CLICK))),
        "userId": arrays["userId"][user],
    }
    if "interaction_type" in arrays:
        columns["interaction_type"] = arrays["interaction_type"][user, time]
    return pa.table(columns)
