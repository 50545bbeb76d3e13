"""A log in words: where it is, how many rows it has, and its columns."""

from __future__ import annotations

from typing import Any


def told(layout: str, table: Any) -> str:
    """A line on the log, and one per column; rows only where they are known without reading them.

    They are of tables in memory, and of Parquet, which has them in its metadata.
    """
    held: Any = getattr(table, "table", None)  # tables in memory hold one, files a data set
    held = getattr(table, "dataset", None) if held is None else held
    rows = getattr(held, "num_rows", None)
    if rows is None and getattr(table, "kind", "") == "parquet":
        rows = held.count_rows()
    kinds = {} if held is None else dict(zip(held.schema.names, held.schema.types, strict=True))
    columns = "".join(f"\n  {name}: {kinds[name]}" if name in kinds else f"\n  {name}" for name in table.names)
    return f"{table.describe()}: {layout} layout{'' if rows is None else f', {rows:,} rows'}{columns}"
