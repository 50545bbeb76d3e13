"""Sessions as padded batches, with the few documents of a batch numbered anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers
from ..sessions import Sessions
from . import _kernels


class Batch(NamedTuple):
    """b sessions of k ranks, ranks first; of each table, at most r rows.

    rows: table -> [r] the rows in use, each once; beyond them, the table's length. place: table -> [k, b] or [b] which
    of `rows`. share: table -> [r] which part of each row's prior this batch answers for. previous: [k, b] the click
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
class Data:
    """Sessions, what was clicked above each rank [n, k], and group [documents + 1], the group of each document."""

    sessions: Sessions
    previous: Integers
    group: Integers

    @classmethod
    def of(cls, sessions: Sessions) -> Data:
        return cls(
            sessions,
            _kernels.previous(sessions.click, sessions.document >= 0),
            _kernels.together(sessions.document, sessions.documents),
        )

    def groups(self) -> Integers:
        """[n] the group of each session's documents; one never seen for a session without any."""
        return self.group[first_known(self.sessions.document)]


def first_known(document: NDArray[np.integer[Any]]) -> Integers:
    """[n] the first document of each slate that was learnt from, -1 where none was."""
    known = document >= 0
    first = document[np.arange(len(document)), known.argmax(axis=1)]
    return np.where(known.any(axis=1), first, -1)


def split(weight: Floats, share: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """(weights to learn from, weights held out): a session that was met w times is held out a binomial number of times.

    To hold out all of its copies at once would take just the commonest sessions away. Sums are kept. Where either
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
    groups, that are taken for ones never seen: so the last row of each table learns what to expect of those.
    """

    def __init__(self, data: Data, weight: Floats, size: int, lengths: dict[str, int], dropped: float = 0.0) -> None:
        self.data, self.weight, self.dropped, self.lengths = data, weight, dropped, lengths
        self.kept = np.flatnonzero(weight > 0)
        self.size = max(min(size, len(self.kept)), 1)
        self.codes = {"document": data.sessions.document}
        if "query" in lengths:
            self.codes["query"] = data.groups()[:, None].astype(np.int32)
        self.totals = {name: self._totals(name) for name in lengths}
        self.numbers = {name: np.full(length, -1, np.int64) for name, length in lengths.items()}

    def passed(self, rng: np.random.Generator | None = None) -> Iterator[Batch]:
        """Every session once; in a random order, and with documents dropped, where there is an `rng`."""
        order = self.kept if rng is None else rng.permutation(self.kept)
        for first in range(0, len(order), self.size):
            yield self._batch(order[first : first + self.size], rng)

    def _batch(self, chosen: Integers, rng: np.random.Generator | None) -> Batch:
        weight = np.zeros(self.size)
        weight[: len(chosen)] = self.weight[chosen]
        sessions, turned = self.data.sessions, {}
        for name, table in (
            ("previous", self.data.previous),
            ("shown", sessions.document >= 0),
            ("click", sessions.click),
        ):
            turned[name] = self._padded(table[chosen], 0).T
        rows, place, share = {}, {}, {}
        for name, codes in self.codes.items():
            if name in self.lengths:
                used = self._with_unseen(self._padded(codes[chosen], -1), name, rng)
                rows[name], found, share[name] = self._renumbered(used, weight, name)
                place[name] = found if name == "document" else found[0]
        return Batch(rows, place, share, **turned, weight=weight.astype(np.float32))

    def _padded(self, table: Any, value: int) -> Any:
        missing = self.size - len(table)
        return table if not missing else np.pad(table, ((0, missing), (0, 0)), constant_values=value)

    def _with_unseen(self, codes: Any, name: str, rng: np.random.Generator | None) -> Any:
        if rng is None or not self.dropped:
            return codes
        hit = (rng.random(codes.shape, dtype=np.float32) < self.dropped) & (codes >= 0)
        return np.where(hit, np.int32(self.lengths[name] - 1), codes)

    def _renumbered(self, codes: Any, weight: Floats, name: str) -> tuple[Any, Any, Any]:
        length = self.lengths[name]
        size = min(codes.size, length)
        rows, behind = np.full(size, length, np.int32), np.zeros(size)
        place = _kernels.renumbered(codes, weight, self.numbers[name], rows, behind)
        total = np.append(self.totals[name], np.inf)[rows]
        return rows, place, (behind / total).astype(np.float32)

    def _totals(self, name: str) -> Floats:
        """[rows] weight behind each row in a whole pass; infinite for the last, which has no prior."""
        codes, length = self.codes[name], self.lengths[name]
        known = codes >= 0
        weights = np.broadcast_to(self.weight[:, None], codes.shape)[known]
        totals = np.bincount(codes[known], weights=weights, minlength=length).astype(np.float64)
        totals[-1] = np.inf
        return np.where(totals > 0, totals, np.inf)
