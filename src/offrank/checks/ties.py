"""How often the order of what a policy shows is left open, because candidates have the same score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..folds.base import TotalFold, Turned
from ..log.batch import Contexts, Floats, LogBatch
from ..log.source import Needs
from ..policies.linear import Linear
from ..policies.mixture import UniformMixture
from ..policies.propensities import AnyPolicy, law_needs
from ..policies.sorting import Sorting


@dataclass(frozen=True)
class TiesFold(Turned):
    """Share of the impressions in which items that a policy would show have the same score as another candidate."""

    policies: tuple[AnyPolicy, ...]

    def needs(self) -> Needs:
        """The columns that the policies sort by."""
        return reduce(Needs.__or__, (law_needs(policy, "rank_probs") for policy in self.policies), Needs())

    @property
    def reducer(self) -> TotalFold:
        return TotalFold((len(self.policies) + 1,))

    def turned(self, batch: LogBatch) -> Floats:
        h = 1 / batch.inclusion
        return np.array([*(h[tied(policy, batch.contexts)].sum() for policy in self.policies), h.sum()])

    def told(self, found: Floats) -> Floats:
        """[policies] share of the impressions before sub-sampling."""
        return np.asarray(found[:-1] / found[-1]) if found[-1] else found[:-1]


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
