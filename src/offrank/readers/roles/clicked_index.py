"""Is a column the number of the place that was clicked, and do places count from 0 or from 1?"""

from __future__ import annotations

import numpy as np

from ...log.batch import Integers
from ..flat import Lists
from . import names
from .columns import FEW

_MOST_LONG = 0.5
"""The largest share of lists of places that are as long as the list that was shown; clicks beside it always are."""
_ENOUGH = 20
"""Clicks on a place, from which on its neighbour at the end of the list is hardly without any."""


def called_as_place(name: str) -> bool:
    """Whether a name is that of a place, or of an item, that was clicked or chosen."""
    words = names.parts(name)
    deed = any(names.closeness(role, name) >= 1 for role in ("click", "used"))
    place = names.closeness("position", name) >= 1
    several = any(word.endswith("s") for word in words if names.closeness("click", word) >= 3)
    return deed and (place or not (several or names.words_of("COUNT") & {*words}))


def tops_of(places: Lists, lengths: Integers, name: str) -> tuple[int, ...]:
    """Return the numbers that the first place may have, the likelier one first; none if the values are no places.

    places: what was clicked of each list. lengths: of the lists that were shown. Nothing was clicked where there is no
    place, or -1; or 0 where places count from 1.
    """
    row = places.row
    numbers, size = np.asarray(places.values, np.float64), lengths[row]
    known = numbers >= 0
    marked = bool(len(row) > known.sum() or (places.lengths == 0).any() or (places.lengths > 1).any())
    if (places.lengths == lengths).mean() > _MOST_LONG or not _are_places(numbers, size, known):
        return ()
    if not (marked or names.closeness("position", name) >= 1):
        return ()
    numbers, size = numbers[known], size[known]
    few = FEW * len(numbers)
    zeros, ends = (numbers == 0).sum(), (numbers == size).sum()
    possible = [top for top, wrong in ((1, zeros if marked else 0), (0, ends)) if wrong <= few]
    if len(possible) < 2:
        return tuple(possible)
    first, last = (numbers == 1).sum(), (numbers == size - 1).sum()  # beside the ends
    unlikely = {0: not zeros and first >= _ENOUGH, 1: not ends and last >= _ENOUGH}
    likely = [top for top in possible if not unlikely[top]]
    return tuple(likely) if len(likely) == 1 else tuple(possible)


def _are_places(numbers: np.ndarray, size: Integers, known: np.ndarray) -> bool:
    """Whether numbers are places in lists of these sizes, of which there are several, beside -1 for none."""
    if not known.any() or (numbers[~known] != -1).any() or np.isinf(numbers).any() or (numbers % 1 != 0).any():
        return False
    return bool((numbers[known] > size[known]).mean() <= FEW and len(np.unique(numbers[known])) > 1)
