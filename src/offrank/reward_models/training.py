"""The logged slates that a regression is learnt from: a row of features each, as a fold over batches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Floats, LogBatch
from ..log.contexts import feature_keys
from ..log.hashing import ODD, hashed
from ..sums._kernels import with_numbers
from ..sums.base import Fold
from ..sums.sampled import COPIES, row_contents
from .features import FEATURES, Dense, SlateColumns

Keys = NDArray[np.uint64]

MOST_TRAINING_NUMBERS = 20_000_000
"""Largest number of features held, 80 MB: of a larger log a random sample of rows is learnt from."""
_BESIDE = 8
"""The numbers beside the features of a row take as much memory as so many features."""
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class TrainingRows:
    """Logged slates with what they earned.

    key [s]: hash of the number of the row; said [s]: of what it says. group [s]: hash of its query, of its features, or
    of the row. x [s, slots, width]: features of the shown candidates. reward [s]; weight [s]: 1 / inclusion.
    """

    key: Keys
    said: Keys
    group: Keys
    x: Dense
    reward: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.key)

    @property
    def order(self) -> NDArray[np.intp]:
        """The rows in an order that follows from what they hold, not from where they stand: trees break ties by it.

        Rows that hold the same come in the order of their keys.
        """
        return np.lexsort((self.key, self.weight, self.reward, contents(self.x), self.group))

    def take(self, rows: NDArray[np.intp]) -> TrainingRows:
        """Some of the rows."""
        return TrainingRows(*(one[rows] for one in vars(self).values()))


def contents(x: Dense) -> Keys:
    """[s] hashes of the features of slates."""
    found = np.zeros(len(x), np.uint64)
    for column in np.ascontiguousarray(x).reshape(len(x), int(np.prod(x.shape[1:]))).view(np.uint32).T:
        found = hashed(found ^ column)
    return found


@dataclass(frozen=True)
class TrainingState:
    """Pieces of rows: those whose number has a hash below `limit`, and those that say one below `said`.

    read, slots, width: of all rows. by_content: whether rows are told apart by their features, so that another order of
    the log groups them alike.
    """

    pieces: tuple[TrainingRows, ...] = ()
    read: int = 0
    slots: int = 0
    width: int = 0
    limit: np.uint64 = field(default=_ALL)
    said: np.uint64 = field(default=_ALL)
    numbers: int = MOST_TRAINING_NUMBERS
    by_content: bool = False

    def __add__(self, other: TrainingState) -> TrainingState:
        both = replace(
            self,
            pieces=(*self.pieces, *other.pieces),
            read=self.read + other.read,
            slots=max(self.slots, other.slots),
            width=max(self.width, other.width),
            limit=min(self.limit, other.limit),
            said=min(self.said, other.said),
        )
        return both.cut() if sum(map(len, both.pieces)) > 3 * both.most else both

    @property
    def most(self) -> int:
        """The number of rows that may be held of each of the two samples."""
        return max(1, self.numbers // (self.slots * self.width + _BESIDE))

    def cut(self) -> TrainingState:
        """The same with the rows of the smallest hashes only, in one piece."""
        rows = self.rows
        limit, said = (_lowered(*each, self.most) for each in ((rows.key, self.limit), (rows.said, self.said)))
        kept = np.flatnonzero((rows.key < limit) | (rows.said < said))
        return replace(self, pieces=(rows.take(kept),), limit=limit, said=said)

    @property
    def rows(self) -> TrainingRows:
        """All rows, padded with zeros to the widest."""
        if len(self.pieces) == 1 and self.pieces[0].x.shape[1:] == (self.slots, self.width):
            return self.pieces[0]
        x = np.zeros((sum(map(len, self.pieces)), self.slots, self.width), np.float32)
        last = np.cumsum([len(one) for one in self.pieces])
        for end, one in zip(last, self.pieces, strict=True):
            x[end - len(one) : end, : one.x.shape[1], : one.x.shape[2]] = one.x
        none = np.zeros(0, np.uint64)
        every = [vars(one) for one in self.pieces]
        key, said, group = (np.concatenate([none, *(one[name] for one in every)]) for name in ("key", "said", "group"))
        reward, weight = (np.concatenate([np.zeros(0), *(one[name] for one in every)]) for name in ("reward", "weight"))
        return TrainingRows(key, said, group, x, reward, weight)


def _lowered(keys: Keys, limit: np.uint64, most: int) -> np.uint64:
    """The limit below which there are so many of the keys at most."""
    below = keys[keys < limit]
    return np.partition(below, most)[most] if len(below) > most else limit


@dataclass(frozen=True)
class TrainingFold(Fold):
    """Keeps the features and rewards of the logged slates, of a large log those of the rows with the smallest hashes.

    The hashes are of what rows say, unless many say the same: then of their numbers. columns: those of the features.
    key: the column that decides which rows are learnt from together, None: each alone.
    """

    columns: SlateColumns
    key: str | None
    numbers: int = MOST_TRAINING_NUMBERS

    def add(self, part: TrainingState | None, batch: LogBatch) -> TrainingState:
        state = TrainingState(numbers=self.numbers) if part is None else part
        if not len(batch):
            return state
        contexts, key, said = batch.contexts, hashed(batch.row), self._said(batch)
        slots, width = contexts.slots, self.columns.width(batch)
        rows = np.flatnonzero((key < state.limit) | (said < state.said))
        x = self.columns.of_slates(contexts, rows, batch.slates[rows, :slots], slots, width)
        x = x.reshape(len(rows), slots, width)
        group, weight = query_keys(batch, self.key)[rows], 1 / batch.inclusion[rows]
        found = TrainingRows(key[rows], said[rows], group, x, batch.reward[rows], weight)
        return state + TrainingState((found,), len(batch), slots, width, numbers=self.numbers)

    def result(self, part: TrainingState) -> TrainingState:
        kept = part.cut()
        samples = kept.rows.said < kept.said, kept.rows.key < kept.limit
        by_said, by_number = (kept.rows.take(np.flatnonzero(each)) for each in samples)
        copies = sum(len(one) - len(np.unique(one.said)) for one in (by_said, by_number))
        rows = by_number if 2 * len(by_said) < len(by_number) or copies > COPIES * len(by_said) else by_said
        by_content = False
        if self.key is None:
            group = contents(rows.x)
            by_content = len(np.unique(group)) >= (1 - COPIES) * len(rows)  # else groups would be few and large
            rows = replace(rows, group=group) if by_content else rows
        return replace(kept, pieces=(rows.take(rows.order),), by_content=by_content)

    def _said(self, batch: LogBatch) -> Keys:
        """[n] hashes of what rows say of what was shown, its features included where these are read."""
        said = row_contents(batch).copy()
        if FEATURES in self.columns.by:
            with_numbers(said, batch.slates, feature_keys(batch.contexts))
        return said


def query_keys(batch: LogBatch, key: str | None) -> Keys:
    """[n] hash of the query of each row, or of the row itself: equal for rows that are learnt from together.

    A row whose query is null is alone.
    """
    found = batch.row if key is None else batch.dependent([key])[key]
    return hashed(found * ODD)
