"""Sessions as padded batches, with the documents of each batch renumbered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from ..sessions import Sessions


class Batch(NamedTuple):
    """b sessions of k ranks, ranks first; of each table, at most r rows.

    rows: table -> [r] the rows in use, each once; beyond them, the table's length. place: table -> [k, b] or [b] which
    of `rows`. share: table -> [r] the part of each row's prior that counts in this batch. previous: [k, b] the click
    above. shown, click: [k, b]. weight: [b], 0 for padding.
    """

    rows: dict[str, Any]
    place: dict[str, Any]
    share: dict[str, Any]
    previous: Any
    shown: Any
    click: Any
    weight: Any


@dataclass(frozen=True)
class TrainingSessions:
    """Sessions, the previous clicks [n, k] above each rank, and query_of [documents + 1], the query of each document.

    The last entry of query_of is the number of queries, which stands for an unseen one. Where the log has no column of
    queries, that number is 0 and all queries are unseen.
    """

    sessions: Sessions
    previous: NDArray[np.uint8]
    query_of: Integers

    @classmethod
    def of(cls, sessions: Sessions) -> TrainingSessions:
        query = np.zeros(sessions.documents, np.int64) if sessions.query is None else sessions.query
        queries = 0 if sessions.query is None else int(query.max(initial=-1)) + 1
        return cls(sessions, previous_clicks(sessions), np.append(query, queries))

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(self.query_of[-1])

    def query(self) -> Integers:
        """[n] the query of each session's documents; an unseen one for a session without documents."""
        return self.query_of[first_known(self.sessions.document)]


def previous_clicks(sessions: Sessions) -> NDArray[np.uint8]:
    """[n, k] whether the nearest document above each rank was clicked: 0 or 1, and 2 where there is none above."""
    shown = sessions.document >= 0
    latest = np.maximum.accumulate(np.where(shown, np.arange(1, sessions.ranks + 1), 0), axis=1)
    above = np.pad(latest[:, :-1], ((0, 0), (1, 0)))
    click = np.take_along_axis(sessions.click, np.maximum(above - 1, 0), axis=1) > 0
    return np.where(above > 0, click, 2).astype(np.uint8)


def first_known(document: NDArray[np.integer[Any]]) -> Integers:
    """[n] the first document of each slate that was in the training log, -1 where none was."""
    known = document >= 0
    first = document[np.arange(len(document)), known.argmax(axis=1)]
    return np.where(known.any(axis=1), first, -1).astype(np.int64)


def split(weight: Floats, share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(training weights, held-out weights): a session of weight w is held out a binomial number of times.

    Holding out all of its copies at once would remove the commonest sessions. Sums are kept. Where either
    side would be empty, all sessions are on both.
    """
    copies = np.maximum(np.rint(weight), 1).astype(np.int64)
    held = weight * (rng.binomial(copies, share) / copies)
    if held.any() and (held < weight).any():
        return weight - held, held
    return weight, weight


class Batches:
    """Passes over the sessions of positive weight, in batches of one shape.

    size: sessions in a batch. lengths: table -> its number of rows. dropped: the share of documents, and of sessions'
    queries, that are treated as unseen, so that the last row of each table learns what to expect of those.
    """

    def __init__(
        self, data: TrainingSessions, weight: Floats, size: int, lengths: dict[str, int], dropped: float = 0.0
    ) -> None:
        self.data, self.weight, self.dropped, self.lengths = data, weight, dropped, lengths
        self.kept = np.flatnonzero(weight > 0)
        self.size = max(min(size, len(self.kept)), 1)
        self.codes = {"document": data.sessions.document, "query": data.query()[:, None].astype(np.int32)}
        self.totals = {name: self._totals(name) for name in lengths}

    def passed(self, rng: np.random.Generator | None = None) -> Iterator[Batch]:
        """Batches with every session once; with an `rng`, in a random order and with documents dropped."""
        order = self.kept if rng is None else rng.permutation(self.kept)
        for first in range(0, len(order), self.size):
            yield self._batch(order[first : first + self.size], rng)

    def _batch(self, chosen: Integers, rng: np.random.Generator | None) -> Batch:
        weight = np.zeros(self.size)
        weight[: len(chosen)] = self.weight[chosen]
        sessions = self.data.sessions
        chosen_rows = (self.data.previous[chosen], sessions.document[chosen] >= 0, sessions.click[chosen])
        previous, shown, click = (self._padded(rows, 0).T for rows in chosen_rows)
        rows, place, share = {}, {}, {}
        for name, codes in self.codes.items():
            used = self._with_unseen(self._padded(codes[chosen], -1), name, rng)
            rows[name], found, share[name] = self._renumbered(used, weight, name)
            place[name] = found if name == "document" else found[0]
        return Batch(rows, place, share, previous, shown, click, weight.astype(np.float32))

    def _padded(self, table: Any, value: int) -> Any:
        missing = self.size - len(table)
        return table if not missing else np.pad(table, ((0, missing), (0, 0)), constant_values=value)

    def _with_unseen(self, codes: Any, name: str, rng: np.random.Generator | None) -> Any:
        if rng is None or not self.dropped:
            return codes
        hit = (rng.random(codes.shape, dtype=np.float32) < self.dropped) & (codes >= 0)
        return np.where(hit, np.int32(self.lengths[name] - 1), codes)

    def _renumbered(self, codes: Any, weight: Floats, name: str) -> tuple[Any, Any, Any]:
        """(rows, place, share) of one table for codes [b, k], as in `Batch`."""
        known, length = codes >= 0, self.lengths[name]
        used, found = np.unique(codes[known], return_inverse=True)
        rows, share = np.full(min(codes.size, length), length, np.int32), np.zeros(min(codes.size, length), np.float32)
        behind = np.bincount(found, np.broadcast_to(weight[:, None], codes.shape)[known])
        rows[: len(used)], share[: len(used)] = used, behind / self.totals[name][used]
        place = np.zeros(codes.shape, np.int32)
        place[known] = found
        return rows, place.T, share

    def _totals(self, name: str) -> Floats:
        """[rows] total weight of each row in a whole pass; infinite for the last, which has no prior."""
        codes, length = self.codes[name], self.lengths[name]
        known = codes >= 0
        weights = np.broadcast_to(self.weight[:, None], codes.shape)[known]
        totals = np.bincount(codes[known], weights=weights, minlength=length).astype(np.float64)
        totals[-1] = np.inf
        return np.where(totals > 0, totals, np.inf)
