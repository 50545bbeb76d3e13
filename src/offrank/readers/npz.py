"""Files of NumPy arrays (`.npz`); arrays of objects are pickles, and are never read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from .beginning import Beginning

_DAMAGED = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


def array_names(beginning: Beginning) -> set[str]:
    """Return the names of the arrays of a source that is one file of them; none of any other."""
    if len(beginning.paths) != 1 or not beginning.head.startswith(b"PK"):
        return set()
    try:
        with Path(beginning.paths[0]).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {*arrays.files}
    except _DAMAGED:
        return set()


def read_arrays(path: str, needed: Iterable[str], remedy: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a file by name, without those of objects that are not needed.

    Raises:
        LogError: it cannot be read, or a needed array is a pickle.
    """
    found = {}
    try:
        with Path(path).open("rb") as file, np.load(_zipped(file), allow_pickle=False) as arrays:
            for name in arrays.files:
                try:
                    found[name] = arrays[name]
                except ValueError as error:
                    if name in needed:
                        raise LogError(
                            f"{path}: {name} is a Python pickle, which could run arbitrary code", remedy
                        ) from error
    except _DAMAGED as error:
        raise LogError(f"{path} cannot be read: {error}", remedy) from error
    return found


def _zipped(file: IO[bytes]) -> IO[bytes]:
    if not zipfile.is_zipfile(file):
        raise zipfile.BadZipFile("it is not a complete zip archive, as .npz files are")
    file.seek(0)
    return file
