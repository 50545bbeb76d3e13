"""Where the log cannot say anything: what the target would show and the logging policy never does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy, all_items


@dataclass(frozen=True)
class SupportFold:
    """Share of the target's mass on (item, rank) pairs that the logging policy never shows, per rank."""

    target: Policy
    logging: Policy

    def needs(self) -> Needs:
        """The columns that both policies read."""
        return self.target.needs("rank_probs") | self.logging.needs("rank_probs") | Needs(frozenset(["candidates"]))

    def empty(self) -> Floats:
        return np.zeros((0, 2))

    def add(self, state: Floats, batch: LogBatch) -> Floats:
        items, h = all_items(batch.contexts), 1 / batch.inclusion
        wanted = self.target.rank_probs(batch.contexts, items) * h[:, None, None]
        never = self.logging.rank_probs(batch.contexts, items) == 0
        found = np.stack([(wanted * never).sum(axis=(0, 1)), wanted.sum(axis=(0, 1))], axis=1)
        return self.merge(state, found)

    def merge(self, left: Floats, right: Floats) -> Floats:
        both = np.zeros((max(len(left), len(right)), 2))
        both[: len(left)] += left
        both[: len(right)] += right
        return both

    def finish(self, state: Floats) -> Floats:
        """[k] share without support at each rank."""
        return np.divide(state[:, 0], state[:, 1], out=np.zeros(len(state)), where=state[:, 1] > 0)
