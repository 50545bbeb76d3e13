"""Open Bandit Data: one recommended item per row, with its propensity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from ...errors import LogError, UsageError
from ...wording import Option, Wording
from ..beginning import Beginning
from ..computed_columns import Computed, DerivedTable, always, one_each
from ..csv_json import CsvJsonTable
from ..files import Files, suffix
from ..tables import refuse_lacking
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_ITEMS, _OF_ITEM = "item_context.csv", "user-item_affinity_"
_ROLES = {"slate": "item_id", "clicks": "click", "propensity": "propensity_score"}


@READERS.register
@Reader
def open_bandit(path: str | Path, *, n_items: int | None = None, invalid: Invalid = "raise") -> WideLog:
    """Read a campaign of Open Bandit Data: its folder, or its CSV file (also `.csv.gz`).

    The published rows cannot be reassembled into slates of three, so each row is an impression of one
    slot; `position` (1 left, 3 right) stays a column to group by, and so do `timestamp`,
    `user_feature_0` and the other columns. Every item of the campaign is a candidate: those of the
    `item_context.csv` beside the log, or 0 ... n_items - 1.
    Columns: slate, candidates, clicks, propensity (of the item at this position), and the file's others.

    Raises:
        UsageError: n_items is not a positive number.
        LogError: no such log, or no item_context.csv beside it.
        ColumnError: a column of Open Bandit Data is missing.
    """
    if n_items is not None and n_items < 1:
        raise UsageError(f"n_items is {n_items!r}", "give the number of items of the campaign")
    log = _log(Path(path))
    items = tuple(range(n_items)) if n_items is not None else _items(log.with_name(_ITEMS))
    csv = CsvJsonTable(Files((str(log),)), "csv")
    refuse_lacking(csv, (*_ROLES.values(), "position"), "use a campaign's log of Open Bandit Data")
    others = {
        name: name for name in csv.names if name and name not in _ROLES.values()
    }  # one without a name counts rows
    typed = csv.typed(dict.fromkeys(others, pa.string()) | dict.fromkeys(("click", "propensity_score"), pa.float64()))
    computed: dict[str, Computed] = {"slate": one_each("item_id"), "clicks": one_each("click")}
    computed["candidates"] = always(pa.array(items), "item_id")
    return WideLog(DerivedTable(typed, {"propensity": "propensity_score"} | others, computed, len(items)), {}, invalid)


@open_bandit.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    beside = any(path.endswith(_ITEMS) for path in beginning.paths)
    try:
        log = _log(Path(beginning.source))
    except (LogError, TypeError):
        return None
    own = {*_ROLES.values(), "position"} <= {*beginning.names} or beside
    if own and log.with_name(_ITEMS).is_file():
        return {}
    items = sum(name.startswith(_OF_ITEM) for name in beginning.names)  # a copy of the log alone has a column for each
    return {"n_items": items} if own and items else None


def _log(path: Path) -> Path:
    """Return the log of a campaign's folder, or the file itself."""
    if path.is_file():
        return path
    found = [p for p in sorted(path.glob("*.csv*")) if suffix(p) == ".csv" and p.name != _ITEMS]
    if len(found) != 1:
        what = f"{len(found)} logs" if path.is_dir() else "no such file or folder"
        raise LogError(f"{str(path)!r}: {what}", "give one campaign's CSV file, or the folder that contains it")
    return found[0]


def _items(path: Path) -> tuple[int, ...]:
    if not path.is_file():
        raise LogError(
            f"{_ITEMS} is missing next to the log, so its candidates are unknown: {str(path)!r}",
            Wording("add the file, or give the number of items: {}", Option("format", "open_bandit(n_items=34)")),
        )
    try:
        options = pyarrow.csv.ConvertOptions(include_columns=["item_id"], column_types={"item_id": pa.int64()})
        table = pyarrow.csv.read_csv(path, convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise LogError(f"{path} cannot be read: {error}", "use the campaign's own file, with item_id") from error
    return tuple(table.column("item_id").to_pylist())
