"""The slates of a policy with their probabilities: enumerated where few, sampled where many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import AnyPolicy, law_needs
from ..policies.ties import certain, shown_slates

NUMBERS = 2_000_000
"""Largest number of entries of one kind at a time, whatever the size of a batch."""
FEW = 120
"""A policy with at most this many possible slates is averaged over all of them."""


@dataclass(frozen=True)
class SlateLaw:
    """Slates of some rows of a batch: row [s], slates [s, k] and probability chance [s], summing to 1 per row."""

    row: Integers
    slates: Integers
    chance: Floats


def needs(target: AnyPolicy) -> Needs:
    """The columns that the slates of a target depend on.

    Raises:
        AbilityError: it is no law over any slate, or cannot draw.
    """
    return law_needs(target, "log_prob") | law_needs(target, "sample")


def slate_laws(policy: Policy, batch: LogBatch, draws: int, numbers: int = NUMBERS) -> Iterator[SlateLaw]:
    """The slates of a policy: all of them where they are few, else `draws` per row, keyed by the row alone."""
    contexts, sure = batch.contexts, certain(policy, batch.contexts)
    if sure.any():
        rows = np.flatnonzero(sure)
        yield SlateLaw(rows, shown_slates(policy, contexts.take(rows)), np.ones(len(rows)))
    for size, length in np.unique(np.stack([contexts.size, contexts.length], axis=1), axis=0).tolist():
        rows = np.flatnonzero((contexts.size == size) & (contexts.length == length) & ~sure)
        count = math.perm(size, length)
        every = None if count > FEW else np.array(list(permutations(range(size), length)))
        slates = draws if every is None else count
        for some in pieces(rows, slates * contexts.candidates.shape[1], numbers):
            yield _drawn(policy, batch, some, draws) if every is None else _enumerated(policy, contexts, some, every)


def _enumerated(policy: Policy, contexts: Contexts, rows: Integers, slates: Integers) -> SlateLaw:
    row, every = np.repeat(rows, len(slates)), np.tile(slates, (len(rows), 1))
    chance = np.exp(policy.log_prob(contexts.take(row), every))
    return SlateLaw(row[chance > 0], every[chance > 0], chance[chance > 0])


def _drawn(policy: Policy, batch: LogBatch, rows: Integers, draws: int) -> SlateLaw:
    found = [
        policy.sample(batch.contexts.take(np.full(draws, row)), np.random.default_rng(int(batch.row[row])))
        for row in rows.tolist()
    ]
    return SlateLaw(np.repeat(rows, draws), np.concatenate(found), np.full(draws * len(rows), 1 / draws))


def pieces(rows: Integers, each: int, numbers: int = NUMBERS) -> Iterator[Integers]:
    """The rows in pieces of at most `numbers` entries, `each` per row."""
    step = max(1, numbers // max(1, each))
    return (rows[first : first + step] for first in range(0, len(rows), step))
