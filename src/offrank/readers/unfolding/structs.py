"""Structs, and lists of them, as columns with dotted names: `items: list<struct<sku, click>>` has `items.sku`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import flat

Path = tuple[str, ...]
"""The fields that lead from a column to what is taken out of it."""


def leaves(kind: pa.DataType, *, listed: bool = False) -> Iterator[Path]:
    """Yield the way to each plain value or list of a type; one empty way where there is nothing to take apart.

    listed: whether a list was met on the way: lists in the structs of a list stay as they are.
    """
    inner = kind.value_type if isinstance(kind, _LISTS) and not listed else kind
    if pa.types.is_struct(inner) and inner.num_fields:
        within = listed or inner is not kind
        yield from ((field.name, *rest) for field in inner for rest in leaves(field.type, listed=within))
    else:
        yield ()


def taken(column: pa.Array, path: Path) -> pa.Array:
    """Return what lies at the end of a path: a value per row, or a list per row if a list was met on the way."""
    for name in path:
        column = _child(flat.plain_column(column), name)
    return column


def kind_at(kind: pa.DataType, path: Path) -> pa.DataType:
    """Return the type of what lies at the end of a path."""
    return taken(pa.array([], kind), path).type


def _child(column: pa.Array, name: str) -> pa.Array:
    """Return one field of structs, or of the structs in lists; what is null has null fields."""
    if pa.types.is_struct(column.type):
        return pc.struct_field(column, [column.type.get_field_index(name)])
    column = flat.plain_list(column)
    offsets = np.asarray(column.offsets)
    held = column.values.slice(offsets[0], offsets[-1] - offsets[0])  # of this slice alone
    null = column.is_null() if column.null_count else None
    return type(column).from_arrays(pa.array(offsets - offsets[0]), _child(flat.plain_column(held), name), mask=null)


_LISTS = (*flat.LISTS, pa.FixedSizeListType, pa.ListViewType, pa.LargeListViewType)
