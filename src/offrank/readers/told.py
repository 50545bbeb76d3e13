"""A log in words: where it is, how many rows it has, and its columns."""

from __future__ import annotations

from typing import Any


def told(layout: str, table: Any) -> str:
    """A line on the log, and one per column; rows only where they are known without reading them.

    They are of tables in memory, and of Parquet, which has them in its metadata.
    """
    held = getattr(table, "table", None)  # of tables in memory; a data set of text files; Parquet is asked itself
    held = getattr(table, "dataset", table) if held is None else held
    rows, schema = getattr(held, "num_rows", None), getattr(held, "schema", None)
    kinds = {} if schema is None else dict(zip(schema.names, schema.types, strict=True))
    columns = "".join(f"\n  {name}: {kinds[name]}" if name in kinds else f"\n  {name}" for name in table.names)
    return f"{table.describe()}: {layout} layout{'' if rows is None else f', {rows:,} rows'}{columns}"
