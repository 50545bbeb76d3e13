"""Whether a flag that is not called a click behaves as clicks do: seldom set, less often further down, by no item."""

from __future__ import annotations

import numpy as np

from ...log.batch import Floats, Integers
from . import names
from .columns import Flags, by_first

_ELSEWHERE = ("outcome", "shown", "propensity", "position", "item", "impression", "user", "session", "query", "time")
"""Roles by whose words no click is called."""


def like_clicks(name: str, numbers: Floats, lists: Integers, places: Floats | Integers, items: Integers) -> bool:
    """Whether a flag is one of clicks by its values, each of which is beside an item in a place of a list.

    It must be called nothing else. What a user did is set for fewer than half of the items, less often further down,
    and now and then for the same item or in the same place; what was seen is set from the top to some place.
    """
    if any(names.closeness(role, name) >= 1 for role in _ELSEWHERE) or not {*np.unique(numbers)} <= {0.0, 1.0}:
        return False
    places = places - places.min(initial=0)
    flags = numbers > 0
    own = [_share_told(flags, by_first(each)) for each in (items, places.astype(np.int64))]
    return _falls(flags, places) and max(own) <= _TOLD and not _from_the_top(flags, lists, places)


def _falls(flags: Flags, places: Floats | Integers) -> bool:
    """Whether a flag is set for less than half, in places that are higher than others by more than chance."""
    if not 0 < flags.mean() < 0.5 or flags.sum() < _FEWEST:
        return False
    above, below = places[flags], places[~flags]
    error = np.sqrt(above.var() / len(above) + below.var() / len(below))
    return bool(above.mean() - below.mean() < -_DEVIATIONS * error)


def _share_told(flags: Flags, groups: Integers) -> float:
    """Return the share of a flag's variance that groups tell beyond chance; 1 if it has none, or few share a group."""
    sizes = np.bincount(groups)
    shared = sizes[groups] >= _SHARED
    if shared.mean() < 0.5 or not (variance := float(flags[shared].var())):
        return 1.0
    means = np.bincount(groups, flags) / sizes
    within = float(((flags - means[groups])[shared] ** 2).sum()) / (shared.sum() - (sizes >= _SHARED).sum())
    return 1 - within / variance


def _from_the_top(flags: Flags, lists: Integers, places: Floats | Integers) -> bool:
    """Whether lists with several set flags have them at the top, without a gap, as what was seen has."""
    often = np.bincount(lists, flags)
    last = np.zeros(len(often))
    np.maximum.at(last, lists[flags], places[flags])
    several = often > 1
    return bool(several.sum() >= _FEWEST and (last[several] < often[several]).mean() > _AT_THE_TOP)


_FEWEST, _SHARED = 20, 5
"""The least number of flags that are set, and of rows with the same item."""
_DEVIATIONS = 4.0
"""How many standard errors the places of what is set must be higher."""
_TOLD = 0.5
"""The largest share of the variance of a click that its item or its place tells."""
_AT_THE_TOP = 0.9
"""The share of lists in which what is set is all at the top, if it was only seen."""
