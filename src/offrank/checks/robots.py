"""Users who click nearly everything in nearly all of their lists, while hardly anyone clicks a little less than they.

Users differ in how often they take a list whole. How many there are of each such rate is the distribution that makes
what was seen most likely (Laird 1978, J. Am. Stat. Assoc. 73). Robots are a group of their own at its end: it is held
against distributions in which, from a rate of .4 on, higher rates are never more frequent than lower ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..findings.rows import RobotsEvidence
from ..log.batch import Floats, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs
from ..sums.base import Fold
from ..sums.sampled import Sketch, added, bound, sketch
from .arms import UNITS

_FEWEST = 5
"""Rows of a user, from which they tell a rate."""
_RATES = (np.arange(40) + 0.5) / 40
_FALLS, _TOP = 16, 28
"""Places of the rate from which on higher ones are no more frequent, and of that from which users are like robots."""
_STEPS = 60
"""Steps towards the most likely distributions."""
_WHOLE = 0.75
"""Share of a list's items, from which nearly all were clicked: all but one of four or five."""


@dataclass(frozen=True)
class RobotsFold(Fold):
    """Counts how many of their lists some users, drawn by the hash of a column, clicked whole.

    Without clicks a row is one click, if its outcome is positive.
    """

    unit: str

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.unit]))

    def add(self, part: Sketch | None, batch: LogBatch) -> Sketch | None:
        if not len(batch) or (batch.clicks is None and batch.outcome is None):
            return part
        keys = hashed(batch.dependent([self.unit])[self.unit])
        near = np.flatnonzero(keys <= bound(batch, self, part, UNITS))
        if batch.clicks is None:
            clicks, slots = (batch.reward[near] > 0).astype(np.int64), np.ones(len(near), np.int64)
        else:
            clicks, slots = (batch.clicks[near] > 0).sum(axis=1), batch.contexts.length[near]
        counts = np.column_stack([slots > 0, (clicks >= _WHOLE * slots) & (slots > 0), clicks]).astype(np.int64)
        inclusion = batch.inclusion[near, None]
        found: Sketch = added(batch, self, part, sketch(UNITS, keys[near], counts, inclusion, inclusion), UNITS)
        return found

    def result(self, state: Sketch | None) -> RobotsEvidence:
        if state is None:
            return RobotsEvidence(self.unit)
        rows, whole, clicks = state.sums[state.sums[:, 0] >= _FEWEST].T
        like = whole >= _RATES[_TOP] * rows
        if state.least.min() < state.greatest.max() or not like.any() or like.all():
            return RobotsEvidence(self.unit)
        (rows, whole), place = np.unique(np.stack([rows, whole]), axis=1, return_inverse=True)
        users = np.bincount(place.ravel()).astype(np.float64)
        chances = np.log(_RATES) * whole[:, None] + np.log(1 - _RATES) * (rows - whole)[:, None]
        chances = np.exp(chances - chances.max(axis=1, keepdims=True))
        further = np.cumsum(chances[:, _FALLS:], axis=1) / np.arange(1, len(_RATES) - _FALLS + 1)
        falling, _ = _likeliest(np.hstack([chances[:, :_FALLS], further]), users)
        free, shares = _likeliest(chances, users)
        return RobotsEvidence(
            self.unit,
            users=int(users.sum()),
            robots=float(shares[_TOP:].sum()),
            fewer=float(shares[_FALLS:_TOP].sum()),
            clearer=free - falling,
            carried=float(clicks[like].sum() / state.sums[:, 2].sum()),
        )


def _likeliest(chances: Floats, users: Floats) -> tuple[float, Floats]:
    """Return the largest log-likelihood of shares of kinds of users, and these: chances [n, kinds], users [n]."""
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(_STEPS):
        each = chances * shares
        shares = (each * (users / each.sum(axis=1))[:, None]).sum(axis=0) / users.sum()
    return float((users * np.log((chances * shares).sum(axis=1))).sum()), shares
