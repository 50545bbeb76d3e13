"""A log as learners read it again and again: encoded once, in memory or in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..estimators.base import refuse_impossible
from ..folds.fingerprint import Fingerprint
from ..log.batch import Floats, Integers, LogBatch
from ..policies.linear import Encoding, Lines
from ..policies.propensities import AnyPolicy, propensities
from .splits import By, Part, rows_of


@dataclass(frozen=True)
class Examples:
    """Impressions with encoded candidates: n rows, k slots.

    - starts, offsets, indices, values: as in `Lines`.
    - slates: [n, k] candidate per slot, -1 pads. clicks: [n, k], NaN where only the reward was logged.
    - log_q: [n] logarithm of the logged slate's probability. reward, inclusion: [n].
    """

    starts: Integers
    offsets: Integers
    indices: NDArray[np.int32]
    values: Floats
    slates: Integers
    clicks: Floats
    log_q: Floats
    reward: Floats
    inclusion: Floats

    def __len__(self) -> int:
        return len(self.reward)

    @property
    def size(self) -> Integers:
        """[n] candidates of each row."""
        return np.diff(self.starts)

    @property
    def lines(self) -> Lines:
        """The candidates' features."""
        return Lines(self.starts, self.offsets, self.indices, self.values)

    @property
    def shown(self) -> Integers:
        """[n] line of the candidate in the first slot."""
        return np.asarray(self.starts[:-1] + self.slates[:, 0])


@dataclass(frozen=True)
class Store:
    """Examples in pieces that fit into memory, of which the larger logs keep one at a time.

    impressions: estimated number before sub-sampling, the sum of 1 / inclusion; rows: those that are there.
    shift, scale: rewards are given out as (logged - shift) / scale; see `rewards`.
    """

    pieces: tuple[Examples | Path, ...]
    rows: int
    impressions: float
    slots: int
    shift: float = 0.0
    scale: float = 1.0

    def __iter__(self) -> Iterator[Examples]:
        for index in range(len(self.pieces)):
            yield self.piece(index)

    def piece(self, index: int) -> Examples:
        """One piece, from memory or from its file."""
        found = self.pieces[index]
        if not isinstance(found, Examples):
            with np.load(found, allow_pickle=False) as arrays:
                found = Examples(**arrays)
        if self.shift == 0.0 and self.scale == 1.0:
            return found
        return replace(found, reward=(found.reward - self.shift) / self.scale)


@dataclass(frozen=True)
class Packing:
    """Encodes one third of the log. folder: where pieces are kept, or None to keep them in memory."""

    encoding: Encoding
    logging: AnyPolicy
    part: Part
    by: By
    folder: Path | None = None

    def empty(self) -> tuple[Examples | Path, ...]:
        return ()

    def add(self, state: tuple[Examples | Path, ...], batch: LogBatch) -> tuple[Examples | Path, ...]:
        rows = rows_of(batch, self.part, self.by)
        return (*state, self._kept(self._packed(batch.take(rows)))) if len(rows) else state

    def merge(
        self, left: tuple[Examples | Path, ...], right: tuple[Examples | Path, ...]
    ) -> tuple[Examples | Path, ...]:
        return left + right

    def finish(self, state: tuple[Examples | Path, ...]) -> Store:
        totals = [(len(one), float((1 / one.inclusion).sum()), one.slates.shape[1]) for one in Store(state, 0, 0.0, 0)]
        rows, impressions, slots = zip(*totals, strict=True) if totals else ((), (), ())
        return Store(state, sum(rows), sum(impressions), max(slots, default=0))

    def _packed(self, batch: LogBatch) -> Examples:
        shown = propensities(self.logging, batch)
        refuse_impossible(batch, np.isneginf(shown.log_prob), shown)
        lines = self.encoding.lines(batch.contexts)
        clicks = np.full(batch.slates.shape, np.nan) if batch.clicks is None else batch.clicks
        logged = (shown.log_prob, batch.reward, batch.inclusion)
        return Examples(lines.starts, lines.offsets, lines.indices, lines.values, batch.slates, clicks, *logged)

    def _kept(self, found: Examples) -> Examples | Path:
        if self.folder is None:
            return found
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz", delete=False) as file:
            np.savez(file, **{one.name: getattr(found, one.name) for one in fields(found)})
        return Path(file.name)


@dataclass(frozen=True)
class Data:
    """What a learner is given. training: which rows of the log these are; None where nobody asked."""

    train: Store
    validate: Store
    encoding: Encoding
    training: Fingerprint | None = None

    @property
    def slots(self) -> int:
        """The widest slate."""
        return max(self.train.slots, self.validate.slots)
