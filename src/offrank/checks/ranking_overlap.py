"""How similar the slates of policies are to the logged ones, over a random sample of the log's rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ..errors import AbilityError, OffrankError
from ..log.batch import Floats, LogBatch, Shown
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from ..sums.base import Fold
from ..sums.sampled import SampledRows, SampledRowsFold

DEPTHS = (1, 3, 5)
"""The depths at which two rankings are compared, besides the whole slate."""
SAMPLED = 2048
"""Sampled rows in which rankings are compared: shares are accurate to one or two percentage points."""
_CELLS = 300_000
"""Maximum number of (candidate, rank) pairs in the sampled rows."""


@dataclass(frozen=True)
class RankingOverlap:
    """How similar a policy's slates are to the logged ones, over a random sample of the log's rows.

    - rows: sample size. probability: [k] mean probability of the displayed item at its own rank.
    - overlap: by depth, the expected share of the first displayed items that the policy also ranks that high.
    - changed: the mean probability of a different slate; None if the policy cannot compute it.
    """

    rows: int
    probability: Floats
    overlap: Mapping[int, float]
    changed: float | None


@dataclass(frozen=True)
class RankingOverlapFold(Fold):
    """Keeps a random sample of the log's rows, and computes the `RankingOverlap` of each policy at the end, or None.

    read: the context columns that are read anyway; None for a policy that needs more, or that is not a law.
    """

    policies: tuple[Policy, ...]
    read: Needs
    kept: int = SAMPLED

    def add(self, part: Any, batch: LogBatch) -> Any:
        wanted = reduce(Needs.__or__, self.able.values(), Needs())
        return SampledRowsFold(wanted, self.kept if self.able else 0, cells=_CELLS).add(part, batch)

    @cached_property
    def able(self) -> dict[int, Needs]:
        """Return, by number, the policies whose columns are read, and these columns."""
        found = {}
        for number, policy in enumerate(self.policies):
            with suppress(AbilityError):
                wanted = policy.reads("rank_probs")
                if replace(self.read | wanted, exchangeable=self.read.exchangeable) == self.read:
                    found[number] = wanted
        return found

    def result(self, part: Any) -> list[RankingOverlap | None]:
        state: SampledRows = SampledRowsFold(self.read).result(part)
        batch = LogBatch(state.contexts, Shown(state.slates), None, None, state.inclusion, state.key)
        return [
            self._overlap(policy, batch) if number in self.able else None for number, policy in enumerate(self.policies)
        ]

    def _overlap(self, policy: Policy, batch: LogBatch) -> RankingOverlap | None:
        contexts, slates, counts = batch.contexts, batch.slates, 1 / batch.inclusion
        if not len(batch):
            return None
        changed, found = None, propensities(policy, batch)
        try:
            probs = found.rank_law.written_out(contexts.length)
            with suppress(AbilityError):
                changed = 1 - float((counts * np.exp(found.log_prob)).sum() / counts.sum())
        except (OffrankError, NotImplementedError):  # A failing diagnostic does not end the estimate.
            return None
        there = np.arange(slates.shape[1]) < contexts.length[:, None]
        own = np.diagonal(probs, axis1=1, axis2=2)
        depths = dict.fromkeys(depth for depth in (*DEPTHS, slates.shape[1]) if depth <= slates.shape[1])
        overlap = {
            depth: float(
                (counts * probs[:, :depth, :depth].sum(axis=(1, 2)) / np.clip(contexts.length, 1, depth)).sum()
            )
            / float(counts.sum())
            for depth in depths
        }
        at_rank = ((counts[:, None] * each).sum(axis=0) for each in (own, there))
        return RankingOverlap(len(batch), next(at_rank) / next(at_rank), overlap, changed)
