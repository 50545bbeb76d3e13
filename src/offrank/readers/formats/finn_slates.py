"""Finn.no slates (Eide et al. 2021, `data.npz`): what users of a marketplace were shown, and the click on each slate.

userId [users], slate [users, times, places], click, click_idx, slate_lengths, interaction_type [users, times]; or a
table with a row per slate.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError
from ...log.arrays import array_names, read_arrays
from .. import flat
from ..beginning import Beginning
from ..conversions import whole_column
from ..tables import MemoryTable
from ..wide import Invalid, WideLog
from .declared import Declared
from .registry import READERS, Reader

_OWN = ("userId", "slate", "click", "slate_lengths")
_PADDING, _NO_CLICK = 0, 1
_REMEDY = "use data.npz of the Finn.no slates"
_SLATES = Declared(
    "wide",
    own=_OWN[:3],
    source=f"{_REMEDY.removeprefix('use ')}, or a table with a row per slate",
    roles={"slate": "slate", "user": "userId"},
    clicked="click",
    nothing=(_PADDING, _NO_CLICK),
    duplicates="first",
)


@READERS.register
@Reader
def finn_slates(path: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read the Finn.no slates: search results and recommendations with at most one click each.

    They are `data.npz`, or a table with a row per slate: `userId`, `slate`, `click` (the item), and others.

    Columns: slate (without the padding 0 and the item 1, which stands for no click), clicks, `user`,
    `interaction_type` (1 search, 2 recommendations) to group by. Item 2 stands for all that are rare; where it comes
    twice, click models count its first place. Items that were ranked lower than what was shown are unknown, and no
    propensities were logged: other rankings cannot be judged, and click models can be fitted. Arrays are held in
    memory. A click on what is not in its slate is counted as `click-outside-slate`.

    Raises:
        LogError: it cannot be read, or an array is missing. ColumnError: a column of the table is missing.
    """
    named = fspath(path) if isinstance(path, str | PathLike) else ""
    return _SLATES.log(_table(named) if named.endswith(".npz") or array_names([named], b"PK") else path, invalid)


@finn_slates.recognised
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
    if {*_OWN} <= array_names(beginning.paths, beginning.head):
        return {}
    rows = beginning.rows
    if rows is None or _SLATES.recognised(beginning) is None:
        return None
    slate, click = (whole_column(rows.column(name)) for name in ("slate", "click"))
    if not (isinstance(slate.type, flat.LISTS) and all(map(pa.types.is_integer, (slate.type.value_type, click.type)))):
        return None
    with_none = pc.list_parent_indices(slate).filter(pc.equal(slate.flatten(), _NO_CLICK))
    return {} if len(with_none.unique()) == len(rows) and pc.any(pc.equal(click, _NO_CLICK)).as_py() else None


def _table(where: str) -> MemoryTable:
    """Return a row per slate that was shown.

    Raises:
        LogError: the file cannot be read, or an array is missing.
    """
    arrays: Mapping[str, Any] = read_arrays(where, _OWN, _REMEDY)
    if missing := [name for name in _OWN if name not in arrays]:
        raise LogError(f"{where} has no array {missing[0]!r}", _REMEDY)
    try:
        _, times, places = arrays["slate"].shape  # of the times that a user does not have all lists are padding
        slate = pa.FixedSizeListArray.from_arrays(pa.array(arrays["slate"].ravel()), places)
        columns = {"userId": np.repeat(arrays["userId"], times), "slate": slate}
        columns |= {name: arrays[name].ravel() for name in ("click", "interaction_type") if name in arrays}
        return MemoryTable(pa.table(columns), where)
    except (ValueError, pa.ArrowException) as error:
        raise LogError(f"the arrays of {where} have inconsistent shapes: {error}", _REMEDY) from error
