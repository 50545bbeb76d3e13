"""The original texts of 64-bit codes: what ids of items and queries are called in the log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Texts:
    """codes: [t] distinct, ascending; texts: [t] the text that each is the hash of. Whole numbers are not listed.

    Memory grows with the distinct texts.
    """

    codes: Integers
    texts: pa.Array

    @classmethod
    def of(cls, codes: Integers, texts: pa.Array) -> Texts:
        """From codes in any order, which may come several times."""
        known, first = np.unique(codes, return_index=True)
        return cls(known, texts.take(pa.Array.from_buffers(pa.int64(), len(first), [None, pa.py_buffer(first)])))

    @classmethod
    def none(cls) -> Texts:
        """No texts: all codes are whole numbers."""
        return cls(np.empty(0, np.int64), pa.nulls(0, pa.large_string()))

    def __len__(self) -> int:
        return len(self.codes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Texts):
            return False
        return np.array_equal(self.codes, other.codes) and bool(self.texts.equals(other.texts))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Texts) -> Texts:
        if not len(self) or not len(other):
            return self if len(self) else other
        codes = np.concatenate([self.codes, other.codes])
        return Texts.of(codes, pa.concat_arrays([self.texts, other.texts]))

    def only(self, codes: Integers) -> Texts:
        """The texts of some codes."""
        kept = np.flatnonzero(np.isin(self.codes, codes))
        return Texts(self.codes[kept], self.texts.take(pa.array(kept)))

    def ids(self, codes: Integers) -> pa.Array:
        """[n] the ids with these codes: whole numbers, or text if any of them is text."""
        if not len(self) or not len(codes):
            return pa.array(codes, pa.int64())
        place = np.minimum(np.searchsorted(self.codes, codes), len(self) - 1)
        found = self.codes[place] == codes
        if not found.any():
            return pa.array(codes, pa.int64())
        texts = self.texts.take(pa.array(place))
        if found.all():
            return texts
        return pc.if_else(pa.array(found), texts, pa.array(codes).cast(pa.large_string()))


@dataclass(frozen=True, eq=False)
class Gathering:
    """Texts in parts of growing size, each at least twice the one before, so that all merging is done log(n) times."""

    parts: tuple[Texts, ...] = ()

    def __add__(self, other: Gathering) -> Gathering:
        parts = sorted((*self.parts, *other.parts), key=len)
        while len(parts) > 1 and 2 * len(parts[0]) > len(parts[1]):
            parts = sorted((parts[0] + parts[1], *parts[2:]), key=len)
        return Gathering(tuple(parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gathering) and self.whole() == other.whole()

    __hash__ = None  # type: ignore[assignment]

    def whole(self) -> Texts:
        """All in one."""
        found = Texts.none()
        for part in self.parts:
            found = found + part
        return found
