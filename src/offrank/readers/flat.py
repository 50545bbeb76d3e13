"""Conversion of Arrow columns to flat NumPy lists."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ColumnError
from ..log import _kernels
from ..log.batch import Floats, Integers
from ..log.python_values import as_arrow
from ..log.texts import Texts
from .json_text import from_json

TEXTS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
LISTS = (pa.ListType, pa.LargeListType)
"""The types of lists with offsets, as most programs write them."""


class ItemPlaces(NamedTuple):
    """The place of each item in its row's list [n, width], -2 if it is not there, -1 pads.

    outside: [n] rows with an item that is not there. again: those that name an item twice; twice: whose list does.
    """

    found: Integers
    outside: NDArray[np.bool_]
    again: NDArray[np.bool_]
    twice: NDArray[np.bool_]


@dataclass(frozen=True)
class Lists:
    """Flat lists: row i is values[starts[i] : starts[i] + lengths[i]].

    null: [n] rows without a list. raw: for codes, the ids that they were made from.
    """

    values: Any
    starts: Integers
    lengths: Integers
    null: NDArray[np.bool_]
    raw: Any = None

    @property
    def begins(self) -> Integers:
        """Where each list begins when all stand one behind the other."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def row(self) -> Integers:
        """The list of each value."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def place(self) -> Integers:
        """The place of each value in its list, from 0."""
        return np.arange(int(self.lengths.sum())) - np.repeat(self.begins, self.lengths)

    @property
    def at(self) -> Integers:
        """Where each value stands in `values`."""
        return self.starts[self.row] + self.place

    def take(self, rows: Integers) -> Lists:
        """Return the lists of these rows."""
        return replace(self, starts=self.starts[rows], lengths=self.lengths[rows], null=self.null[rows])

    def head(self, length: int) -> Lists:
        """Return the first values of each list."""
        return replace(self, lengths=np.minimum(self.lengths, length))

    def padded(self, width: int, fill: float = 0, kind: Any = None, rows: Integers | None = None) -> NDArray[Any]:
        """Return a writable array [n, width], padded where a list is shorter.

        kind: type of its numbers, by default that of the values. rows: those that are taken, in order; all if None.
        """
        if rows is not None:
            return self.take(rows).padded(width, fill, kind)
        n, kind = len(self.starts), kind or self.values.dtype
        behind = n and len(self.values) and self.starts[-1] - self.starts[0] == (n - 1) * width  # each the one before
        if behind and (self.lengths == width).all():
            block = self.values[self.starts[0] :][: n * width].reshape(n, width)
            return block.astype(kind, copy=not block.flags.writeable)  # Arrow's own memory is not writable
        out = np.full((n, width), fill, kind)
        _kernels.pad(self.values.astype(kind, copy=False), self.starts, self.lengths, out)
        return out

    def squares(self) -> Floats:
        """Return a writable array [n, k, k] from lists of lengths^2 values, padded with 0 where one is smaller."""
        n, width = len(self.starts), int(self.lengths.max(initial=0))
        if (self.lengths == width).all():
            return replace(self, lengths=self.lengths * width).padded(width * width).reshape(n, width, width)
        there = np.arange(width) < self.lengths[:, None]
        (row, at), out = np.nonzero(there), np.zeros((n, width, width))
        out[there] = replace(self.take(row), starts=self.starts[row] + at * self.lengths[row]).padded(width)
        return out

    def rows_where(self, broken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the rows with any value for which `broken` (one flag per value) is true [n]."""
        if not broken.any():
            return np.zeros(len(self.starts), np.bool_)
        before = np.concatenate([[0], np.cumsum(broken)])
        return np.asarray(before[self.starts + self.lengths] > before[self.starts])

    def places(self, items: Lists) -> ItemPlaces:
        """Return where the items of other lists stand in those of the same rows."""
        n, found = len(items.starts), np.empty((len(items.starts), int(items.lengths.max(initial=0))), np.int64)
        outside, twice = np.zeros(n, np.bool_), np.zeros((2, n), np.bool_)
        if items is self:
            found[:] = np.arange(found.shape[1])
            found[found >= self.lengths[:, None]] = -1
            _kernels.duplicates(self.values, self.starts, self.lengths, twice[0])
            twice[1] = twice[0]
        else:
            listed = items.values, items.starts, items.lengths, self.values, self.starts, self.lengths
            _kernels.locate(*listed, found, outside, twice)
        return ItemPlaces(found, outside, *twice)


def plain_column(column: pa.Array) -> pa.Array:
    """Return the column without types pyarrow hardly supports: views, run ends, intervals, extensions, decimals."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = plain_column(column.storage)
    elif pa.types.is_run_end_encoded(kind):
        column = plain_column(pc.run_end_decode(column))
    elif pa.types.is_dictionary(kind) and kind.value_type not in TEXTS:
        column = plain_column(column.dictionary_decode())
    elif pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind):
        column = column.cast(pa.large_binary())
    elif pa.types.is_decimal(kind) and kind.scale == 0:  # some warehouses' integers
        with suppress(pa.ArrowInvalid):  # of 2^63 and more
            column = column.cast(pa.int64())
    elif pa.types.is_interval(kind):  # which are cast to nothing
        column = pa.array([None if one is None else str(one) for one in column.to_pylist()], pa.large_string())
    return column


def plain_list(column: pa.Array) -> pa.Array:
    """Return lists in the type with offsets; any other column is unchanged."""
    kind = column.type
    if pa.types.is_null(kind):
        return pa.array([None] * len(column), pa.list_(pa.null()))
    if pa.types.is_fixed_size_list(kind):
        return column.cast(pa.list_(kind.value_type))
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        # Rebuilt, since pyarrow 26's own cast omits the last offset.
        lengths = column.value_lengths().fill_null(0).cast(pa.int64())
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]))
        return pa.LargeListArray.from_arrays(offsets, column.flatten(), mask=column.is_null())
    return column


def lists(column: pa.Array, name: str, held: pa.DataType | None = None) -> Lists:
    """Return the lists of a column, or those in its JSON text; their values are still an Arrow array.

    held: value type of the lists in a text; ids if None. A `ColumnError` or `BadCell` says that it holds none.
    """
    if not isinstance(column.type, LISTS):
        column = plain_list(plain_column(column))
        column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        if column.type in TEXTS:
            column = from_json(column, name, held)
        elif not isinstance(column.type, LISTS):
            raise ColumnError(f"column {name!r} holds {column.type}, not lists", "write a list per row")
    offsets = np.from_dlpack(column.offsets).astype(np.int64)  # see `as_numpy`
    values, starts = column.values.slice(offsets[0], offsets[-1] - offsets[0]), offsets[:-1] - offsets[0]
    null = nulls(column) if column.null_count else np.zeros(len(starts), np.bool_)
    return Lists(values, starts, np.diff(offsets), null)


def lists_of(values: Any, lengths: Integers) -> pa.Array:
    """Return values as lists of these lengths, one after another."""
    return lists_between(values, np.append(0, np.cumsum(lengths)))


def lists_between(values: Any, offsets: Integers) -> pa.Array:
    """Return values as lists that begin and end at these offsets."""
    values = pa.array(values) if isinstance(values, np.ndarray) else values
    if pa.types.is_null(values.type):  # lists of none are broken
        values = pa.nulls(len(values), pa.float64())
    return pa.LargeListArray.from_arrays(as_arrow(offsets.astype(np.int64, copy=False)), values)


def nulls(column: pa.Array) -> NDArray[np.bool_]:
    """Return which values of a column are null [n]."""
    return as_numpy(column.is_null())


def id_lists(column: pa.Array, name: str) -> Lists:
    """Read lists of item codes; a null id makes the row null."""
    found = lists(column, name)
    ids, null = found.values, found.null
    if ids.null_count or pa.types.is_dictionary(ids.type):
        null = null | found.rows_where(nulls(ids))
    return replace(found, values=id_codes(ids, name), null=null, raw=ids)


def id_kind(kind: pa.DataType) -> str:
    """Return the kind of ids of a type: ids of different kinds are never equal."""
    if pa.types.is_dictionary(kind):
        return id_kind(kind.value_type)
    whole = pa.types.is_integer(kind) or _is_whole(kind)
    return "" if pa.types.is_null(kind) else "whole numbers" if whole else "text"


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind)) and kind.scale == 0


def numbers(column: pa.Array, name: str) -> Floats:
    """Read a column as floats, null as NaN; raise a `ColumnError` if the values are not numbers."""
    column = column if pa.types.is_decimal(column.type) else plain_column(column)
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        if not (pa.types.is_decimal(kind) or column.null_count == len(column)):
            raise ColumnError(f"column {name!r} holds {kind}, not numbers", "write numbers")
        column = pa.nulls(len(column), pa.float64()) if column.null_count == len(column) else column.cast(pa.float64())
    return as_numpy(column).astype(np.float64, copy=False)


def as_numpy(column: pa.Array) -> NDArray[Any]:
    """Return numbers or truth values, null as NaN. Arrow's own way imports pandas first, for a third of a second."""
    boolean = pa.types.is_boolean(column.type)
    column = column.cast(pa.uint8()) if boolean else column
    if column.null_count:
        bare = pa.Array.from_buffers(column.type, len(column), [None, column.buffers()[1]], 0, column.offset)
        return np.where(as_numpy(column.is_null()), np.nan, np.from_dlpack(bare))
    return np.from_dlpack(column).view(np.bool_) if boolean else np.from_dlpack(column)


def seconds(column: pa.Array) -> Floats:
    """Read a column of dates, times or texts that begin with a day as seconds since 1970, anything else as NaN."""
    column = plain_column(column)
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if column.type in TEXTS:
        day = pc.binary_slice(_as_bytes(column), 0, len("2026-01-01"))
        column = pc.strptime(day.view(pa.large_string()), format="%Y-%m-%d", unit="s", error_is_null=True)
    if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
        return np.full(len(column), np.nan)
    return numbers(column.cast(pa.timestamp("us"), safe=False).cast(pa.int64()), "") / 1e6


def id_codes(column: pa.Array, name: str) -> Integers:
    """Read a column of ids as 64-bit codes that are the same in every batch and file; null is 0.

    Integers of 64 bits with a sign are their own codes; anything else is hashed as text, but for lists and fractions,
    which do not compare reliably: a `ColumnError`.
    """
    if pa.types.is_signed_integer(column.type) and not column.null_count:
        return np.from_dlpack(column).astype(np.int64)
    column = plain_column(column)
    if pa.types.is_dictionary(column.type):
        places = as_numpy(column.indices.fill_null(0) if column.indices.null_count else column.indices)
        return id_codes(column.dictionary, name)[places] if len(column.dictionary) else np.zeros(len(column), np.int64)
    if pa.types.is_floating(column.type):
        raise ColumnError(f"column {name!r} holds {column.type} ids", "write ids as integers or strings")
    if _is_whole(column.type) or _has_large(column):  # what is below 2^63 is its own code, as in other rows
        exact = column.cast(pa.decimal256(76, 0))
        least, most = (pa.scalar(Decimal(end), exact.type) for end in (-(2**63), 2**63 - 1))
        small = pc.fill_null(pc.and_(pc.greater_equal(exact, least), pc.less_equal(exact, most)), False)
        own = pc.if_else(small, column, pa.scalar(None, column.type)).cast(pa.int64())
        return np.where(small, id_codes(own, name), id_codes(column.cast(pa.large_string()), name))
    if pa.types.is_integer(column.type):
        return as_numpy(column.fill_null(0) if column.null_count else column).astype(np.int64)
    if pa.types.is_nested(column.type):
        raise ColumnError(f"column {name!r} holds {column.type}, not ids", "write ids as integers or strings")
    text = pc.fill_null(_as_bytes(column), b"") if column.null_count else _as_bytes(column)
    _, offsets, data = text.buffers()
    where = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    letters = np.zeros(1, np.uint8) if data is None or not data.size else np.frombuffer(data, dtype=np.uint8)
    return np.asarray(_kernels.hash_strings(letters, where)).view(np.int64)


def _has_large(column: pa.Array) -> bool:
    """Whether a column has whole numbers without a sign of 2^63 and more."""
    return pa.types.is_uint64(column.type) and (pc.max(column).as_py() or 0) > np.iinfo(np.int64).max


def _as_bytes(column: pa.Array) -> pa.Array:
    """Return ids that are hashed as the bytes of their text, which need not be UTF-8."""
    return (column if column.type in TEXTS else column.cast(pa.large_string())).cast(pa.large_binary())


def texts(column: pa.Array, name: str) -> Texts:
    """Return the distinct texts of a column of ids beside their codes; there are none of whole numbers below 2^63."""
    column = plain_column(column)
    if (whole := pa.types.is_integer(column.type)) and not _has_large(column):
        return Texts.none()
    own = column.dictionary if pa.types.is_dictionary(column.type) else column
    found = (column if whole else _as_bytes(own)).drop_null().unique()
    try:
        return Texts.of(id_codes(found, name), found.cast(pa.large_string()))
    except pa.ArrowInvalid:  # bytes that are no UTF-8
        return Texts.of(id_codes(found, name), pa.array(map(_word, found.to_pylist()), pa.large_string()))


def labels(column: pa.Array, name: str) -> tuple[Integers, tuple[str, ...]]:
    """Return the index of each value's label [n], and the labels, of null too; raise a `ColumnError` at lists."""
    if pa.types.is_nested(column.type):
        raise ColumnError(f"column {name!r} holds {column.type}, not labels", "group by strings or numbers")
    values = plain_column(column)
    values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    values = values.cast(pa.large_binary()) if values.type in TEXTS else values
    values = pc.add(values.cast(pa.float64()), 0.0) if pa.types.is_floating(values.type) else values  # -0.0 is 0
    encoded = values.dictionary_encode("encode")
    names = tuple(map(_word, in_python(encoded.dictionary)))
    return as_numpy(encoded.indices).astype(np.int64), names


def of_bytes(kind: pa.DataType) -> pa.DataType:
    """Return the type of the same buffers with texts as bytes, which need not be UTF-8."""
    bytes_of = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, of_bytes(kind.value_type))
    return retyped(kind, lambda leaf: bytes_of.get(leaf) or (leaf if leaf == kind else of_bytes(leaf)))


def retyped(kind: pa.DataType, changed: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a type with what its lists and structs hold changed."""
    if isinstance(kind, LISTS):
        lists = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return lists(kind.value_field.with_type(retyped(kind.value_type, changed)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(retyped(field.type, changed)) for field in kind])
    return changed(kind)


def in_python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; those of times as text, if some are too far off for Python."""
    try:
        return list(column.to_pylist())
    except OverflowError:  # its years are 1 to 9999
        as_text = retyped(column.type, lambda leaf: pa.string() if pa.types.is_temporal(leaf) else leaf)
        return list(column.cast(as_text).to_pylist())


def _words(value: Any) -> Any:
    """Return a value with texts in the place of bytes, in lists too."""
    if isinstance(value, list):
        return [_words(each) for each in value]
    return _word(value) if isinstance(value, bytes) else value


def _word(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:  # as in files of whole numbers
        return str(int(value))
    return "null" if value is None else str(value)


def show_value(column: pa.Array, index: int) -> str:
    """Format a value for an error message, cut if long."""
    column = plain_column(column.slice(index, 1))
    seen = column if (kind := of_bytes(column.type)) == column.type else column.view(kind)  # of nulls pyarrow aborts
    [value] = in_python(seen)
    text = repr(_word(value) if column.type in TEXTS else _words(value))
    return text if len(text) <= 80 else text[:77] + "..."


def size(data: pa.RecordBatch | pa.Table) -> int:
    """Return the bytes that rows take; those of the whole buffers where pyarrow cannot tell (before 24, of views)."""
    try:
        return int(data.nbytes)
    except pa.ArrowTypeError:
        return int(data.get_total_buffer_size())


def plain_columns(data: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows in plain columns, since views (as Polars writes) cannot be taken by index, also in lists."""
    columns = [plain_column(column) for column in data.columns]
    return usual_columns(pa.record_batch(columns, names=data.schema.names))


def kept_rows(data: pa.RecordBatch, rows: NDArray[np.bool_] | pa.BooleanArray) -> pa.RecordBatch:
    """Return some rows, in plain columns: others cannot be filtered."""
    return plain_columns(data).filter(pa.array(rows))


def usual_columns(data: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows with plain text for views and floats for half floats, with which pyarrow hardly computes."""
    kinds = [retyped(kind, lambda leaf: PLAIN_KINDS.get(leaf, leaf)) for kind in data.schema.types]
    columns = [one if one.type == kind else one.cast(kind) for one, kind in zip(data.columns, kinds, strict=True)]
    return pa.record_batch(columns, names=data.schema.names)


PLAIN_KINDS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.float16(): pa.float32()}
