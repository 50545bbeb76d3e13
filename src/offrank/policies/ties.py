"""Which policies sort, at least most of the time, and where equal scores leave the order open that they show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..log.batch import LogBatch
from .by import By
from .mixture import MixedPolicy
from .propensities import AnyPolicy, complete, propensities
from .restricted import Restricted
from .sorting import MaySort, Sorting


def sorts(policy: AnyPolicy) -> bool:
    """Whether the policy sorts by a score, at least most of the time."""
    if isinstance(policy, MixedPolicy):
        return any(map(sorts, policy.mixed))
    if isinstance(policy, By):
        return any(map(sorts, policy.policies.values()))
    if isinstance(policy, Restricted):
        return sorts(policy.base)
    return isinstance(policy, MaySort) and policy.sorts


def tied(policy: AnyPolicy, batch: LogBatch) -> NDArray[np.bool_]:
    """[n] whether equal scores leave open the order of what a policy shows."""
    if isinstance(policy, MixedPolicy):
        return np.any([tied(part, batch) for part in policy.mixed], axis=0)
    if isinstance(policy, By):
        found = np.zeros(len(batch), np.bool_)
        for rows, part in policy.served(batch.contexts):
            found[rows] = tied(part, batch.take(rows))
        return found
    if isinstance(policy, Restricted):
        return tied(policy.base, policy.inner(batch))
    if isinstance(policy, Sorting) and complete(batch):  # estimators have most often asked for the same law
        width = propensities(policy, batch).rank_law.width
        return np.asarray((width > 1).any(axis=1)) if width.max(initial=1) > 1 else np.zeros(len(batch), np.bool_)
    return policy.tied(batch.contexts) if isinstance(policy, MaySort) else np.zeros(len(batch), np.bool_)
