"""Which lists of a long table are whole in some of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Integers
from . import conversions, flat
from .tables import Piece

_LONGEST = 4
"""A place holds at least so many times the rows between the first and the last row of a list."""
_TAIL, _ASTRAY, _FROM_TOP = 0.99, 0.001, 0.9
"""The share of lists by which that is measured; the largest share of lists in several places, of lists that are chosen
apart; and the least share that begins at the top."""


@dataclass(frozen=True)
class _Place:
    """Rows that follow each other. which: [rows] the list of each; ids: [lists]; first, last: [lists] their rows."""

    pieces: Sequence[Piece]
    which: Integers
    ids: Integers
    first: Integers
    last: Integers
    top: Integers

    @classmethod
    def of(cls, pieces: Sequence[Piece], impression: str, position: str) -> _Place:
        """Look at the lists of some rows."""
        columns = [flat.plain_columns(piece.data) for piece in pieces]
        codes = np.concatenate([flat.id_codes(one.column(impression), impression) for one in columns])
        ranks = np.concatenate([flat.numbers(conversions.positions(one.column(position)), position) for one in columns])
        ids, first, which = np.unique(codes, return_index=True, return_inverse=True)
        last, top = np.zeros(len(ids), np.int64), np.full(len(ids), np.inf)
        np.maximum.at(last, which, np.arange(len(codes)))
        np.fmin.at(top, which, ranks)
        return cls(pieces, which, ids, first, last, top)

    def reach(self) -> int | None:
        """Return the rows between the first and the last of a list at most; None if it is unknown."""
        apart = self.last - self.first
        for found in (int(apart.max()), int(np.quantile(apart, _TAIL))):
            if _LONGEST * (found + 1) <= len(self.which):
                return found
        return None

    def whole(self, reach: int) -> NDArray[np.bool_]:
        """Return which lists are whole [lists]: those whose other rows could not be outside."""
        begins = self.pieces[0].rows[0] == 0
        inside = (self.first >= reach + 1) | begins
        return inside & (self.last < len(self.which) - reach - 1) & (self.last - self.first <= reach)

    def kept(self, lists: NDArray[np.bool_]) -> list[Piece]:
        """Return the rows of some lists."""
        found, start, rows = [], 0, lists[self.which]
        for piece in self.pieces:
            chosen = rows[start : start + len(piece.data)]
            start += len(chosen)
            found.append(replace(piece, data=flat.kept_rows(piece.data, chosen), rows=piece.rows[chosen]))
        return [piece for piece in found if len(piece.data)]


def whole_lists(places: Sequence[Sequence[Piece]], impression: str, position: str) -> list[list[Piece]] | None:
    """Return the rows of the lists that are whole within their place; None if the rows of lists stand further apart.

    places: rows that follow each other, of the long layout.
    """
    found = [_Place.of(pieces, impression, position) for pieces in places]
    ids, times = np.unique(np.concatenate([one.ids for one in found]), return_counts=True)
    tops = np.concatenate([one.top for one in found])
    if (times > 1).mean() > _ASTRAY or (tops == tops.min()).mean() < _FROM_TOP:
        return None
    kept, twice = [], ids[times > 1]
    for one in found:
        reach = one.reach()
        if reach is None:
            return None
        kept.append(one.kept(one.whole(reach) & ~np.isin(one.ids, twice)))
    return [pieces for pieces in kept if pieces]
