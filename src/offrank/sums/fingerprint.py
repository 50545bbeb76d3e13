"""Fingerprints of the rows that a policy or a click model was learnt from, in a few kilobytes.

A fingerprint is a sample of the distinct rows with their counts: the `KEEP` smallest of their hashes (a bottom-k
sketch, Cohen and Kaplan 2007). The content of a row is hashed, never its position, so that a copy of the log
under another name, in another format, order or partition, within a larger log or in memory has the same hashes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from . import _kernels_rows as kernels
from .base import Fold
from .counts import summed

Keys = NDArray[np.uint64]

KEEP = 4_096
"""Distinct rows in a fingerprint."""
KEEP_JUDGED = 1 << 16
"""Distinct rows kept of an evaluated log, which may be much larger than the training log."""
OUTCOME, QUERY = 16, 32
"""Bits of a key: the last 16 are of the outcome, the 16 before of the slate, the first 32 of the query or context."""


@dataclass(frozen=True)
class Content:
    """The columns of a row that are hashed: those that are available in both training and evaluation.

    Context: for click models the column `key` of the queries, for policies (`features`) all candidates with their
    features. Slate: the items in their order. Outcome: the clicks; for policies the
    reward. These are columns that estimators or targets always read; propensities and scores are
    left out, since a log may lack them. Numbers are rounded to 32 bits, as in files.
    """

    key: str | None = None
    features: bool = False

    def needs(self) -> Needs:
        """The columns that are hashed."""
        if self.features:
            return Needs(frozenset(["candidates", "features", "reward"]))
        return Needs(frozenset(["clicks"]), keys=frozenset() if self.key is None else frozenset([self.key]))

    def keys(self, batch: LogBatch) -> Keys:
        """[n] hash of each row."""
        contexts, rows = batch.contexts, len(batch)
        start = np.zeros(rows, np.uint64)
        if self.key is not None:
            start = kernels.of_keys(contexts.keys[self.key])
        if self.features and contexts.features is not None:
            found = contexts.features
            lines = (found.first, found.offsets, found.indices, _bits(found.values))
            start = kernels.of_candidates(contexts.candidates, contexts.size, *lines)
        shown = kernels.of_slates(contexts.candidates, batch.slates, contexts.length, start)
        if self.features:
            earned, length = batch.reward[:, None], np.ones(rows, np.int64)
        else:
            assert batch.clicks is not None
            earned, length = batch.clicks, contexts.length
        came = kernels.of_numbers(_bits(earned), length, shown)
        return _first(start, 64, QUERY) | _first(shown, QUERY, QUERY - OUTCOME) | _first(came, OUTCOME, OUTCOME)


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """A sample of the distinct rows of a log.

    - content: the hashed columns. rows: the number of rows.
    - keys: [e] hashes, ascending: all hashes of the log up to `limit`. counts: [e] rows of each. keep: the most keys.
    """

    content: Content
    rows: int
    keys: Keys
    counts: NDArray[np.int64]
    limit: int
    keep: int = KEEP

    def __add__(self, other: Fingerprint) -> Fingerprint:
        keys, counts = summed([self.keys, other.keys], [self.counts, other.counts])
        limit = min(self.limit, other.limit)
        return Fingerprint(self.content, self.rows + other.rows, keys, counts, limit, self.keep).cut()

    def cut(self) -> Fingerprint:
        """The same with as many keys as are kept."""
        keys = self.keys[: self.keep]
        limit = min(self.limit, _limit(keys, self.keep))
        return replace(self, keys=keys, counts=self.counts[: self.keep], limit=limit)

    def __eq__(self, other: object) -> bool:
        """Whether it is of the same rows, judged by the sample."""
        if not isinstance(other, Fingerprint):
            return NotImplemented
        same = (self.content, self.rows, self.limit) == (other.content, other.rows, other.limit)
        return same and np.array_equal(self.keys, other.keys) and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.content, self.rows, self.limit, self.counts.tobytes()))

    @classmethod
    def read(cls, key: str | None, features: bool, rows: int, keys: NDArray[Any], counts: NDArray[Any]) -> Fingerprint:
        """The fingerprint stored in a file.

        Raises:
            ValueError: it is not a fingerprint.
        """
        if not (keys.ndim == counts.ndim == 1 and len(keys) == len(counts) <= KEEP and counts.sum() <= rows < 2**63):
            raise ValueError("its fingerprint of the rows is invalid")
        found = keys.astype(np.int64, copy=False).view(np.uint64)
        return cls(Content(key, features), rows, found, counts.astype(np.int64, copy=False), _limit(found, KEEP))


@dataclass(frozen=True)
class FingerprintFold(Fold):
    """Reduces a log to its fingerprint. keep: the most distinct rows; upto: larger keys are ignored."""

    content: Content
    keep: int = KEEP
    upto: int = int(np.iinfo(np.uint64).max)

    @classmethod
    def beside(cls, other: Fingerprint) -> FingerprintFold:
        """The fold for a log that is to be compared with another fingerprint."""
        return cls(other.content, KEEP_JUDGED, other.limit)

    def add(self, part: Fingerprint | None, batch: LogBatch) -> Fingerprint:
        keys, limit = self.content.keys(batch), self.upto if part is None else part.limit
        keys, counts = np.unique(keys[keys <= np.uint64(limit)], return_counts=True)
        found = Fingerprint(self.content, len(batch), keys, counts, self.upto, self.keep).cut()
        return found if part is None else part + found


def _first(hashes: Keys, place: int, bits: int) -> Keys:
    """The first bits of each hash, shifted to a place counted from the end of the key."""
    return np.asarray(hashes >> np.uint64(64 - bits) << np.uint64(place - bits))


def _limit(keys: Keys, keep: int) -> int:
    """The key up to which the sample is complete."""
    return int(keys[-1]) if len(keys) == keep else int(np.iinfo(np.uint64).max)


def _bits(values: Floats) -> NDArray[np.uint32]:
    """The 32 bits of each number; 0 and -0 are one."""
    with np.errstate(over="ignore"):
        return (values.astype(np.float32) + np.float32(0)).view(np.uint32)
