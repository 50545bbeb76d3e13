"""Sparse features of the candidates: lists of lists, checked, as `SparseFeatures`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import ColumnError
from ..log import rules
from ..log.batch import Floats, Integers, SparseFeatures
from ..log.rules import Faults
from . import arrow
from .arrow import Lists


def sparse_features(
    columns: tuple[str, str | None],
    data: pa.RecordBatch,
    candidates: Integers,
    faults: Faults,
) -> SparseFeatures:
    """The features of every row of a piece; rows that break a rule are marked in `faults`.

    columns: those of the indices and of the values (None where each value is 1).
    candidates: [n] how many each row has.

    Raises:
        ColumnError: not lists of lists of integers.
    """
    indices, values = columns
    lines, ends, found = _nested(data, indices, pa.int64(), faults)
    if not pa.types.is_integer(found.type) and len(found):
        raise ColumnError(f"column {indices!r} holds {found.type}, not indices", "write feature indices as integers")
    codes = arrow.codes(found, indices) if len(found) else np.zeros(0, np.int64)
    faults.mark(lines.lengths != candidates, rules.RAGGED, indices)
    if codes.min(initial=0) < 0:
        faults.mark(_rows_where(lines, ends, codes < 0), rules.BAD_FEATURE, indices)
    if values is None:
        return SparseFeatures(lines.starts, ends, codes, np.ones(len(codes)))
    return SparseFeatures(lines.starts, ends, codes, _values(data, values, lines, ends, faults))


def _nested(data: pa.RecordBatch, name: str, held: pa.DataType, faults: Faults) -> tuple[Lists, Integers, pa.Array]:
    """(lines of each row, [lines + 1] where each line's entries end, the entries)."""
    inner, starts, lengths, null = arrow.lists(data.column(name), name, pa.list_(held))
    entries, line_starts, line_lengths, line_null = arrow.lists(inner, name)
    lines = Lists(line_lengths, starts, lengths)
    ends = np.append(line_starts, len(entries))
    missing = np.zeros(len(starts), np.bool_) if null is None else null
    if line_null is not None:
        missing = missing | lines.rows_where(line_null)
    if entries.null_count:
        missing = missing | _rows_where(lines, ends, np.asarray(entries.is_null()))
    faults.mark(missing, rules.NULL, name)
    return lines, ends, entries


def _values(data: pa.RecordBatch, name: str, lines: Lists, ends: Integers, faults: Faults) -> Floats:
    """[entries] values beside the indices; anything in rows that are faulty."""
    beside, beside_ends, entries = _nested(data, name, pa.float64(), faults)
    values = arrow.numbers(entries, name)
    if np.array_equal(lines.lengths, beside.lengths) and np.array_equal(ends, beside_ends):
        fits = np.ones(len(lines.starts), np.bool_)
    else:
        fits = _same_lengths(lines, beside)
        faults.mark(~fits, rules.RAGGED, name)
    fine = np.isfinite(values)
    if not fine.all():
        faults.mark(_rows_where(beside, beside_ends, ~fine), rules.BAD_FEATURE_VALUE, name)
    if fits.all():
        return values
    out = np.zeros(int(ends[-1]))
    out[_entries_of(fits, lines)] = values[_entries_of(fits, beside)]
    return out


def _same_lengths(one: Lists, other: Lists) -> NDArray[np.bool_]:
    """[n] rows with as many lines, each of as many entries."""
    fits = one.lengths == other.lengths
    row = np.repeat(np.arange(len(fits)), np.where(fits, one.lengths, 0))
    place = np.arange(len(row)) - np.repeat(np.cumsum(np.where(fits, one.lengths, 0)), np.where(fits, one.lengths, 0))
    place += one.lengths[row]
    unlike = one.values[one.starts[row] + place] != other.values[other.starts[row] + place]
    fits[row[unlike]] = False
    return np.asarray(fits)


def _entries_of(rows: NDArray[np.bool_], lines: Lists) -> NDArray[np.bool_]:
    """[entries] whether each belongs to one of these rows."""
    return np.repeat(np.repeat(rows, lines.lengths), lines.values)


def _rows_where(lines: Lists, ends: Integers, broken: NDArray[Any]) -> NDArray[np.bool_]:
    """[n] rows with any entry for which `broken` is true."""
    first, last = ends[lines.starts], ends[lines.starts + lines.lengths]
    before = np.concatenate([[0], np.cumsum(broken)])
    return np.asarray(before[last] > before[first])
