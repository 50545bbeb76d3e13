"""The laws of rows, kept for those who ask for the same rows again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import numpy as np

from ...log.batch import Floats, Integers
from .laws import rank_law, rank_seconds

SLOW = 1e-3
"""Estimated seconds of a row from which its law is kept."""
_MOST = 4_000_000
"""Numbers that are kept, the last ones: 32 MB."""
_AT_ONCE = 1_000_000
"""Numbers that are computed at a time."""
_Key = tuple[bytes, int]


class KnownLaws:
    """The laws of rows at all ranks that were computed last, by the weights of their candidates."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, Floats] = OrderedDict()
        self._numbers = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[KnownLaws], tuple[()]]:
        """Pickled empty: another process keeps its own."""
        return KnownLaws, ()

    def rank_law(self, logs: Floats, size: Integers, length: Integers, items: Integers, slots: int) -> Floats:
        """As `laws.rank_law`, of rows that were asked for before, in any order, without computing them again."""
        if rank_seconds(size, length).max(initial=0.0) < SLOW:
            return rank_law(logs, size, length, items, slots)
        inside = np.arange(logs.shape[1]) < size[:, None]
        order = np.argsort(np.where(inside, logs, np.inf), axis=1, kind="stable")
        place = np.argsort(order, axis=1, kind="stable")
        rising = np.take_along_axis(logs, order, axis=1)
        keys = [(rising[row, : size[row]].tobytes(), int(length[row])) for row in range(len(logs))]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        rows = np.array(sorted({key: row for row, key in enumerate(keys) if key not in known}.values()), np.int64)
        each = max(_AT_ONCE // (logs.shape[1] * max(slots, 1)), 1)
        for some in np.split(rows, range(each, len(rows), each)):
            every = np.where(inside[some], np.arange(logs.shape[1]), -1)
            for row, law in zip(some, rank_law(rising[some], size[some], length[some], every, slots), strict=True):
                known[keys[row]] = self._keep(keys[row], law[: size[row], : min(length[row], size[row])].copy())
        out = np.zeros((*items.shape, slots))
        for row, key in enumerate(keys):
            asked = np.flatnonzero(items[row] >= 0)
            out[row, asked, : known[key].shape[1]] = known[key][place[row, items[row, asked]]]
        return out

    def _keep(self, key: _Key, law: Floats) -> Floats:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = law
                self._numbers += law.size
            while self._numbers > _MOST:
                self._numbers -= self._kept.popitem(last=False)[1].size
        return law
