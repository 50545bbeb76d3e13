"""Files of NumPy arrays (`.npz`); arrays of objects are pickles, and are never read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import LogError
from ..log.arrays import DAMAGED, load_arrays
from .beginning import Beginning


def array_names(beginning: Beginning) -> set[str]:
    """Return the names of the arrays of a source that is one file of them; none of any other."""
    if len(beginning.paths) != 1 or not beginning.head.startswith(b"PK"):
        return set()
    try:
        with Path(beginning.paths[0]).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
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
