"""Lines of JSON whose objects have values and lists of values alone, as most logs have: cut by a compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..log.batch import Integers
from ..log.python_values import bitmap
from . import _kernels_bytes

_KINDS = {
    pa.int64(): _kernels_bytes.WHOLE,
    pa.uint64(): _kernels_bytes.WHOLE,
    pa.float64(): _kernels_bytes.NUMBER,
    pa.string(): _kernels_bytes.TEXT,
    pa.bool_(): _kernels_bytes.TRUTH,
}
_MOST_BYTES = 1 << 23
"""Bytes of lines that are cut into cells at once: a cell has room for all of them in each column."""


class FlatRows:
    """Reads lines of JSON whose objects have values and lists of values, all of them in the types of a schema."""

    def __init__(self, wanted: pa.Schema) -> None:
        self.wanted, self._room = wanted, np.empty((4, 0, 0), np.int64)
        self._nested = np.array([pa.types.is_list(one) for one in wanted.types])
        self._leaves = [
            one.value_type if inside else one for one, inside in zip(wanted.types, self._nested, strict=True)
        ]
        self._kinds = np.array([_KINDS.get(one, _kernels_bytes.SKIPPED) for one in self._leaves])

    def read(self, lines: bytes) -> pa.RecordBatch | None:
        """Return the rows of lines; None if some are others: see `parsed`."""
        if not len(self._kinds) or self._kinds.min() < 0 or len(lines) > _MOST_BYTES:
            return None
        size, data = len(self._leaves), np.frombuffer(lines + b"\n", np.uint8)
        most = 2 + int(np.count_nonzero((data == ord(",")) | (data == ord("\n"))))
        if self._room.shape[2] < most:
            self._room = np.empty((4, size, most + most // 8), np.int64)
        wholes, begins, list_ends, flags = self._room
        begins, list_ends, (what, listed) = (
            begins.view(np.int32),
            list_ends.view(np.int32),
            np.split(flags.view(np.int8), 2, axis=1),
        )
        list_ends[:, 0] = 0
        names, count = [one.encode() for one in self.wanted.names], np.zeros(size, np.int64)
        given = np.frombuffer(b"".join(names), np.uint8), np.cumsum([*map(len, names)]), self._kinds, self._nested
        found = begins, wholes, wholes.view(np.float64), what, count, list_ends, listed
        rows = _kernels_bytes.into_cells(data, *given, *found)
        if rows < 0:
            return None
        columns = []
        for at, (kind, own) in enumerate(zip(self._leaves, count.tolist(), strict=True)):
            try:
                column = _column(data, begins[at, :own], wholes[at, :own], what[at, :own], kind)
            except pa.ArrowInvalid:
                return None
            if self._nested[at]:
                buffers = [bitmap(listed[at, :rows]), _copied(list_ends[at, : rows + 1])]
                column = pa.Array.from_buffers(self.wanted.field(at).type, rows, buffers, children=[column])
            columns.append(column)
        return pa.record_batch(columns, schema=self.wanted)


def _column(data: Any, begins: Any, wholes: Integers, what: Any, kind: pa.DataType) -> pa.Array:
    """Return the values that begin at some places.

    Raises:
        ArrowInvalid: one is too large, or no UTF-8.
    """
    if kind == pa.string():
        return _texts(data, begins, what)
    left = np.flatnonzero(what == _kernels_bytes.WRITTEN)
    if len(left):
        wholes[left] = np.from_dlpack(_texts(data, begins[left], what[left]).cast(kind)).view(np.int64)
    values = bitmap(wholes) if kind == pa.bool_() else _copied(wholes)
    return pa.Array.from_buffers(kind, len(begins), [bitmap(what), values])


def _texts(data: Any, begins: Any, what: Any) -> pa.Array:
    text, ends = np.empty(len(data), np.uint8), np.zeros(len(begins) + 1, np.int32)
    _kernels_bytes.copied(data, begins, what, text, ends)
    found = pa.Array.from_buffers(pa.string(), len(begins), [bitmap(what), _copied(ends), _copied(text[: ends[-1]])])
    found.validate(full=True)
    return found


def _copied(values: NDArray[Any]) -> pa.Buffer:
    return pa.py_buffer(values.tobytes())
