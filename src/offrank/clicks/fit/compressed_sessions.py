"""Sessions cut at their last click: all ranks above were examined, so counts suffice; below, examination is hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from ..sessions import Sessions
from . import _kernels

_BLOCK = 1 << 18
"""Number of tails whose examination probabilities are in memory at once."""
_TOGETHER = 16
"""Queries whose sessions are read together."""
_DOCUMENTS = 32_000
"""Documents of the queries that are worked on at once where there are many: numbers up to 32,767 take two bytes."""


class HiddenCounts(NamedTuple):
    """Weighted expected counts of the hidden events, given the clicks.

    - log_likelihood: of all sessions.
    - clicked, missed: [documents + 1] examinations with and without a click.
    - on, off: [cells] clicks after which the user went on, or stopped with items left.
    - passed, left: the same after a skip.
    """

    log_likelihood: float
    clicked: Floats
    missed: Floats
    on: Floats
    off: Floats
    passed: float
    left: float


class Trials(NamedTuple):
    """Trials with a document's probability that may have taken place: all [i].

    document: -1 for none. success, failure: the probability of each outcome, given the whole session and all
    current parameters; the rest of 1 is that of no trial. weight: how many sessions were like this.

    A session's likelihood is linear in the one probability p: at p' it is larger by the factor
    success p' / p + failure (1 - p') / (1 - p) + 1 - success - failure.
    """

    document: Integers | NDArray[np.int32]
    success: Floats
    failure: Floats
    weight: Floats

    @classmethod
    def made(cls, success: Floats, weight: Floats) -> Trials:
        """Trials that certainly took place: one entry per document [documents + 1]."""
        return cls(np.arange(len(weight)), success, 1.0 - success, weight)


class Second(NamedTuple):
    """A trial that every click implies in addition to that of the attraction; whether the user goes on depends on it.

    table: the name of its probabilities. went, stopped: [documents + 1] P(success | went on after the click), P(success
    | stopped after it).
    """

    table: str
    went: Floats
    stopped: Floats


@dataclass(frozen=True)
class SessionTails:
    """The training data of models whose users read from the top.

    A cell is what the probability of going on after a click depends on: the document, or the rank.

    - clicked, skipped: [documents + 1] weight of the clicks on a document, and of its skips above a last click.
    - on: [cells] weight of the clicks that another click follows: the user went on. passed: of such skips, of any item.
    - first: [tails + 1], document: [places] int32: tail t has the documents document[first[t] : first[t + 1]], -1 for
      holes: the ranks below the last click of a session, or all of a session without clicks.
    - cell: [tails] int32 cell of that last click, -1 where there is no click. weight: [tails].
    - sessions: the weight of all of them.
    """

    clicked: Floats
    skipped: Floats
    on: Floats
    passed: float
    first: Integers
    document: NDArray[np.int32]
    cell: NDArray[np.int32]
    weight: Floats
    ranks: int
    sessions: float

    @classmethod
    def of(cls, sessions: Sessions, *, by_rank: bool) -> SessionTails:
        """Cut sessions at their last clicks. by_rank: cells are ranks, not documents."""
        sessions = sessions.where(_order(sessions))
        document, click, places = sessions.document, sessions.click > 0, sessions.documents + 1
        ranks = np.arange(sessions.ranks, dtype=np.int32)
        last, lowest = (_lowest(there)[:, None] for there in (click, document >= 0))
        weight = np.broadcast_to(sessions.weight[:, None], document.shape)
        above, below = ranks < last, (ranks > last) & (ranks <= lowest)
        cells, open_ = np.broadcast_to(ranks, document.shape) if by_rank else document, below.any(axis=1)
        cell = np.where(last >= 0, np.take_along_axis(cells, np.maximum(last, 0), axis=1), -1)

        def summed(table: NDArray[np.int32], where: NDArray[np.bool_], size: int) -> Floats:
            return np.asarray(np.bincount(table[where], weight[where], size), np.float64)

        return cls(
            clicked=summed(document, click, places),
            skipped=summed(document, above & ~click & (document >= 0), places),
            on=summed(cells, above & click, sessions.ranks if by_rank else places),
            passed=float(weight[above & ~click].sum()),
            first=np.append(0, below.sum(axis=1)[open_].cumsum()),
            document=document[below],
            cell=cell[open_, 0],
            weight=sessions.weight[open_],
            ranks=sessions.ranks,
            sessions=float(sessions.weight.sum()),
        )

    def parts(self) -> Iterator[tuple[slice, SessionTails]]:
        """The documents, and their tails: all at once."""
        yield slice(None), self

    def expect(self, attraction: Floats, after_click: Floats, after_skip: float) -> HiddenCounts:
        """The E-step: exact, by forward-backward. after_click: [cells]."""
        tails, chances = (self.first, self.document, self.cell, self.weight), (attraction, after_click, after_skip)
        found, examined, on, off, passed, left = _kernels.expect_tails(*tails, *chances, self.ranks, np.empty(0))
        known = _logs(self.clicked, attraction) + _logs(self.skipped, 1 - attraction)
        known += _logs(self.on, after_click) + _logs(np.asarray(self.passed), np.asarray(after_skip))
        missed, going = self.skipped + examined, self.passed + passed
        return HiddenCounts(found + known, self.clicked, missed, self.on + on, off, going, left)

    def trials(
        self, attraction: Floats, after_click: Floats, after_skip: float, second: Second | None
    ) -> Iterator[tuple[str, Trials]]:
        """All trials of the attraction, and the second trials of clicks: by table, in blocks."""
        ones = np.ones(len(self.clicked))
        yield "attraction", Trials.made(ones, self.clicked)
        yield "attraction", Trials.made(1.0 - ones, self.skipped)
        if second is not None:
            yield second.table, Trials.made(second.went, self.on)
        for begin in range(0, len(self.weight), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            first, cell, weight = self.first[begin : begin + _BLOCK + 1], self.cell[rows], self.weight[rows]
            examined = np.empty(first[-1] - first[0])
            tails, chances = (first, self.document, cell, weight), (attraction, after_click, after_skip)
            _kernels.expect_tails(*tails, *chances, self.ranks, examined)
            places = self.document[first[0] : first[-1]]
            yield "attraction", Trials(places, np.zeros(len(places)), examined, np.repeat(weight, np.diff(first)))
            if second is not None:
                went = examined[first[:-1] - first[0]]
                success = second.stopped[cell] + went * (second.went - second.stopped)[cell]
                yield second.table, Trials(cell, success, 1.0 - success, weight)


@dataclass(frozen=True)
class ManyTails:
    """The same of many documents, those of some queries after others, in little room: see `SessionTails`.

    each: (the documents, their tails with numbers as narrow as they can be).
    """

    each: tuple[tuple[slice, SessionTails], ...]
    ranks: int
    sessions: float

    @classmethod
    def of(cls, sessions: Sessions, *, by_rank: bool) -> ManyTails:
        """Cut sessions at their last clicks. The documents of each query are numbered one after another."""
        query, documents = sessions.query, sessions.documents
        assert query is not None
        starts = np.flatnonzero(np.append(True, query[1:] != query[:-1]))
        begin = np.unique(starts[np.searchsorted(starts[1:], np.arange(0, documents, _DOCUMENTS), "right")])
        place = np.searchsorted(begin, np.maximum(sessions.document.max(axis=1), 0), "right") - 1
        order, found = np.argsort(place.astype(np.int16 if len(begin) < 1 << 15 else np.int32), kind="stable"), []
        ends = np.searchsorted(place[order], np.arange(len(begin) + 1))
        for number, (first, end) in enumerate(zip(begin, (*begin[1:], documents), strict=True)):
            some, last = sessions.where(order[ends[number] : ends[number + 1]]), end == documents
            document = np.where(some.document >= 0, some.document - np.int32(first), np.int32(-1))
            # All but the last have no entry of an unseen document.
            size = int(end - first) - (not last)
            tails = SessionTails.of(
                replace(some, document=document, documents=size, query=query[first:end]), by_rank=by_rank
            )
            found.append((slice(first, end + last), _changed(tails, _narrowed)))
        return cls(tuple(found), sessions.ranks, float(sessions.weight.sum()))

    def parts(self) -> Iterator[tuple[slice, SessionTails]]:
        """Some documents after others, and their tails, in numbers to compute with."""
        for rows, tails in self.each:
            yield rows, _changed(tails, _widened)


def _changed(tails: SessionTails, change: Callable[[str, Any], Any]) -> SessionTails:
    arrays = {name: one for name, one in vars(tails).items() if isinstance(one, np.ndarray)}
    return replace(tails, **{name: change(name, one) for name, one in arrays.items()})


def _narrowed(_: str, array: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(invalid="ignore"):
        each = (array.astype(kind) for kind in (np.uint8, np.int16, np.int32))
        return next((one for one in each if (one == array).all()), array)


def _widened(name: str, array: NDArray[Any]) -> NDArray[Any]:
    return array.astype({"first": np.int64, "document": np.int32, "cell": np.int32}.get(name, np.float64), copy=False)


def _order(sessions: Sessions) -> Integers:
    """The order in which sessions are read: those of a few queries together, and of these, tails of one length.

    What belongs to their documents then stays in the processor's cache, and it foresees where tails end.
    """
    length = _lowest(sessions.document >= 0) - _lowest(sessions.click > 0)
    return np.argsort(sessions.group // _TOGETHER * (sessions.ranks + 1) + length, kind="stable")


def _lowest(there: NDArray[np.bool_]) -> Integers:
    """[n] the lowest rank of each session [n, k] at which something is; -1 where nothing is."""
    ranks = there.shape[1]
    return np.where(there.any(axis=1), ranks - 1 - there[:, ::-1].argmax(axis=1), -1)


def _logs(weight: Floats, probability: Floats) -> float:
    """Sum of weighted logarithms, in which zero weights count nothing."""
    with np.errstate(divide="ignore"):
        return float((weight * np.log(np.where(weight > 0, probability, 1.0))).sum())
