"""Which policies sort, at least most of the time; where equal scores leave their order open, and where nothing does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..log.batch import Contexts, Integers, LogBatch
from .base import all_items
from .by import By
from .distinct import Distinct
from .epsilon import EpsilonUniform
from .mixture import MixedPolicy
from .propensities import AnyPolicy, complete, propensities
from .restricted import Restricted
from .sorting import MaySort, Sorting
from .top import Top


def sorts(policy: AnyPolicy) -> bool:
    """Whether the policy sorts by a score, at least most of the time."""
    if isinstance(policy, MixedPolicy):
        return any(map(sorts, policy.mixed))
    if isinstance(policy, By):
        return any(map(sorts, policy.policies.values()))
    if isinstance(policy, Restricted):
        return sorts(policy.base)
    return isinstance(policy, MaySort) and policy.sorts


def turned(policy: AnyPolicy) -> AnyPolicy | None:
    """The same ranker with its score the other way round, also below epsilon; None if it does not sort by one."""
    if isinstance(policy, EpsilonUniform):
        base = turned(policy.base)
        return None if base is None else replace(policy, base=base)
    return replace(policy, ascending=not policy.ascending) if isinstance(policy, Top) else None


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


def certain(policy: AnyPolicy, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether the policy always shows the same slate: it sorts, and no item that it may show ties."""
    return sure_slates(policy, contexts)[0]


def sure_slates(policy: AnyPolicy, contexts: Contexts) -> tuple[NDArray[np.bool_], Integers]:
    """[n] as `certain`, and [n, k] that slate: -1 where it has no candidate for a slot. Elsewhere any slate or none."""
    if isinstance(policy, Restricted):
        rest = policy.rest(contexts)
        sure, inner = sure_slates(policy.base, rest.contexts)
        return sure, rest.around(inner)
    slates = np.full((len(contexts.length), contexts.length.max(initial=0)), -1)
    if isinstance(policy, Sorting):
        first, width = policy.blocks(contexts, all_items(contexts))
        row, item = np.nonzero(first >= 0)
        slates[row, first[row, item]] = item
        return np.asarray(~((first >= 0) & (width > 1)).any(axis=1)), slates
    if not (isinstance(policy, Distinct) and policy.sorts):
        return np.zeros(len(contexts), np.bool_), slates
    drawn = policy.sample(contexts, np.random.default_rng(0))  # any draw is that slate
    slates[:, : drawn.shape[1]] = drawn
    return ~policy.tied(contexts), slates
