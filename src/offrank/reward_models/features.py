"""The features of a slate: those of its candidates side by side, as a row of numbers for a regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch, SparseFeatures
from ..log.source import Needs
from .column import shown
from .slates import pieces

Dense = NDArray[np.float32]

FEATURES = "features"
"""The name of the sparse features among the columns of a regression; others are scores of the candidates."""
MOST_COLUMNS = 20_000
"""Largest number of features of a slate."""


def refuse_wide(where: str, slots: int, width: int) -> None:
    """Raise if slates of so many slots have too many features.

    Raises:
        UsageError: they have.
    """
    if slots * width > MOST_COLUMNS:
        raise UsageError(
            f"{where} has features numbered up to {width - 1:,} and slates of {slots} items: a regression of whole "
            f"slates would have {width * slots:,} columns",
            f"at most {MOST_COLUMNS:,} are supported: number the features from 0 without gaps, or name columns with "
            "scores instead: lasso(by=[old_score])",
        )


@dataclass(frozen=True)
class SlateColumns:
    """The columns that a regression reads, all beside the candidates: `features`, or names of scores."""

    by: tuple[str, ...]

    @property
    def scores(self) -> tuple[str, ...]:
        """The columns with a number per candidate."""
        return tuple(name for name in self.by if name != FEATURES)

    def needs(self) -> Needs:
        """The columns to read."""
        return Needs(
            frozenset(["candidates"]) | frozenset([FEATURES]) & frozenset(self.by), scores=frozenset(self.scores)
        )

    def width(self, batch: LogBatch) -> int:
        """The number of features of a candidate in a batch; a later batch may have more.

        Raises:
            UsageError: none, or too many for a row of numbers per slate.
        """
        found, width = batch.contexts.features, len(self.scores)
        if FEATURES in self.by:
            if found is None:
                raise no_features(batch.file)
            width += _largest(found, batch.contexts.size) + 1
        refuse_wide(batch.file, batch.contexts.slots, width)
        return width

    def of_slates(self, contexts: Contexts, rows: Integers, slates: Integers, slots: int, width: int) -> Dense:
        """[s, slots * width] features of slates [s, k] in the contexts of rows [s]; 0 where nothing is shown.

        Features beyond the width, which no training row had, are left out.
        """
        found = np.empty((len(rows), slots * width), np.float32)
        for some in pieces(np.arange(len(rows)), slots * width):
            with np.errstate(over="ignore"):
                found[some] = self._dense(contexts, rows[some], slates[some], slots, width).reshape(len(some), -1)
        return found

    def _dense(self, contexts: Contexts, rows: Integers, slates: Integers, slots: int, width: int) -> Floats:
        dense = np.zeros((len(rows), slots, width))
        k, names = slates.shape[1], self.scores
        for place, name in enumerate(names):
            dense[:, :k, place] = shown(contexts.scores[name][rows], slates)
        if FEATURES in self.by and contexts.features is not None:
            dense[:, :, len(names) :] = _sparse(contexts.features, rows, slates, (slots, width - len(names)))
        return dense


def no_features(where: str) -> UsageError:
    """The error for a log without the features that a regression reads by default."""
    return UsageError(
        f"{where} has no features of the candidates to fit a reward model to",
        "name columns with a number per candidate: lasso(by=[old_score, new_score]), or the column of the "
        "features: columns={'features': ...}",
    )


def _sparse(found: SparseFeatures, rows: Integers, slates: Integers, shape: tuple[int, int]) -> Floats:
    """[s, slots, width] the sparse features of slates, written out."""
    slots, width = shape
    slate, slot = np.nonzero(slates >= 0)
    line = found.first[rows[slate]] + slates[slate, slot]
    start, count = found.offsets[line], found.offsets[line + 1] - found.offsets[line]
    entry = _ranges(start, count)
    place, index = np.repeat((slate * slots + slot) * width, count), found.indices[entry]
    known = index < width
    cells = len(rows) * slots * width
    written = np.bincount(place[known] + index[known], found.values[entry][known], minlength=cells)
    return written.astype(np.float64, copy=False).reshape(len(rows), slots, width)


def _largest(found: SparseFeatures, size: Integers) -> int:
    """The largest index of a feature in some rows; -1 where they have none."""
    lines = _ranges(found.first, size)
    entries = _ranges(found.offsets[lines], found.offsets[lines + 1] - found.offsets[lines])
    return int(found.indices[entries].max(initial=-1))


def _ranges(start: Integers, count: Integers) -> Integers:
    """The numbers start[i], ..., start[i] + count[i] - 1 of every i, one after another."""
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(count.sum())
