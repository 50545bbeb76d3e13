"""q: how often a target puts each candidate in each slot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Contexts, Floats, Integers
from ...policies.base import Policy, all_items
from ...policies.mixture import UniformMixture
from ...policies.plackett_luce import PlackettLuce
from ...policies.propensities import law
from ...policies.ranking import Ranking
from ...policies.top import Top
from ...policies.uniform import Uniform
from . import _kernels
from .contexts import content, distinct, relevant, single

MOST_NUMBERS = 1 << 22  # of expected indicators in memory at once


def expected_indicators(policy: Policy, contexts: Contexts) -> Floats:
    """[n, m, k] q_pi, exactly: P(candidate in slot)."""
    return policy.rank_probs(contexts, all_items(contexts))


def drawn_slates(policy: Policy, contexts: Contexts, samples: int, seed: int) -> tuple[Integers, Integers]:
    """[g, samples, k] slates for each distinct context, and [n] which context a row has.

    The draws follow from seed and content, so that equal contexts have equal draws in any batch.
    """
    contexts = relevant(contexts, policy.needs("sample"))
    first, which = distinct(content(contexts))
    slates = np.full((len(first), samples, contexts.slots), -1)
    for group, row in enumerate(first):
        one = single(contexts, int(row))
        rng = np.random.default_rng([seed, int(_kernels.hashes(content(one))[0])])
        found = policy.sample(one.take(np.zeros(samples, np.int64)), rng)
        slates[group, :, : found.shape[1]] = found
    return slates, which


def frequencies(slates: Integers, candidates: int) -> Floats:
    """[g, m, k] share of slates [g, samples, k] with each candidate in each slot: an unbiased q_pi."""
    groups, samples, slots = slates.shape
    counts = np.zeros((groups, candidates, slots))
    group, draw, slot = np.nonzero(slates >= 0)
    np.add.at(counts, (group, slates[group, draw, slot], slot), 1.0 / samples)
    return counts


def fills_slots(policy: Policy, contexts: Contexts) -> NDArray[np.bool_]:
    """[n] whether the policy shows a candidate in every slot, for certain.

    A written ranking may be short, or name items that are not candidates: then additive rewards do
    not identify what it earns.
    """
    if isinstance(policy, UniformMixture):
        return fills_slots(law(policy.base, "rank_probs"), contexts)
    if isinstance(policy, Ranking):
        wanted = np.arange(contexts.slots) < contexts.length[:, None]
        ranking = contexts.rankings[policy.column][:, : contexts.slots]
        ranking = np.pad(ranking, ((0, 0), (0, contexts.slots - ranking.shape[1])), constant_values=-1)
        return np.asarray(((ranking >= 0) | ~wanted).all(axis=1))
    if isinstance(policy, Top | PlackettLuce | Uniform):
        return np.ones(len(contexts), np.bool_)
    filled = np.empty(len(contexts), np.bool_)
    for rows in portions(contexts):
        some = contexts.take(rows)
        mass = expected_indicators(policy, some).sum(axis=1)
        filled[rows] = (np.abs(mass - (np.arange(some.slots) < some.length[:, None])) < 1e-6).all(axis=1)
    return filled


def portions(contexts: Contexts, rows: int | None = None) -> Iterator[Integers]:
    """Consecutive rows (of all, or of so many), as many at a time as [r, m, k] numbers fit into memory."""
    rows = len(contexts) if rows is None else rows
    step = max(1, MOST_NUMBERS // max(contexts.candidates.shape[1] * contexts.slots, 1))
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))
