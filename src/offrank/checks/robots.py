"""Users who click nearly everything in nearly all of their lists, while hardly anyone clicks a little less than they.

Users differ in how often they take a list whole. How many there are of each such rate is the distribution that makes
what was seen most likely (Laird 1978, J. Am. Stat. Assoc. 73). Robots are a group of their own at its end: it is held
against distributions in which, from a rate of .4 on, higher rates are never more frequent than lower ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..findings.outcome import RobotsEvidence
from ..log.batch import Floats, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs
from ..sums.base import Fold
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
class UsersSeen:
    """Users with the smallest hashes: hash [n]; counts [n, 3] of rows, of those clicked whole, and of clicks.

    least, greatest: inclusion of the rows; where it differs, users look as if they had clicked more, or less.
    """

    hash: NDArray[np.uint64]
    counts: NDArray[np.int64]
    least: float = np.inf
    greatest: float = 0.0

    def __add__(self, other: UsersSeen) -> UsersSeen:
        keys, place = np.unique(np.concatenate([self.hash, other.hash]), return_inverse=True)
        counts = np.zeros((len(keys), 3), np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        least, greatest = min(self.least, other.least), max(self.greatest, other.greatest)
        return UsersSeen(keys[:UNITS], counts[:UNITS], least, greatest)


@dataclass(frozen=True)
class RobotsFold(Fold):
    """Counts how many of their lists some users, drawn by the hash of a column, clicked whole.

    Without clicks a row is one click, if its outcome is positive.
    """

    unit: str

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.unit]))

    def add(self, part: UsersSeen | None, batch: LogBatch) -> UsersSeen:
        state = UsersSeen(np.zeros(0, np.uint64), np.zeros((0, 3), np.int64)) if part is None else part
        if not len(batch) or (batch.clicks is None and batch.outcome is None):
            return state
        keys = hashed(batch.dependent([self.unit])[self.unit])
        near = np.arange(len(keys)) if len(state.hash) < UNITS else np.flatnonzero(keys <= state.hash[-1])
        if batch.clicks is None:
            clicks, slots = (batch.reward[near] > 0).astype(np.int64), np.ones(len(near), np.int64)
        else:
            clicks, slots = (batch.clicks[near] > 0).sum(axis=1), batch.contexts.length[near]
        counts = np.column_stack([slots > 0, (clicks >= _WHOLE * slots) & (slots > 0), clicks]).astype(np.int64)
        kept = batch.inclusion
        return state + UsersSeen(keys[near], counts, float(kept.min()), float(kept.max()))

    def result(self, state: UsersSeen) -> RobotsEvidence:
        rows, whole, clicks = state.counts[state.counts[:, 0] >= _FEWEST].T
        like = whole >= _RATES[_TOP] * rows
        if state.least < state.greatest or not like.any() or like.all():
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
            carried=float(clicks[like].sum() / state.counts[:, 2].sum()),
        )


def _likeliest(chances: Floats, users: Floats) -> tuple[float, Floats]:
    """Return the largest log-likelihood of shares of kinds of users, and these: chances [n, kinds], users [n]."""
    shares = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(_STEPS):
        each = chances * shares
        shares = (each * (users / each.sum(axis=1))[:, None]).sum(axis=0) / users.sum()
    return float((users * np.log((chances * shares).sum(axis=1))).sum()), shares
