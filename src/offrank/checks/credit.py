"""Classical credit in a log of interleaved lists: whose items were clicked more often, by lists and by users.

Which team placed an item need not be logged: given the list and both rankings, the law of the merge says how likely
each team is, and each list counts as a win, a tie and a loss with their probabilities (Radlinski, Kurup and Joachims
2008).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..log.batch import Floats, LogBatch, Naturals
from ..log.source import Needs
from ..policies.base import Policy
from ..sums.base import Fold

UNIT_COLUMNS = ("user", "session")
"""The columns by whose values clicks are added up before the sign test, the first that rows are clustered by."""
_EVEN = 1e-9
"""Clicks by which both teams may differ and still count as tied: rounding."""


@dataclass(frozen=True)
class Credit:
    """The credit of the first ranking of a merge against the second.

    wins, ties, losses: expected numbers of lists in which its items had more clicks, as many, and fewer. unit: whose
    clicks are added up, and for how many of them its items had more, as many, or fewer. deviates: of the sign test, as
    a normal deviate: more less fewer, over the root of their sum.
    """

    first: str
    second: str
    wins: float
    ties: float
    losses: float
    unit: str
    more: float
    even: float
    fewer: float
    deviates: float


@dataclass(frozen=True)
class CreditSums:
    """Lists that were won, tied and lost [3], and each unit's clicks on items of the first team less the other's."""

    lists: Floats
    pieces: tuple[tuple[Naturals, Floats], ...] = ()

    def __add__(self, other: CreditSums) -> CreditSums:
        return CreditSums(self.lists + other.lists, (*self.pieces, *other.pieces))


@dataclass(frozen=True)
class CreditFold(Fold):
    """Counts the credit of a merge; None for one without teams. unit: a column; None: each list by itself."""

    logging: Policy
    unit: str | None = None

    @classmethod
    def of_units(cls, logging: Policy, columns: Collection[str]) -> CreditFold:
        """The fold by users, sessions or lists. columns: by which rows are clustered."""
        return cls(logging, next((one for one in UNIT_COLUMNS if one in columns), None))

    def needs(self) -> Needs:
        """The columns to read."""
        return self.logging.reads("log_prob") | Needs(
            frozenset(["clicks"]), clusters=frozenset(filter(None, [self.unit]))
        )

    def of(self, batch: LogBatch) -> CreditSums | None:
        clicks: Any = batch.clicks
        law = self.logging.credit(batch.contexts, batch.slates, clicks)
        if law is None or not len(batch):
            return None
        slots = batch.slates.shape[1]
        parts = law[:, slots + 1 :], law[:, slots : slots + 1], law[:, :slots]
        lists = np.array([math.fsum(one.sum(axis=1)) for one in parts])
        if self.unit is None:
            return CreditSums(lists)
        own = batch.dependent([self.unit])[self.unit]
        return CreditSums(lists, (_added(own, law @ np.arange(-slots, slots + 1)),))

    def result(self, part: CreditSums | None) -> Credit | None:
        if part is None:
            return None
        won = part.lists
        if self.unit is not None:
            _, excess = _added(*map(np.concatenate, zip(*part.pieces, strict=True)))
            won = np.array([(excess > _EVEN).sum(), (abs(excess) <= _EVEN).sum(), (excess < -_EVEN).sum()], np.float64)
        more, even, fewer = won.tolist()
        deviates = (more - fewer) / math.sqrt(more + fewer) if more + fewer else 0.0
        first, second = map(repr, self.logging.merges)
        wins, ties, losses = part.lists.tolist()
        return Credit(first, second, wins, ties, losses, self.unit or "list", more, even, fewer, deviates)


def _added(units: Naturals, excess: Floats) -> tuple[Naturals, Floats]:
    """The different units, and the sum of each."""
    found, of = np.unique(units, return_inverse=True)
    return found, np.bincount(of, excess, len(found)).astype(np.float64)
