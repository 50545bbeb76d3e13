"""The plain case: a Parquet file in the documented wide layout, which needs no look at its rows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from ..errors import OffrankError
from . import arrow
from .conversions import is_text
from .files import Files
from .parquet_orc_arrow import ParquetTable
from .roles.names import closeness, may_group
from .wide import WideLog

CALLED = 3
"""How well a name must fit a role to look at the first rows, or to be of a row's time: `release_date` fits less."""


def documented(source: Any) -> WideLog | None:
    """Return the log of a Parquet file in the documented wide layout: the plain case; None of any other source.

    No other column could be meant for one of the layout, or be made of others. No row is read: columns of text, which
    may hold lists or objects, are looked at when one of them is asked for.
    """
    path = str(Path(source)) if isinstance(source, str | Path) else ""
    if not path.endswith(".parquet") or {":", "="} & {*path} or not os.path.isfile(path):  # noqa: PTH113  a name?
        return None
    table = ParquetTable(Files((path,)))
    try:
        kinds = {one.name: one.type for one in table.schema}
        listed = {name for name, kind in kinds.items() if isinstance(kind, arrow.LISTS)}
        if len(kinds) < len(table.schema) or not {"slate", "clicks", *({"candidates"} & kinds.keys())} <= listed:
            return None
        numbered, nested = re.search("[0-9]", "".join(kinds)), any("struct<" in str(kind) for kind in kinds.values())
        if numbered or nested or may_group(kinds) or not table.parts() or table.may_be_null("clicks"):
            return None
    except (OffrankError, UnicodeError):  # whoever looks at the file tells what is wrong
        return None
    log = WideLog(table, {}, texts=frozenset(name for name, kind in kinds.items() if is_text(kind)))
    return None if "candidates" not in kinds and lacks_candidates(log) else log


def lacks_candidates(log: Any) -> bool:
    """Whether a wide log has no candidates under their name, but a column that is called as they are."""
    if not isinstance(log, WideLog) or "candidates" in log.stored.names or log.renamed:
        return False
    return any(closeness("candidates", name) >= CALLED for name in log.stored.names)
