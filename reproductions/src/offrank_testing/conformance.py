"""Laws that every fold must satisfy: the same result under any partition and order of the rows.

A fold that passes may be run in chunks, in threads and on many machines.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offrank.log.batch import SparseFeatures
from offrank.sums.base import Fold, Sample, total


def take(batch: Any, rows: NDArray[np.integer]) -> Any:
    """Return some rows [r] of a batch, from every array in it that has an entry per row."""
    return _take(batch, rows, len(batch))


def check_fold(fold: Fold, batch: Any, rng: np.random.Generator, parts: int = 5, tolerance: float = 1e-9) -> None:
    """Assert that a fold satisfies its laws on the rows of a batch, partitioned at random.

    parts: number of pieces, some of them empty. tolerance: relative, for results that depend
    on the order of additions.

    Raises:
        AssertionError: a law is broken; the message says which, and where the two sides differ.
    """
    dealt = rng.integers(0, parts, len(batch))
    pieces = [take(batch, np.flatnonzero(dealt == part)) for part in range(parts)]
    found = [fold.of(piece) for piece in pieces]
    kept = pickle.dumps(found)
    whole, nothing = fold.of(batch), fold.of(take(batch, np.arange(0)))
    same(total(nothing, found[0]), found[0], 0.0, "no rows added from the left")
    same(total(found[0], nothing), found[0], 0.0, "no rows added from the right")
    same(reduce(total, found), whole, tolerance, "parts added from the left")
    same(reduce(total, found[::-1]), whole, tolerance, "parts added in reverse")
    same(_at_random(found, rng), whole, tolerance, "parts added in a random tree")
    in_turn = reduce(fold.add, [pieces[index] for index in rng.permutation(parts)], None)
    same(in_turn, whole, tolerance, "batches added in random order")
    shuffled = take(batch, rng.permutation(len(batch)))
    same(fold.result(fold.of(shuffled)), fold.result(whole), tolerance, "rows in random order")
    same(pickle.loads(kept), found, 0.0, "parts, which no sum may change, and their pickles")  # noqa: S301


_NOTHING = 1e-9
"""If all numbers are smaller, they may be pure rounding error."""


def same(left: Any, right: Any, tolerance: float, where: str) -> None:
    """Assert that two parts or results are equal, down to every number."""
    if dataclasses.is_dataclass(left) and not isinstance(left, type):
        assert type(left) is type(right), where
        for name in [field.name for field in dataclasses.fields(left) if tolerance == 0 or not field.metadata]:
            same(getattr(left, name), getattr(right, name), tolerance, f"{where}: {name}")
    elif isinstance(left, Mapping):
        assert set(left) == set(right), f"{where}: {sorted(left)} against {sorted(right)}"
        for name in left:
            same(left[name], right[name], tolerance, f"{where}: {name}")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for index, pair in enumerate(zip(left, right, strict=True)):
            same(*pair, tolerance, f"{where}: {index}")
    elif isinstance(left, np.ndarray | float):
        _numbers(np.asarray(left), np.asarray(right), tolerance, where)
    else:
        assert left == right, f"{where}: {left!r} against {right!r}"


def _numbers(left: NDArray[Any], right: NDArray[Any], tolerance: float, where: str) -> None:
    assert left.shape == right.shape, f"{where}: shape {left.shape} against {right.shape}"
    assert left.dtype == right.dtype, f"{where}: {left.dtype} against {right.dtype}"
    finite = np.abs(right[np.isfinite(right)]) if right.size else right
    scale = max(float(finite.max(initial=0.0)), _NOTHING)
    close = np.isclose(left, right, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    assert close.all(), f"{where}: {left[~close][:5]} against {right[~close][:5]}"


def _at_random(parts: Sequence[Any], rng: np.random.Generator) -> Any:
    """Add random neighbours until one is left: any bracketing, in the given order."""
    left = list(parts)
    while len(left) > 1:
        at = int(rng.integers(len(left) - 1))
        left[at : at + 2] = [total(left[at], left[at + 1])]
    return left[0]


def _take(value: Any, rows: NDArray[np.integer], length: int) -> Any:
    if isinstance(value, Sample):
        return value.take(np.asarray(rows, dtype=np.int64))
    if isinstance(value, SparseFeatures):  # only some of its arrays have an entry per row, whatever their lengths
        return value.take(np.asarray(rows, dtype=np.int64))
    if isinstance(value, np.ndarray):
        return value[rows] if value.ndim and len(value) == length else value
    if isinstance(value, Mapping):
        return {name: _take(item, rows, length) for name, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(value, **{name: _take(getattr(value, name), rows, length) for name in fields})
    return value
