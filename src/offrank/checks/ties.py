"""How often the order of what a policy shows is left open, because candidates have the same score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Needs
from ..policies.linear import Linear
from ..policies.mixture import UniformMixture
from ..policies.propensities import AnyPolicy, law_needs
from ..policies.sorting import Sorting


@dataclass(frozen=True)
class TiesFold:
    """Share of the impressions in which items that a policy would show have the same score as another candidate.

    State: [policies + 1] sums of 1 / inclusion, the last of all rows.
    """

    policies: tuple[AnyPolicy, ...]

    def needs(self) -> Needs:
        """The columns that the policies sort by."""
        return reduce(Needs.__or__, (law_needs(policy, "rank_probs") for policy in self.policies), Needs())

    def empty(self) -> Floats:
        return np.zeros(len(self.policies) + 1)

    def add(self, state: Floats, batch: LogBatch) -> Floats:
        h = 1 / batch.inclusion
        found = [float(h[tied(policy, batch.contexts)].sum()) for policy in self.policies]
        return state + np.array([*found, h.sum()])

    def merge(self, left: Floats, right: Floats) -> Floats:
        return left + right

    def finish(self, state: Floats) -> Floats:
        """[policies] share of the impressions before sub-sampling."""
        return np.asarray(state[:-1] / state[-1]) if state[-1] else state[:-1]


def sorts(policy: AnyPolicy) -> bool:
    """Whether it sorts by a score, at least most of the time."""
    if isinstance(policy, UniformMixture):
        return sorts(policy.base)
    return isinstance(policy, Sorting) or (isinstance(policy, Linear) and policy.greedy)


def tied(policy: AnyPolicy, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether the order of what a policy shows is left open by equal scores."""
    if isinstance(policy, UniformMixture):
        return tied(policy.base, contexts)
    if isinstance(policy, Sorting | Linear):
        return policy.tied(contexts)
    return np.zeros(len(contexts), np.bool_)
