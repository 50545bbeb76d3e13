"""The slates of a policy with their probabilities: enumerated where few, sampled where many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ..errors import AbilityError
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.contexts import contexts_of_rows
from ..log.source import Needs
from ..policies.base import Policy

NUMBERS = 2_000_000
"""Largest number of entries of one kind at a time, whatever the size of a batch."""
FEW_SLATES = 120
"""A policy with at most this many possible slates is averaged over all of them."""

_LOST = 1e-6
"""Slates whose probabilities add up to less than 1 by this are not all of them."""


@dataclass(frozen=True)
class SlateLaw:
    """Slates of some rows of a batch: row [s], slates [s, k] and probability chance [s], summing to 1 per row."""

    row: Integers
    slates: Integers
    chance: Floats

    def of(self, rows: Integers) -> SlateLaw:
        """The slates of some rows."""
        kept = np.isin(self.row, rows)
        return SlateLaw(self.row[kept], self.slates[kept], self.chance[kept])


def slate_needs(target: Policy) -> Needs:
    """The columns that the slates of a target depend on.

    Raises:
        AbilityError: it is no law over any slate, or cannot draw.
    """
    return target.law("log_prob").reads("log_prob") | target.reads("sample")


def slate_laws(policy: Policy, batch: LogBatch, draws: int | None, numbers: int = NUMBERS) -> Iterator[SlateLaw]:
    """The slates of a policy: all of them where they are few, else `draws` per row, keyed by the row alone.

    Raises:
        AbilityError: draws is None where slates would have to be drawn.
    """
    contexts, (sure, slates) = batch.contexts, policy.sure_slates(batch.contexts)
    if sure.any():
        rows = np.flatnonzero(sure)
        yield SlateLaw(rows, slates[rows, : int(contexts.length[rows].max())], np.ones(len(rows)))
    shapes = [contexts.size, contexts.length, ~sure]
    for size, length, unsure in np.unique(np.stack(shapes, axis=1), axis=0).tolist():
        rows = np.flatnonzero((contexts.size == size) & (contexts.length == length) & ~sure)
        if unsure and math.perm(size, length) > FEW_SLATES:
            yield from _drawn(policy, batch, rows, draws, numbers)
        elif unsure:
            filled = np.arange(contexts.slots) < length
            for some in pieces(rows, math.perm(size, length) * contexts.candidates.shape[1], numbers):
                law = _enumerated(policy, contexts, some, filled)
                whole = np.isin(some, _whole(law, len(batch)))
                yield law.of(some[whole])
                yield from _with_holes(policy, batch, some[~whole], draws, numbers)


def _enumerated(policy: Policy, contexts: Contexts, rows: Integers, filled: Booleans) -> SlateLaw:
    """The slates with an item in these slots [k] and in no other. Rows have one number of candidates."""
    orders = list(permutations(range(int(contexts.size[rows[0]])), int(filled.sum())))
    slates = np.full((len(orders), len(filled)), -1)
    slates[:, filled] = orders
    row, every = np.repeat(rows, len(slates)), np.tile(slates, (len(rows), 1))
    chance = np.exp(policy.log_prob(contexts.take(row), every))
    return SlateLaw(row[chance > 0], every[chance > 0], chance[chance > 0])


def _whole(law: SlateLaw, n: int) -> Integers:
    """The rows whose slates have all of the probability."""
    return np.flatnonzero(np.bincount(law.row, law.chance, n) > 1 - _LOST)


def _with_holes(policy: Policy, batch: LogBatch, rows: Integers, draws: int | None, numbers: int) -> Iterator[SlateLaw]:
    """The slates of rows that leave slots empty: always the same ones, or else they are drawn.

    One drawn slate tells which. A law gives a slate with fewer items the probability that it begins so: they are always
    the same if a slate with one item more is impossible.
    """
    for row in rows.tolist():
        one = np.array([row])
        context, rng = batch.contexts.take(one), np.random.default_rng(int(batch.row[row]))
        filled = np.zeros(context.slots, np.bool_)
        drawn = policy.sample(contexts_of_rows(context, one * 0), rng)[0]
        filled[: len(drawn)] = drawn >= 0
        more = [filled | (np.arange(len(filled)) == slot) for slot in np.flatnonzero(~filled[: context.length[0]])]
        law = _enumerated(policy, batch.contexts, one, filled)
        if len(_whole(law, len(batch))) and not any(len(_enumerated(policy, context, one * 0, at).row) for at in more):
            yield law
        else:
            yield from _drawn(policy, batch, one, draws, numbers)


def _drawn(policy: Policy, batch: LogBatch, every: Integers, draws: int | None, numbers: int) -> Iterator[SlateLaw]:
    if draws is None:
        raise AbilityError(
            f"{policy!r} can show more slates than can be enumerated, or leaves slots empty at random",
            "use a click model by rank (pbm, trust), or a logging policy that sorts, or a mixture of such",
        )
    for rows in pieces(every, draws * batch.contexts.candidates.shape[1], numbers):
        each = ((contexts_of_rows(batch.contexts, np.full(draws, row)), int(batch.row[row])) for row in rows.tolist())
        found = [policy.sample(contexts, np.random.default_rng(key)) for contexts, key in each]  # not as wide as others
        yield SlateLaw(np.repeat(rows, draws), np.concatenate(found), np.full(draws * len(rows), 1 / draws))


def pieces(rows: Integers, each: int, numbers: int = NUMBERS) -> Iterator[Integers]:
    """The rows in pieces of at most `numbers` entries, `each` per row."""
    step = max(1, numbers // max(1, each))
    return (rows[first : first + step] for first in range(0, len(rows), step))
