"""One pass over a log: the distinct sessions, which documents were in them, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyLogError, UsageError
from ..folds.base import PlusFold, Turned
from ..log.batch import Floats, LogBatch
from . import _kernels
from .documents import Documents, shown_keys


@dataclass(frozen=True)
class Sessions:
    """document: [n, k] int32 index of the document at each rank, -1 for pads and holes. click: [n, k] uint8, 0 or 1.

    weight: [n] how many sessions of the log were like this one, each divided by its inclusion probability.
    documents: how many there are, so that tables of parameters have `documents` + 1 places.
    """

    document: NDArray[np.int32]
    click: NDArray[np.uint8]
    weight: Floats
    documents: int

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def ranks(self) -> int:
        """The longest session's number of ranks."""
        return self.document.shape[1]

    def scaled(self, share: float) -> Sessions:
        """The same with all weights times a number."""
        return replace(self, weight=self.weight * share)


@dataclass(frozen=True)
class Tally:
    """What a pass over the log has met.

    impressions: sessions read. repeated: clicks on what was clicked already, which count once. skipped: rule -> what
    was left out while reading. ranks: of the longest session. holes: ranks above a session's lowest where nothing was
    shown.
    """

    impressions: int = 0
    repeated: float = 0.0
    skipped: Mapping[str, int] = field(default_factory=dict)
    ranks: int = 0
    holes: int = 0

    def __add__(self, other: Tally) -> Tally:
        skipped = Counter(self.skipped) + Counter(other.skipped)
        impressions, repeated = self.impressions + other.impressions, self.repeated + other.repeated
        return Tally(impressions, repeated, dict(skipped), max(self.ranks, other.ranks), holes=self.holes + other.holes)


class Weighed(NamedTuple):
    """Sums over the sessions of a log: of their weights 1 / inclusion, and of the squares of these."""

    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, weight: Floats) -> Weighed:
        return cls(float(weight.sum()), float((weight**2).sum()))

    def plus(self, other: Weighed) -> Weighed:
        return Weighed(self.total + other.total, self.squares + other.squares)

    @property
    def worth(self) -> float:
        """By which weights are to be taken for counts: they then sum to (sum w)^2 / sum w^2 sessions (Kish 1965)."""
        return self.total / self.squares if self.squares else 1.0


class Scalable(Protocol):
    """Sessions or counts."""

    def scaled(self, share: float) -> Any: ...


@dataclass(frozen=True)
class Gathered:
    """What a click model learns from. data: Sessions, or counts where counts suffice; worth: see `Weighed`."""

    documents: Documents
    data: Scalable
    tally: Tally
    worth: float = 1.0

    def counted(self) -> Any:
        """The data, a session of a sampled log for no more than it tells: one that stands for ten is not ten."""
        return self.data if self.worth == 1.0 else self.data.scaled(self.worth)


@dataclass(frozen=True)
class Chunk:
    """A batch with documents of its own: keys [d], and sessions that index them."""

    keys: NDArray[np.int64]
    document: NDArray[np.int32]
    click: NDArray[np.uint8]
    weight: Floats


def whole_clicks(batch: LogBatch) -> Floats:
    """[n, k] the clicks of a batch.

    Raises:
        UsageError: clicks that are no whole numbers.
    """
    assert batch.clicks is not None
    if ((batch.clicks % 1) != 0).any():
        row = int(batch.row[int(((batch.clicks % 1) != 0).any(axis=1).argmax())]) - batch.base
        raise UsageError(
            f"{batch.file}, row {row}: a click is not a whole number, and click models predict whether there is one",
            "write 0 or 1 (or the number of clicks) in the column of clicks",
        )
    return batch.clicks


def chunk(batch: LogBatch, by: str | None) -> Chunk:
    """The sessions of a batch.

    Raises:
        UsageError: clicks that are no whole numbers.
    """
    clicks = whole_clicks(batch)
    shown = batch.slates >= 0
    keys, document = _kernels.encode(shown_keys(batch.contexts, batch.slates, by), shown)
    return Chunk(keys, document, (clicks > 0).astype(np.uint8), 1.0 / batch.inclusion)


def tally(batch: LogBatch) -> Tally:
    """What a batch adds to the tally."""
    assert batch.clicks is not None
    return met(batch, float(np.maximum(batch.clicks - 1, 0).sum()))


def met(batch: LogBatch, repeated: float) -> Tally:
    """The same, where it is known how many clicks are repeated."""
    holes = int(batch.contexts.length.sum() - (batch.slates >= 0).sum())
    return Tally(len(batch), repeated, dict(batch.skipped), batch.contexts.slots, holes)


class Pile:
    """Chunks that were read, in any order: piles are equal when they come to the same sessions."""

    def __init__(self, chunks: tuple[Chunk, ...] = (), tally: Tally = Tally()) -> None:
        self.chunks, self.tally = chunks, tally

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Pile) -> Pile:
        return Pile(self.chunks + other.chunks, self.tally + other.tally)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pile) or self.tally != other.tally:
            return False
        keys, sessions = self._content()
        other_keys, others = other._content()
        same_keys = np.array_equal(keys, other_keys)
        same_rows = np.array_equal(sessions.document, others.document) and np.array_equal(sessions.click, others.click)
        return same_keys and same_rows and np.allclose(sessions.weight, others.weight, rtol=1e-12)

    def _content(self) -> tuple[NDArray[np.int64], Sessions]:
        documents = Documents(distinct_keys(self.chunks))
        return documents.keys, collapsed(joined(self.chunks, documents))


@dataclass(frozen=True)
class SessionsFold(Turned):
    """Reduces a log to its distinct sessions.

    Memory: 5 bytes per rank and 8 of each session of the log, while it is read; three times that in the end.
    """

    by: str | None = None

    reducer: ClassVar = PlusFold(Pile())

    def turned(self, batch: LogBatch) -> Pile:
        return Pile((chunk(batch, self.by),) if len(batch) else (), tally(batch))

    def told(self, found: Pile) -> Gathered:
        documents = united(found.chunks, self.by)
        sessions = joined(found.chunks, documents)
        return Gathered(documents, collapsed(sessions), found.tally, Weighed.of(sessions.weight).worth)


@dataclass(frozen=True)
class TallyFold(Turned):
    """Reduces a log to its `Tally`."""

    reducer: ClassVar = PlusFold(Tally())

    def turned(self, batch: LogBatch) -> Tally:
        return tally(batch)


def distinct_keys(chunks: tuple[Chunk, ...]) -> NDArray[np.int64]:
    """The keys of all chunks, ascending."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *(one.keys for one in chunks)]))


def united(chunks: tuple[Chunk, ...], by: str | None) -> Documents:
    """The documents of all chunks.

    Raises:
        EmptyLogError: there are none.
    """
    if not sum(len(one.keys) for one in chunks):
        raise EmptyLogError("the log has no impressions", "give a log with at least one impression")
    return Documents(distinct_keys(chunks), by)


def joined(chunks: tuple[Chunk, ...], documents: Documents) -> Sessions:
    """All sessions, in terms of the documents of the whole log."""
    rows, ranks = sum(len(one.weight) for one in chunks), max((one.document.shape[1] for one in chunks), default=0)
    document, click = np.full((rows, ranks), -1, np.int32), np.zeros((rows, ranks), np.uint8)
    first = 0
    for one in chunks:
        last, width = first + len(one.weight), one.document.shape[1]
        # A place more, for the -1 of pads.
        codes = np.append(np.searchsorted(documents.keys, one.keys), -1).astype(np.int32)
        document[first:last, :width], click[first:last, :width] = codes[one.document], one.click
        first = last
    weight = np.concatenate([np.empty(0), *(one.weight for one in chunks)])
    return Sessions(document, click, weight, len(documents))


def collapsed(sessions: Sessions) -> Sessions:
    """Like sessions once, with their weights summed; in an order that the log's own does not change."""
    codes = _kernels.session_hash(sessions.document, sessions.click)
    order = np.argsort(codes)
    codes = codes[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1])[: len(codes)])
    if not len(starts):
        return sessions
    first, weight = order[starts], np.add.reduceat(sessions.weight[order], starts)
    return Sessions(sessions.document[first], sessions.click[first], weight, sessions.documents)
