"""Rows of files whose columns have other types, in types that hold the values of all."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ..errors import LogError
from . import flat


def unified_table(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """Return record batches, perhaps of files with other types, as one table.

    Raises:
        LogError: a column has types that no type holds.
    """
    kinds = batches[0].schema.types
    for batch in batches[1:]:
        kinds = unified(kinds, batch.schema)
    schema = pa.schema(list(zip(batches[0].schema.names, kinds, strict=True)))
    return pa.concat_tables([in_types(pa.Table.from_batches([one]), schema) for one in batches])


def in_types(data: pa.Table, wanted: pa.Schema) -> pa.Table:
    """Return rows in types that hold theirs.

    Raises:
        LogError: a value does not fit: a whole number beyond 2^53 among fractions.
    """
    columns = []
    for one, column in zip(wanted, data.columns, strict=True):
        try:
            columns.append(column if column.type == one.type else column.cast(one.type))
        except pa.ArrowException as error:
            raise _other_types(one.name, one.type, column.type) from error
    return pa.Table.from_arrays(columns, schema=wanted)


def unified(kinds: Sequence[pa.DataType], later: pa.Schema) -> list[pa.DataType]:
    """Return, of each column, the type that holds values of a type and of that of later rows.

    Raises:
        LogError: there is none.
    """
    return [_unified(kind, field) for kind, field in zip(kinds, later, strict=True)]


def _unified(kind: pa.DataType, later: pa.Field) -> pa.DataType:
    if kind == later.type:
        return kind
    expanded = [
        flat.retyped(one, lambda kind: kind.value_type if pa.types.is_dictionary(kind) else kind)
        for one in (kind, later.type)
    ]
    try:
        return pa.unify_schemas([pa.schema({"": one}) for one in expanded], promote_options="permissive").types[0]
    except pa.ArrowException as error:
        raise _other_types(later.name, kind, later.type) from error


def _other_types(name: str, kind: pa.DataType, later: pa.DataType) -> LogError:
    said = f"column {name!r} holds {kind} in the first rows and {later} later"
    return LogError(f"the files have other types: {said}", "write one type in all files")
