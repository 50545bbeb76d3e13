"""What a log tells of its contexts under one assumption, and between what values that leaves a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from ..log.batch import Floats, LogBatch, Naturals
from ..log.source import Needs
from ..policies.base import Policy


class Ends(NamedTuple):
    """The least and the largest reward [n] of a target in each row, and of what it displays how much is known."""

    lower: Floats
    upper: Floats
    known: Floats
    displayed: Floats


class Gap(NamedTuple):
    """The least and the largest [n] of how much more one target earns than another in each row."""

    lower: Floats
    upper: Floats


class Knowledge(ABC):
    """What is known under one assumption; `drawn` has the same by draws from the posterior of a model, if there is one.

    - says: the assumption as a clause. limits: between which values a row's reward is, whatever is shown.
    """

    says: str
    limits: tuple[float, float] | None = None
    drawn: tuple[Knowledge, ...] = ()

    @abstractmethod
    def needs(self, target: Policy) -> Needs:
        """Return the columns to read."""

    def earned(self, batch: LogBatch) -> Floats:
        """Return what was earned [n]: the clicks."""
        return batch.click_sums.total

    @abstractmethod
    def ends(self, batch: LogBatch, context: Naturals, target: Policy) -> Ends:
        """Return both ends of a target's reward; context: [n] codes."""

    @abstractmethod
    def gap(self, batch: LogBatch, context: Naturals, target: Policy, against: Policy) -> Gap:
        """Return both ends of the difference of two targets: what both share counts once, whatever it earns."""
