"""Values of Python, as dicts, pandas and JSON hold them, and of NumPy, as columns of one type."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def common_kind(values: Sequence[Any]) -> pa.DataType:
    """Return the type of values of Python; where they are of several kinds, that of numbers if all stand for some.

    Otherwise it is text, in which 7 and "007" are two ids; so it is of whole numbers of many digits.
    """
    known = [one for one in values if not (one is None or _is_nan(one))]
    try:
        return pa.array(known).type
    except (pa.ArrowException, OverflowError):
        pass
    if all(isinstance(one, list | tuple | np.ndarray) for one in known):
        return pa.list_(common_kind([value for one in known for value in one]))
    if all(isinstance(one, Mapping) for one in known):
        keys = dict.fromkeys(key for one in known for key in one)
        return pa.struct([(str(key), common_kind([one.get(key) for one in known])) for key in keys])
    for kind in (pa.int64(), pa.float64()):
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            pa.array([in_kind(one, kind) for one in known], kind)
            return kind
    return pa.string()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def in_kind(value: Any, kind: pa.DataType) -> Any:
    """Return a value of Python as one of a type; raise a `ValueError` or `TypeError` if it stands for none."""
    if value is None or _is_nan(value):
        return None
    if pa.types.is_list(kind):
        return [in_kind(one, kind.value_type) for one in value]
    if pa.types.is_struct(kind):
        return {field.name: in_kind(value.get(field.name), field.type) for field in kind}
    if pa.types.is_string(kind) and not isinstance(value, str | bytes):
        return json.dumps(value) if isinstance(value, bool | list | dict) else str(value)
    whole = pa.types.is_integer(kind)
    if (isinstance(value, bool | float) and whole) or (isinstance(value, bool) and pa.types.is_floating(kind)):
        raise ValueError(f"{value!r} is among numbers of another kind")
    if not (isinstance(value, str) and (whole or pa.types.is_floating(kind))):
        return value
    number = int(value) if whole else float(value)
    if (whole or value.isdigit()) and str(int(value)) != value:
        raise ValueError(f"{value!r} is among whole numbers, but has zeros or signs that would be lost")
    return number


def as_arrow(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers or truth values, null where missing. Arrow's own way imports pandas first: a third of a second."""
    known = None if missing is None or not missing.any() else bitmap(~missing)
    held = bitmap(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [known, held])


def bitmap(flags: NDArray[Any]) -> pa.Buffer:
    """Return a bit for each number: whether it is not 0."""
    return pa.py_buffer(np.packbits(flags != 0, bitorder="little"))
