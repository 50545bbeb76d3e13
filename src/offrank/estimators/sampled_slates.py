"""The slates that a target shows in some contexts, whatever was logged there.

The draws are keyed by the content of the contexts, not by the order of rows, candidates or item ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import AbilityError
from ..log.batch import Contexts, Floats, Integers, LogBatch, RunCache, Shown
from ..log.contexts import feature_keys, reordered
from ..log.hashing import hashes
from ..log.source import Ability, Needs
from ..policies.base import Policy, all_items
from ..policies.propensities import Propensities, propensities
from .pseudoinverse.grouping import places

_ABILITIES: tuple[Ability, ...] = ("rank_probs", "log_prob", "slot_probs")

DRAWS = 4096
"""Total number of slates drawn for a stochastic target; at least one per context."""
_SEED = 0


@dataclass(frozen=True)
class SampledSlates:
    """Slates of a target: row [s] of the contexts and probability chance [s], summing to 1 in each context.

    batch: contexts and slates [s, k] as those of a log, -1 at ranks that the target leaves empty. target, logging: what
    both policies say of them. order: [n] the row of each context among those given.
    """

    row: Integers
    chance: Floats
    batch: LogBatch
    target: Propensities
    logging: Propensities
    order: Integers


def sampled_slates(
    target: Policy, logging: Policy, contexts: Contexts, inclusion: Floats, cache: RunCache, draws: int = DRAWS
) -> SampledSlates:
    """Slates of a target in some contexts: that of a deterministic target, else a sample of about `draws` in all.

    Raises:
        AbilityError: the target cannot draw.
    """
    (sure, slates), order = target.sure_slates(contexts), np.arange(len(contexts.size))
    row, chance = order, np.ones(len(order))
    if not sure.all():
        contexts, order = _in_order(contexts, inclusion, target, logging)
        sure, slates = target.sure_slates(contexts)
        each = np.where(sure, 1, max(1, draws // int((~sure).sum())))
        row = np.repeat(np.arange(len(contexts)), each)
        contexts, drawn, chance, slates = contexts.take(row), ~sure[row], (1 / each)[row], slates[row]
        found = target.sample(contexts.take(np.flatnonzero(drawn)), np.random.default_rng(_SEED))
        slates[drawn] = -1
        slates[drawn, : found.shape[1]] = found
    n = len(row)
    batch = LogBatch(contexts, Shown(slates), None, None, np.ones(n), np.arange(n, dtype=np.uint64), run=cache)
    return SampledSlates(row, chance, batch, propensities(target, batch), propensities(logging, batch), order)


def _in_order(contexts: Contexts, inclusion: Floats, target: Policy, logging: Policy) -> tuple[Contexts, Integers]:
    """The contexts and candidates in an order that depends only on what the policies read, and [n] the row of each."""
    columns = _read(contexts, target, logging)
    pads = np.arange(contexts.candidates.shape[1]) >= contexts.size[:, None]
    order = np.lexsort([*columns, pads], axis=-1)
    inside = [np.where(pads, 0, np.take_along_axis(column, order, axis=1)) for column in columns]
    keys = sorted(target.reads("sample").keys | _needs(logging).keys)
    beside = [contexts.size, contexts.length, *(contexts.keys[name] for name in keys)]
    content = np.column_stack([*beside, *inside]).astype(np.int64, copy=False)
    rows = np.lexsort([inclusion, hashes(content)])
    return reordered(contexts, order).take(rows), rows


def _read(contexts: Contexts, target: Policy, logging: Policy) -> list[Integers]:
    """The columns that the policies read of each candidate, [n, m] each, as integers."""
    needed, items = target.reads("sample"), all_items(contexts)
    every = needed | _needs(logging)
    floats = [contexts.scores[name] for name in sorted(every.scores)]
    if not _needs(logging).exchangeable:  # it distinguishes items by ids, which must not decide the draws
        floats += list(np.moveaxis(np.round(logging.rank_probs(contexts, items), 9), 2, 0))
    columns = [np.ascontiguousarray(values + 0.0).view(np.int64) for values in floats]
    columns += [places(contexts.rankings[name], items.shape[1]) for name in sorted(every.rankings)]
    if "features" in every.roles and contexts.features is not None:
        columns.append(feature_keys(contexts).view(np.int64))
    return columns if needed.exchangeable else [contexts.candidates, *columns]


def _needs(logging: Policy) -> Needs:
    """The columns that a policy reads to give the probability of a slate."""
    for ability in _ABILITIES:
        try:
            return logging.reads(ability)
        except AbilityError as error:
            refused = error
    raise refused
