"""By which columns are all slates of a log sorted? By one, or by several in turn; the id of an item may be one of them.

A column that follows the place of an item, as another position or its height on the page does, sorts every log, and so
does a number that counts rows or moments. Neither is a column that a ranker sorts by.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.texts import Texts

_FEWEST = 20
"""Pairs of items that a column puts in order, from which on that is no chance: half of them would be in the other."""
_FEW = 0.01
"""The largest share of pairs whose order may stay open."""
_MOST_KEYS = 3
_EDGE = 0.05
"""The share of values beyond each end of the range in which those of a slot, or of a row, are said to be."""
_OVERLAP = 0.5
"""The least share of neighbouring slots, or rows, whose ranges overlap, of a column that tells of items."""
Numbers = Floats


@dataclass(frozen=True)
class SortKey:
    """A column that slates are sorted by; without a column it is the id of the item."""

    column: str | None
    ascending: bool

    def __str__(self) -> str:
        if self.column is None:
            return f"the item id{'' if self.ascending else ', descending'}"
        return f"`{self.column}`, {'ascending' if self.ascending else 'descending'}"


def sort_keys(
    contexts: Contexts, slates: Integers, apart: Collection[str] = (), texts: Texts | None = None
) -> tuple[SortKey, ...]:
    """Return the columns that all slates are sorted by, the first one first; none if they are not.

    apart: columns that are no scores. texts: of ids that are texts, for which their codes mean nothing; without them
    ids are not tried.
    """
    known: dict[str | None, Numbers] = {one: contexts.scores[one] for one in contexts.scores if one not in apart}
    if texts is not None:
        known[None] = _in_order(contexts.candidates, texts)
    able = {name: values for name, values in known.items() if tells_of_items(values, contexts, slates)}
    row, above, below = _pairs(contexts, slates)
    codes = contexts.candidates[row, above], contexts.candidates[row, below]
    every, found = len(row), list[SortKey]()
    while len(row) > _FEW * every and len(found) < _MOST_KEYS:
        best, most = None, _FEWEST - 1
        for name, values in able.items():
            falls = values[row, above] - values[row, below]
            for ascending in (False, True):
                steps = -falls if ascending else falls
                if not (steps >= 0).all() or (count := _different(codes, steps > 0)) <= most:
                    continue
                best, most = (SortKey(name, ascending), steps == 0), count
        if best is None:
            return ()
        found.append(best[0])
        row, above, below = row[best[1]], above[best[1]], below[best[1]]
        codes = codes[0][best[1]], codes[1][best[1]]
    return tuple(found)


def tells_of_items(values: Numbers, contexts: Contexts, slates: Integers) -> bool:
    """Whether values of candidates [n, size] tell of the items, not of their slots, and count no rows or moments."""
    if not len(slates):
        return False
    shown = np.where(slates >= 0, np.take_along_axis(values, np.maximum(slates, 0), axis=1), np.nan)
    shown = shown[:, (slates >= 0).mean(axis=0) > _EDGE]
    low, high = np.nanquantile(shown, (_EDGE, 1 - _EDGE), axis=0)
    apart = (high[:-1] <= low[1:]) | (low[:-1] >= high[1:])
    if len(apart) and apart.mean() > 1 - _OVERLAP:
        return False
    inside = np.arange(values.shape[1]) < contexts.size[:, None]
    least, most = np.where(inside, values, np.inf).min(axis=1), np.where(inside, values, -np.inf).max(axis=1)
    order = np.argsort(least, kind="stable")
    return bool((most[order][:-1] >= least[order][1:]).mean() >= _OVERLAP) if len(order) > 1 else False


def _pairs(contexts: Contexts, slates: Integers) -> tuple[Integers, Integers, Integers]:
    """Return pairs of candidates of which one stands above the other: row, above, below.

    They are neighbours in the slate, and its last item with each candidate that was not shown.
    """
    row, slot = np.nonzero(slates[:, 1:] >= 0)
    size = contexts.candidates.shape[1]
    hidden = np.arange(size) < contexts.size[:, None]
    at, place = np.nonzero(slates >= 0)
    hidden[at, slates[at, place]] = False
    hidden[contexts.length == 0] = False
    beside, below = np.nonzero(hidden)
    last = slates[beside, contexts.length[beside] - 1]
    first = slates[row, slot], slates[row, slot + 1]
    return np.append(row, beside), np.append(first[0], last), np.append(first[1], below)


def _different(codes: tuple[Integers, Integers], chosen: Booleans) -> int:
    """Return how many different pairs of items there are among some."""
    return len(np.unique(np.stack([one[chosen] for one in codes]), axis=1).T) if chosen.any() else 0


def _in_order(candidates: Integers, texts: Texts) -> Numbers:
    """Return numbers that are in the order of ids [n, size]."""
    found: Mapping[int, str] = dict(zip(texts.codes.tolist(), texts.texts.to_pylist(), strict=True))
    if not found:
        return candidates.astype(np.float64)
    codes, place = np.unique(candidates, return_inverse=True)
    order = sorted(range(len(codes)), key=lambda at: found.get(int(codes[at]), ""))
    rank = np.empty(len(codes))
    rank[order] = np.arange(len(codes))
    return np.asarray(rank[np.ravel(place)].reshape(candidates.shape))
