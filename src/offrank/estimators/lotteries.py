"""The slates that a policy may show, with their chances: written out where they are few, drawn where they are many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..policies.base import Policy
from ..policies.sorting import Sorting, certain, shown_slates

_NUMBERS = 2_000_000
"""At most so many scores at a time, whatever the size of a batch."""
_FEW = 120
"""A policy that can show no more slates than these is averaged over all of them."""


@dataclass(frozen=True)
class Lottery:
    """Slates of some rows of a batch: row [s], slates [s, k], chance [s], which adds up to 1 in each row."""

    row: Integers
    slates: Integers
    chance: Floats


def lotteries(policy: Policy, batch: LogBatch, draws: int) -> Iterator[Lottery]:
    """The slates of a policy: all of them where they are few, else `draws` per row that depend on the row alone."""
    contexts, sure = batch.contexts, certain(policy, batch.contexts)
    if sure.any():
        assert isinstance(policy, Sorting)
        rows = np.flatnonzero(sure)
        yield Lottery(rows, shown_slates(policy, contexts.take(rows)), np.ones(len(rows)))
    for size, length in np.unique(np.stack([contexts.size, contexts.length], axis=1), axis=0).tolist():
        rows = np.flatnonzero((contexts.size == size) & (contexts.length == length) & ~sure)
        if not len(rows):
            continue
        count = math.perm(size, length)
        if count > _FEW:
            yield from _drawn(policy, batch, rows, draws)
            continue
        every = np.array(list(permutations(range(size), length)))
        step = max(1, _NUMBERS // (count * contexts.candidates.shape[1]))
        for first in range(0, len(rows), step):
            yield _enumerated(policy, contexts, rows[first : first + step], every)


def _enumerated(policy: Policy, contexts: Contexts, rows: Integers, slates: Integers) -> Lottery:
    row, every = np.repeat(rows, len(slates)), np.tile(slates, (len(rows), 1))
    chance = np.exp(policy.log_prob(contexts.take(row), every))
    return Lottery(row[chance > 0], every[chance > 0], chance[chance > 0])


def _drawn(policy: Policy, batch: LogBatch, rows: Integers, draws: int) -> Iterator[Lottery]:
    step = max(1, _NUMBERS // (draws * batch.contexts.candidates.shape[1]))
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        found = [
            policy.sample(batch.contexts.take(np.full(draws, row)), np.random.default_rng(int(batch.row[row])))
            for row in some.tolist()
        ]
        yield Lottery(np.repeat(some, draws), np.concatenate(found), np.full(draws * len(some), 1 / draws))
