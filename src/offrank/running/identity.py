"""What tells two jobs apart: a digest of a fold and all that is in it, the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["digest"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(value: Any) -> str:
    """Return 32 letters that depend on everything a value is made of, but on no address and no order of a set.

    Fields of dataclasses that are not compared are left out. Functions count by their names and what they enclose.

    Raises:
        TypeError: it holds what cannot be sent to another process either, such as a lock.

    Examples:
        >>> from offrank.running.identity import digest
        >>> digest({"b", "a"}) == digest({"a", "b"}) != digest({"a", "c"})
        True
    """
    return _digest(value).hex()[:32]


def _digest(value: Any) -> bytes:
    found = hashlib.sha256(type(value).__qualname__.encode())
    for each in _content(value):
        found.update(each if isinstance(each, bytes) else _digest(each))
    return found.digest()


def _content(value: Any) -> Iterator[Any]:
    """The parts of a value: bytes as they are, and other values."""
    if isinstance(value, _PLAIN):
        yield repr(value).encode("utf-8", "backslashreplace")
    elif isinstance(value, np.ndarray | np.generic | pa.Array):
        yield from _array(value)
    elif isinstance(value, Mapping):
        yield from sorted(map(_digest, value.items()))
    elif isinstance(value, set | frozenset):
        yield from sorted(map(_digest, value))
    elif isinstance(value, type | FunctionType):
        yield from _named(value)
    elif isinstance(value, tuple | list):
        yield from value
    elif is_dataclass(value):
        yield type(value)
        yield from ((one.name, getattr(value, one.name)) for one in fields(value) if one.compare)
    else:
        made = value.__reduce_ex__(2)  # how it would be made again: also of what was compiled
        for place, each in enumerate((made,) if isinstance(made, str) else made):
            yield list(each) if place > 2 and each is not None else each


def _array(value: Any) -> tuple[Any, ...]:
    if isinstance(value, pa.Array):
        return str(value.type), value.to_pylist()
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tolist() if array.dtype.hasobject else array.tobytes()


def _named(value: Any) -> Iterator[Any]:
    """The name of a class or a function; and of a user's own function the code, which may have changed."""
    yield f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, FunctionType):
        yield b"" if value.__module__.startswith("offrank.") else value.__code__.co_code
        yield from (value.__defaults__, value.__kwdefaults__, *(cell.cell_contents for cell in value.__closure__ or ()))
