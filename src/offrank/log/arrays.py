"""Files of NumPy arrays (`.npz`): arrays of objects are pickles, and none is longer than the bytes that are there."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..language.files import UNSEALED, refuse_bomb, regular, sealed_write

DAMAGED = (
    *(OSError, ValueError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error),
    *(SyntaxError, TokenError, TypeError, KeyError),  # of a header, which is Python's own text
)
"""What reading another file, or a damaged one, raises."""


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name, packed and with a checksum, atomically."""
    with sealed_write(path) as temporary:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
        with zipfile.ZipFile(temporary, "a") as packed:
            packed.comment = UNSEALED.encode()


def load_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any] | None]:
    """Return the arrays of a file by name, and None in place of those of objects.

    Raises:
        OSError, ValueError, ...: see `DAMAGED`; also where it would fill the memory.
    """
    found = {}
    with zipfile.ZipFile(regular(path)) as packed:
        members = packed.infolist()
        refuse_bomb(sum(one.compress_size for one in members), sum(one.file_size for one in members))
        for one in members:
            name = one.filename.removesuffix(".npy")
            with packed.open(one) as member:
                found[name] = _array(member, one.file_size, name)
    return found


def _array(member: IO[bytes], size: int, name: str) -> NDArray[Any] | None:
    version = np.lib.format.read_magic(member)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = header(member)
    if kind.hasobject:
        return None
    if math.prod(shape) * kind.itemsize > size:
        raise ValueError(f"{name} of shape {shape} is longer than the {size:,} bytes that are there")
    member.seek(0)
    found: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return found


def array_names(paths: Sequence[str], head: bytes) -> set[str]:
    """Return the names of the arrays of a source that is one file of them; none of any other. head: its beginning."""
    if len(paths) != 1 or not head.startswith(b"PK"):
        return set()
    try:
        with Path(paths[0]).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {*arrays.files}
    except DAMAGED:
        return set()


def read_arrays(path: str, needed: Iterable[str], remedy: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a file by name, without those of objects that are not needed.

    Raises:
        LogError: it cannot be read, or a needed array is a pickle.
    """
    try:
        found = load_arrays(path)
    except DAMAGED as error:
        raise LogError(f"{path} cannot be read: {error}", remedy) from error
    for name in needed:
        if name in found and found[name] is None:
            raise LogError(f"{path}: {name} is a Python pickle, which could run arbitrary code", remedy)
    return {name: array for name, array in found.items() if array is not None}
