"""One pass over a log: its distinct sessions, their documents, and counts of what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import EmptyLogError, UsageError
from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import distinct_codes
from ..running.memory import given_back, refuse_without_room
from ..sums.base import Fold
from ..sums.counts import join
from ..wording import Option, Wording
from .base import Parameters
from .covariates import Covariates
from .documents import Documents, shown_keys


@dataclass(frozen=True)
class Sessions:
    """Distinct sessions: document [n, k] int32, index at each rank, -1 for pads and holes; click [n, k] uint8, 0 or 1.

    Parameters:
        document: [n, k] int32, index at each rank, -1 for pads and holes.
        click: [n, k] uint8, 0 or 1.
        weight: [n] number of sessions of the log like this one, each divided by its inclusion probability.
        documents: their number; tables of parameters have `documents` + 1 entries.
        query: [documents] index of each document's query, where it is known.
        covariates: table of documents -> [documents, q] what its priors depend on, besides ranks.

    Examples:
        >>> import numpy as np
        >>> rows = np.array([[0, 1]], dtype=np.int32), np.array([[1, 0]], dtype=np.uint8)
        >>> offrank.clicks.Sessions(*rows, np.array([1.0]), documents=2).ranks
        2
    """

    document: NDArray[np.int32]
    click: NDArray[np.uint8]
    weight: Floats
    documents: int
    query: Integers | None = None
    covariates: Parameters = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def ranks(self) -> int:
        """The number of ranks of the longest session."""
        return self.document.shape[1]

    def rank_moments(self) -> tuple[Floats, Floats, Floats]:
        """Sums over the impressions of each document [documents]: of 1, of the rank counted from 1, of its square."""
        total, first, second = np.zeros((3, self.documents + 1))
        for rank, document in enumerate(self.document.T, 1):
            shown = np.bincount(document + 1, self.weight, self.documents + 1)  # an empty slot is -1
            total, first, second = total + shown, first + rank * shown, second + rank**2 * shown
        return total[1:], first[1:], second[1:]

    def by_position(self) -> tuple[Floats, Floats]:
        """(shown, clicked) at each rank [ranks]."""
        shown = self.document >= 0
        return (np.einsum("n,nk->k", self.weight, shown), np.einsum("n,nk->k", self.weight, shown & (self.click > 0)))

    def mean_rank(self) -> Floats:
        """[documents] the mean logged rank of each document, counted from 1."""
        total, first, _ = self.rank_moments()
        return np.asarray(first / np.maximum(total, 1e-300))

    @property
    def group(self) -> Integers:
        """[n] the query of each session; where queries are unknown, its first document; 0 where nothing is shown."""
        first = self.document[np.arange(len(self)), (self.document >= 0).argmax(axis=1)]
        key = first if self.query is None else self.query[first]
        return np.where(first >= 0, key, 0)

    def where(self, kept: NDArray[np.bool_] | Integers) -> Sessions:
        """Some of the sessions, or all in another order."""
        return replace(self, document=self.document[kept], click=self.click[kept], weight=self.weight[kept])

    def scaled(self, share: float) -> Sessions:
        """The same sessions, all weights multiplied by a number."""
        return replace(self, weight=self.weight * share)


@dataclass(frozen=True)
class Tally:
    """ClickCounts from a pass over the log.

    impressions: sessions read. repeated: repeated clicks on a result, which count once. skipped: rule -> rows
    left out while reading. ranks: of the longest session. holes: ranks above a session's lowest where nothing was
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


FEWER = Wording("identify documents by item alone ({}), or use a part of the log", Option("by", None))
"""What to do where memory is short."""
MOST_FOR_PRIORS = 30_000
"""Distinct sessions from which the priors of documents, and doubts, are learnt: some queries' if there are more."""
_AT_ONCE, _BY_QUERY, _PLACE = 430, 110, 15
"""Bytes more of memory that learning from sessions takes for each document, where all are worked on at once, or those
of some queries after others; and for each rank of a session."""


class Weighed(NamedTuple):
    """Sums over the sessions of a log of the weights 1 / inclusion, and of their squares."""

    total: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, weight: Floats) -> Weighed:
        return cls(float(weight.sum()), float((weight**2).sum()))

    def plus(self, other: Weighed) -> Weighed:
        return Weighed(self.total + other.total, self.squares + other.squares)

    @property
    def worth(self) -> float:
        """Factor that makes the weights sum to the effective number of sessions (sum w)^2 / sum w^2 (Kish 1965)."""
        return self.total / self.squares if self.squares else 1.0


@dataclass(frozen=True)
class TrainingData:
    """The training data of a click model. data: `Sessions`, or `ClickCounts` where these suffice; worth: see `Weighed`.

    covariates: what else the model asks for.
    """

    documents: Documents
    data: Any
    tally: Tally
    worth: float = 1.0
    covariates: Covariates | None = None

    def counted(self) -> Any:
        """The data scaled to the effective sample size: a sampled session that stands for ten does not count as ten."""
        return self.data if self.worth == 1.0 else self.data.scaled(self.worth)


def whole_clicks(batch: LogBatch) -> Floats:
    """[n, k] the clicks of a batch.

    Raises:
        UsageError: clicks that are not whole numbers.
    """
    assert batch.clicks is not None
    broken = (batch.clicks % 1 != 0).any(axis=1)
    if broken.any():
        row = int(batch.row[broken.argmax()]) - batch.base
        raise UsageError(
            f"{batch.file}, row {row}: a number of clicks is not whole, and click models predict whether there is a "
            "click",
            "use 0 or 1 (or the number of clicks) in the column of clicks",
        )
    return batch.clicks


def no_impressions() -> EmptyLogError:
    """The error for a log from which there is nothing to learn or to predict."""
    return EmptyLogError("the log has no impressions", "give a log with at least one impression")


def tally(batch: LogBatch, repeated: float | None = None) -> Tally:
    """The tally of a batch; repeated: the number of repeated clicks, where known."""
    assert batch.clicks is not None
    repeated = float(np.maximum(batch.clicks - 1, 0).sum()) if repeated is None else repeated
    holes = int(batch.contexts.length.sum() - (batch.slates >= 0).sum())
    return Tally(len(batch), repeated, dict(batch.skipped), batch.contexts.slots, holes)


@dataclass(frozen=True)
class Chunk:
    """A batch with its own documents: codes of their items [d] and of each session's query [n], and sessions of these.

    Documents of other chunks are many times there: their keys and queries would take more room than the sessions.
    """

    item: Integers
    query: Integers
    sessions: Sessions

    @classmethod
    def of(cls, batch: LogBatch, by: str | None) -> Chunk:
        """The sessions of a batch.

        Raises:
            UsageError: clicks that are not whole numbers.
        """
        click, shown = whole_clicks(batch) > 0, batch.slates >= 0
        found = pa.array(shown_keys(batch.contexts, batch.slates, by)[shown]).dictionary_encode().indices
        document, place = np.full(shown.shape, -1, np.int32), found.to_numpy()
        document[shown] = place
        row, rank = np.nonzero(shown)
        item = np.empty(int(place.max(initial=-1)) + 1, np.int64)
        item[place] = batch.contexts.candidates[row, batch.slates[row, rank]]  # any place of a document tells its item
        query = np.zeros(len(batch), np.int64) if by is None else batch.contexts.keys[by]
        return cls(item, query, Sessions(document, click.astype(np.uint8), 1.0 / batch.inclusion, len(item)))

    def documents(self, by: str | None) -> tuple[Integers, Integers]:
        """The key of each document, and the code of its query [d]."""
        shown, query = self.sessions.document >= 0, np.empty_like(self.item)
        query[self.sessions.document[shown]] = np.broadcast_to(self.query[:, None], shown.shape)[shown]
        return self.item if by is None else join(query, self.item), query


class Pile:
    """Chunks in any order; two piles are equal if they have the same sessions."""

    def __init__(self, chunks: tuple[Chunk, ...] = (), tally: Tally = Tally()) -> None:
        self.chunks, self.tally = chunks, tally

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Pile) -> Pile:
        return Pile(self.chunks + other.chunks, self.tally + other.tally)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pile) or self.tally != other.tally:
            return False
        (documents, mine), (others, theirs) = self.joined("query"), other.joined("query")
        mine, theirs = collapsed(mine), collapsed(theirs)
        same_rows = np.array_equal(mine.document, theirs.document) and np.array_equal(mine.click, theirs.click)
        same_weights = np.allclose(mine.weight, theirs.weight, rtol=1e-12)
        return np.array_equal(documents.keys, others.keys) and same_rows and same_weights

    def joined(self, by: str | None, *, last: bool = False) -> tuple[Documents, Sessions]:
        """All documents, and all sessions in terms of these. last: nothing is left in the pile, for more room."""
        chunks, every = [*self.chunks], [one.sessions for one in self.chunks]
        keys = np.concatenate([np.empty(0, np.int64), *(one.documents(by)[0] for one in chunks)])
        keys.sort()
        keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
        shape = sum(map(len, every)), max((one.ranks for one in every), default=0)
        document, click, weight = np.full(shape, -1, np.int32), np.zeros(shape, np.uint8), np.empty(shape[0])
        query, item = np.empty((2, len(keys)), np.int64)
        if last:
            self.chunks, every = (), []
        chunks.reverse()
        first = 0
        while chunks:
            one = chunks.pop()
            rows, width = slice(first, first + len(one.sessions)), one.sessions.ranks
            known, queries = one.documents(by)
            order = np.argsort(known, kind="stable")  # in which they are found sooner
            place = np.full(len(known) + 1, -1, np.int32)  # one more entry, for the -1 of pads
            place[order] = np.searchsorted(keys, known[order])
            query[place[:-1]], item[place[:-1]] = queries, one.item
            document[rows, :width], click[rows, :width] = place[one.sessions.document], one.sessions.click
            weight[rows] = one.sessions.weight
            first = rows.stop
        documents = Documents.of(keys, query, item, by)
        return documents, Sessions(document, click, weight, len(keys), documents.query)


@dataclass(frozen=True)
class SessionsFold(Fold):
    """Reduces a log to its distinct sessions.

    Memory: 5 bytes per rank and 8 of each session of the log, while it is read; three times that in the end.
    """

    by: str | None = None

    def of(self, batch: LogBatch) -> Pile:
        return Pile((Chunk.of(batch, self.by),) if len(batch) else (), tally(batch))

    def result(self, found: Pile) -> TrainingData:
        """The sessions; the pile is empty afterwards.

        Raises:
            EmptyLogError: nothing was shown.
        """
        documents, sessions = given_back(found.joined(self.by, last=True))
        if not len(documents):
            raise no_impressions()
        pair = _AT_ONCE if self.by is None or len(sessions) <= MOST_FOR_PRIORS else _BY_QUERY
        needed = pair * len(documents) + _PLACE * sessions.document.size
        refuse_without_room(needed, f"{len(documents):,} pairs of query and item", FEWER)
        documents, worth = replace(documents, shown=sessions.rank_moments()[0]), Weighed.of(sessions.weight).worth
        return TrainingData(documents, collapsed(sessions), found.tally, worth)


@dataclass(frozen=True)
class TallyFold(Fold):
    """Reduces a log to its `Tally`."""

    def of(self, batch: LogBatch) -> Tally:
        return tally(batch)


def collapsed(sessions: Sessions) -> Sessions:
    """Each distinct session once, with the sum of its weights, in an order independent of the log's."""
    if not len(sessions):
        return sessions
    codes = np.broadcast_to(join(*(sessions.document * 2 + sessions.click).T).view(np.uint64), len(sessions))
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    first, weight = order[starts], np.add.reduceat(sessions.weight[order], starts)
    return replace(sessions, document=sessions.document[first], click=sessions.click[first], weight=weight)


def sample_queries(sessions: Sessions, most: int) -> tuple[Sessions, Integers]:
    """(about `most` sessions: those of some queries, their documents); all if there are fewer.

    Where queries are unknown, sessions with the same first document go together. The documents are numbered anew.
    """
    if len(sessions) <= most:
        return sessions, np.arange(sessions.documents)
    some = sessions.where(sessions.group * _GOLDEN % 1 < most / len(sessions))
    kept = distinct_codes(some.document[some.document >= 0])
    place = np.full(sessions.documents + 1, -1, np.int32)
    place[kept] = np.arange(len(kept))
    query = None if sessions.query is None else sessions.query[kept]
    return replace(some, document=place[some.document], documents=len(kept), query=query), kept.astype(np.int64)


_GOLDEN = (5**0.5 - 1) / 2
"""Its multiples are spread evenly."""
