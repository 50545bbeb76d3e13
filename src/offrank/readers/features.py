"""Lists of lists: features of the candidates, sparse or as vectors, and square matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import ColumnError
from ..log import rules
from ..log.batch import Floats, Integers, SparseFeatures
from ..log.rules import Faults
from . import flat
from .flat import Lists


def sparse_features(
    columns: tuple[str, str | None], data: pa.RecordBatch, candidates: Integers, faults: Faults
) -> SparseFeatures:
    """Read the features of every row of a piece; rows that break a rule are marked in `faults`.

    columns: those of the indices and of the values (None if each value is 1); or one of vectors: fractions, whose place
    in their list is their index. candidates: [n] how many each row has.

    Raises:
        ColumnError: the columns are not lists of lists of integers, and not one of vectors.
    """
    name, beside = columns
    lines, held = _lines(data, name, pa.int64(), faults)
    kind = held.values.type
    faults.mark(lines.lengths != candidates, rules.RAGGED, name)
    if pa.types.is_floating(kind) and beside is None:
        values = flat.numbers(held.values, name)
        _mark(values, name, (lines, held), faults)
        places = np.arange(len(values)) - np.repeat(held.starts, held.lengths)
        return SparseFeatures(lines.starts, np.append(held.starts, len(values)), places, values)
    if not pa.types.is_integer(kind) and len(held.values):
        raise ColumnError(
            f"column {name!r} holds {kind}, not indices",
            "give feature indices as integers together with their values, or vectors alone: lists of fractions",
        )
    indices = flat.id_codes(held.values, name) if len(held.values) else np.zeros(0, np.int64)
    faults.mark(lines.rows_where(held.rows_where(indices < 0)), rules.BAD_FEATURE, name)
    if beside is None:
        return SparseFeatures(lines.starts, np.append(held.starts, len(indices)), indices, np.ones(len(indices)))
    others, numbers = _lines(data, beside, pa.float64(), faults)
    values = flat.numbers(numbers.values, beside)
    same = np.array_equal(lines.lengths, others.lengths) and np.array_equal(held.lengths, numbers.lengths)
    if not same:
        width = max(int(lines.lengths.max()), int(others.lengths.max()))
        fits = (lines.padded(width, -1) == others.padded(width, -1)).all(axis=1)
        faults.mark(~fits, rules.RAGGED, beside)
    _mark(values, beside, (others, numbers), faults)
    if not same:  # read again without those rows, to keep the values of the others aligned with their indices
        kept = pa.array(np.arange(len(fits)), mask=~fits)
        return sparse_features(columns, flat.plain_columns(data.select(columns)).take(kept), candidates, faults)
    return SparseFeatures(lines.starts, np.append(held.starts, len(indices)), indices, values)


def _lines(data: pa.RecordBatch, name: str, of: pa.DataType, faults: Faults) -> tuple[Lists, Lists]:
    """Return (the lines of each row, as their numbers of entries; the entries of each line)."""
    lines, held = nested(data.column(name), name, of)
    unnamed = lines.rows_where(held.rows_where(flat.nulls(held.values)))
    faults.mark(lines.null | unnamed, rules.NULL, name)
    return lines, held


def _mark(values: Floats, name: str, lists: tuple[Lists, Lists], faults: Faults) -> None:
    """Mark the rows of values that are not finite, or too large. lists: the lists of lists that hold them."""
    outer, inner = lists
    for fine, rule in (
        (np.isfinite(values), rules.BAD_FEATURE_VALUE),
        (np.abs(values) <= rules.MOST_VALUE, rules.TOO_LARGE_VALUE),
    ):
        faults.mark(outer.rows_where(inner.rows_where(~fine)), rule, name)


def nested(column: pa.Array, name: str, held: pa.DataType) -> tuple[Lists, Lists]:
    """Read lists of lists: (the outer ones, with the lengths of the inner as values; the inner ones, concatenated)."""
    outer = flat.lists(column, name, pa.list_(held))
    inner = flat.lists(outer.values, name)
    return replace(outer, values=inner.lengths, null=outer.null | outer.rows_where(inner.null)), inner


def square_lists(column: pa.Array, name: str) -> tuple[Lists, NDArray[np.bool_]]:
    """Read square matrices: (rows of lengths^2 numbers, [n] rows whose lists are not square)."""
    outer, inner = nested(column, name, pa.float64())
    wrong = outer.null | outer.rows_where(outer.values != np.repeat(outer.lengths, outer.lengths))
    ends = np.append(inner.starts, len(inner.values))
    lengths = np.where(wrong, 0, outer.lengths)
    return Lists(flat.numbers(inner.values, name), ends[outer.starts], lengths, outer.null), wrong
