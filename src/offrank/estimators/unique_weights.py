"""The distribution of the importance weights under a logging policy, computed from slates of the target.

Where a weight is the expectation of target(slate) / logging(slate) given a part of the slate (the whole, a prefix, an
item at its rank), E_logging[f(w)] = E_target[f(w) / w]: slates of the target show what the log may hardly ever hold.
Weights that move clicks between ranks are not such expectations: E_logging[f(w)] is summed over the target's items
at every rank, each divided by the probability that the target shows it (Horvitz and Thompson).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..log.batch import Floats, Integers, LogBatch, Shown
from ..log.source import Ability, Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities, propensities
from ..policies.rank_law import RankLaw
from .base import Weighted
from .sampled_slates import SampledSlates

KEPT = 1 << 20
"""Largest number of probabilities of rotated slates kept for the next estimator of a target: 8 MB."""


@dataclass(frozen=True)
class UniqueWeights:
    """Weights [s, c] per slot, or of whole slates (c = 1), for slates in the contexts `row` [s].

    chance: each weight's probability under the logging policy, so that sum(chance * f(weight)) over a context is the
    expectation of f, except for weights of zero. control: as in `Weights`; free: the same without a bound.
    """

    row: Integers
    weight: Floats
    control: Floats
    free: Floats
    chance: Floats


def ratios(weighting: Weighted, plain: Weighted, sampled: SampledSlates) -> UniqueWeights:
    """The unique weights that are expectations of the ratio of slate probabilities. plain: without a bound."""
    batch, drawn, ability = sampled.batch, sampled.logging, plain.kind.target
    slots = np.arange(batch.slates.shape[1]) < batch.contexts.length[:, None]
    filled = (batch.slates >= 0) | ~slots
    if ability == "log_prob":
        possible = ~np.isneginf(drawn.log_prob) & filled.all(axis=1)
    elif ability == "slot_probs":
        possible = np.logical_and.accumulate((drawn.slot_probs > 0) & filled, axis=1)
    else:
        possible = ((drawn.own_ranks > 0) & filled) | ~slots
    if not possible.all():
        drawn = propensities(_Possible(drawn), batch)
    with np.errstate(all="ignore"):  # where the slate is impossible
        free = plain.weigh(batch, drawn, sampled.target).weight
        weight = free if weighting is plain else weighting.weigh(batch, drawn, sampled.target).weight
    free, weight = free.reshape(len(batch.row), -1), weight.reshape(len(batch.row), -1)
    possible = possible.reshape(len(batch.row), -1)
    if ability != "log_prob":
        possible &= slots
    here = possible & (free > 0) & np.isfinite(free)
    chance = np.divide(sampled.chance[:, None], free, out=np.zeros(free.shape), where=here)
    weight, free = np.where(here, weight, 0.0), np.where(here, free, 0.0)
    return UniqueWeights(sampled.row, weight, weight, free, chance)


def turned(weighting: Weighted, plain: Weighted, sampled: SampledSlates) -> UniqueWeights:
    """The unique weights of the target's items at every rank, from all rotations of each slate."""
    slates = sampled.batch.slates
    small = 2 * slates.size * slates.shape[1] ** 2 <= KEPT
    turns = sampled.batch.once("turns", lambda: tuple(_turns(sampled))) if small else _turns(sampled)
    parts = []
    for turn in turns:
        found = weighting.weigh(turn.batch, turn.possible, turn.target)
        free = found if weighting is plain else plain.weigh(turn.batch, turn.possible, turn.target)
        parts.append((turn.row, found.weight, found.control, free.control, turn.chance))
    return UniqueWeights(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@dataclass(frozen=True)
class _Turn:
    """Slates of a target, all rotated down by the same number of slots.

    row [s]: of the contexts. possible: the logging policy, with 1 where it is 0. chance [s, k]: of each item
    at its rank, by both policies.
    """

    row: Integers
    batch: LogBatch
    possible: Propensities
    target: Propensities
    chance: Floats


def _turns(sampled: SampledSlates) -> Iterator[_Turn]:
    """The slates as they are, then rotated down by one slot, and so on."""
    every, slot = sampled.batch.contexts.length, np.arange(sampled.batch.slates.shape[1])
    laws = [one.rank_law.written_out(every) for one in (sampled.logging, sampled.target)]
    for by in slot:
        rows = np.flatnonzero(every > by)
        length = every[rows, None]
        place = np.where(slot < length, (slot + by) % length, slot)
        batch = replace(
            sampled.batch,
            contexts=sampled.batch.contexts.take(rows),
            shown=Shown(np.take_along_axis(sampled.batch.slates[rows], place, axis=1)),
            inclusion=sampled.batch.inclusion[rows],
            row=sampled.batch.row[rows],
        )
        logging, target = (propensities(_Given(law[rows[:, None], place]), batch) for law in laws)
        shown, own = target.rank_law.dense.sum(axis=2), np.where(slot < length, logging.own_ranks, 0.0)
        chance = np.divide(sampled.chance[rows, None] * own, shown, out=np.zeros(own.shape), where=shown > 0)
        yield _Turn(sampled.row[rows], batch, propensities(_Possible(logging), batch), target, chance)


@dataclass(frozen=True, eq=False)
class _Given(Policy):
    """A policy of which only the law of the ranks of displayed items is known, [s, k, k]."""

    dense: Floats

    def reads(self, ability: Ability) -> Needs:
        return Needs()

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        return RankLaw.of(self.dense)


@dataclass(frozen=True, eq=False)
class _Possible(Policy):
    """A logging policy with probability 1 in place of 0, so that items it never shows are left out without an error."""

    inner: Propensities

    def reads(self, ability: Ability) -> Needs:
        return self.inner.policy.reads(ability)

    def shown_slate(self, batch: LogBatch) -> Floats:
        return np.where(np.isneginf(self.inner.log_prob), 0.0, self.inner.log_prob)

    def shown_slots(self, batch: LogBatch) -> Floats:
        return np.where(self.inner.slot_probs > 0, self.inner.slot_probs, 1.0)

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        law = np.array(self.inner.rank_law.written_out(batch.contexts.length))
        own = np.arange(law.shape[1])
        law[:, own, own] = np.where(law[:, own, own] > 0, law[:, own, own], 1.0)
        return RankLaw.of(law)

    def own_ranks(self, batch: LogBatch) -> Floats:
        return np.where(self.inner.own_ranks > 0, self.inner.own_ranks, 1.0)
