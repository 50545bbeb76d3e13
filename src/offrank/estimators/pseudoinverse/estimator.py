"""The pseudoinverse estimator: additive rewards of whole slates, without clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from ...errors import AbilityError, UsageError
from ...findings.row import EstimatorKind
from ...language.assumptions import ADDITIVE
from ...log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ...log.contexts import content, distinct
from ...log.hashing import hashes
from ...log.source import Ability
from ...policies.base import Policy, all_items
from ...policies.propensities import Propensities
from ...policies.rank_law import RankLaw
from ..base import Weighted, Weights, refuse_impossible
from ..items import IPM
from ..registry import ESTIMATORS
from . import _kernels
from .grouping import Grouped, relevant, unpadded
from .inverses import cases_of

Slots = Literal["joint", "independent"]
_NEVER = 1e-9
"""A smaller probability is zero up to rounding."""
MOST_NUMBERS = 1 << 22
"""Largest number of expected indicators in memory at once."""
_FEW_NUMBERS = 1 << 21
"""So few may stay in memory as long as a batch, for other estimators."""


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class PI(Weighted):
    """w = q_target' Gamma_logging^+ 1_slate (paper slate-pseudoinverse, Eq. 6).

    Unbiased where a slate's reward is a sum of unobserved rewards, one for each item and slot; needs
    the slate's reward only. Uniform logging has a closed form (Prop. 4); other policies must give
    pair probabilities, from which Gamma is inverted once for each distinct context.

    Parameters:
        slots: "independent" where the logging policy drew each slot on its own (Prop. 2): needs only the
            probability of each shown item in its slot.
        samples: average the target over so many drawn slates instead of exactly, for policies without rank
            probabilities.

    Raises:
        UsageError: unknown slots, or samples that are no number of slates.

    Examples:
        >>> offrank.estimators.estimator("pi") == offrank.estimators.PI()
        True
    """

    name: ClassVar[str] = "pi"
    prefix: ClassVar[str] = "w"
    slots: Slots = field(default="joint", kw_only=True)
    samples: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self.slots not in ("joint", "independent"):
            raise UsageError(f"slots is {self.slots!r}", 'use "joint" or "independent" (each slot drawn independently)')
        if not isinstance(self.samples, int) or self.samples < 0:  # type: ignore[redundant-expr]
            raise UsageError(f"samples is {self.samples!r}", "give a number of slates to draw, or 0 for exact results")
        if self.slots == "independent" and self.samples:
            raise UsageError(f"{self!r}: there is nothing to sample", "omit samples with independent slots")

    @cached_property
    def kind(self) -> EstimatorKind:
        if self.slots == "independent":
            return EstimatorKind(outcome="reward", logging="rank_law", target="rank_law", assumes=ADDITIVE)
        of_target: Ability = "sample" if self.samples else "rank_probs"
        return EstimatorKind(outcome="reward", logging="pair_probs", target=of_target, assumes=ADDITIVE)

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        if self.slots == "independent":
            weight = self._independent(batch, logging, target)
        elif logging.policy.shuffles:
            weight = self._uniform(batch, target)
        else:
            weight = self._joint(batch, logging, target)
        # Terms that cancel leave a rounding error of either sign.
        weight = np.where(np.abs(weight) < _NEVER, 0.0, weight)
        return Weights(weight, weight)

    def _independent(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Floats:
        """Sum over slots of target / logging probability of the item there, - k + 1 (Prop. 2, Eq. 17)."""
        found = IPM().weigh(batch, logging, target)
        refuse_impossible(batch, found.impossible, logging)
        _refuse_dependent(batch, logging)
        return np.asarray(found.weight.sum(axis=1) - batch.contexts.length + 1)

    def _uniform(self, batch: LogBatch, target: Propensities) -> Floats:
        contexts, slots, policy = batch.contexts, batch.slates.shape[1], target.policy.law("rank_probs")
        weight = np.empty(len(batch))
        if not self.samples:
            shown = target.rank_law.arrays
            weight[:] = _kernels.uniform_weights(shown, contexts.size, contexts.length, slots)
        else:
            for rows in portions(contexts):
                some, slates = contexts.take(rows), batch.slates[rows]
                every = self.indicators(policy, some)
                dense = np.take_along_axis(every, np.maximum(slates, 0)[:, :, None], axis=1)
                weight[rows] = _kernels.uniform_weights(RankLaw.of(dense).arrays, some.size, some.length, slots)
        return np.where(fills_slots(policy, contexts), weight, 0.0)

    def _joint(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Floats:
        refuse_impossible(batch, np.isneginf(logging.log_prob), logging)
        weight, wanted_of = np.zeros(len(batch)), target.policy.law("rank_probs")
        few = (
            not self.samples
            and not wanted_of.always_sorts
            and batch.contexts.candidates.size * batch.contexts.slots <= _FEW_NUMBERS
        )
        known = target.candidate_ranks if few else None
        for case in cases_of(logging.policy.law("pair_probs"), batch):
            rows, length = case.rows, int(batch.contexts.length[case.rows[0]])
            shown = case.same.coordinates(rows, batch.slates[rows, :length])
            for some, wanted in self.wanted(wanted_of, batch.contexts, rows, case.same, known):
                weight[rows[some]] = case.weights(some, wanted, shown[some])
        return weight

    def wanted(
        self, target: Policy, contexts: Contexts, rows: Integers, same: Grouped, known: Floats | None = None
    ) -> Iterator[tuple[Integers, Floats | Integers]]:
        """Some of the rows of one number of candidates and slots, with the slates or indicators of the target.

        Coordinates of its slates [r, k] where it is deterministic, else expected indicators [r, m * k].
        known: indicators of all contexts, if they were computed before.
        """
        length = int(contexts.length[rows[0]])
        size = int(contexts.size[rows[0]])
        for some in portions(contexts, len(rows)):
            here = contexts.take(rows[some])
            sure, slates = target.sure_slates(here)
            if sure.any():
                slates = slates[:, :length]
                whole = sure & (slates >= 0).all(axis=1)
                yield some[whole], same.coordinates(rows[some[whole]], slates[whole])
            if not sure.all():
                drawn = some[~sure]
                every = self.indicators(target, contexts.take(rows[drawn])) if known is None else known[rows[drawn]]
                every = every[:, :size, :length]
                yield drawn, same.reordered(rows[drawn], every)

    def indicators(self, target: Policy, contexts: Contexts) -> Floats:
        """[n, m, k] q of the target, exactly or from samples."""
        if not self.samples or target.always_sorts:
            return target.rank_probs(contexts, all_items(contexts))
        slates, which = drawn_slates(target, contexts, self.samples, seed=0)
        return frequencies(slates, contexts.candidates.shape[1])[which]


def _refuse_dependent(batch: LogBatch, logging: Propensities) -> None:
    """Raise if a shown item could also have been at another rank.

    A slate holds an item once. If its slots were drawn independently, an item that two of them may hold would
    sometimes appear in both, so each item may have only one rank.

    Raises:
        AbilityError: slots that cannot have been drawn independently.
    """
    possible = (logging.rank_law.written_out(batch.contexts.length) > _NEVER).sum(axis=2)
    if (possible > 1).any():
        raise AbilityError(
            f"{logging.policy!r} did not draw each slot independently: its items could have been at another rank "
            "too, and no item occurs twice in a slate",
            "omit slots=independent, which is for logs in which each slot has its own candidates",
        )


def drawn_slates(policy: Policy, contexts: Contexts, samples: int, seed: int) -> tuple[Integers, Integers]:
    """[g, samples, k] slates for each distinct context, and [n] the index of each row's context.

    The draws follow from seed and content, so that equal contexts have equal draws in any batch.
    """
    contexts = relevant(contexts, policy.reads("sample"))
    first, which = distinct(content(contexts))
    slates = np.full((len(first), samples, contexts.slots), -1)
    for group, row in enumerate(first):
        one = unpadded(contexts.take(np.array([row])))
        rng = np.random.default_rng([seed, int(hashes(content(one))[0])])
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


def fills_slots(policy: Policy, contexts: Contexts) -> Booleans:
    """[n] whether the policy certainly shows a candidate in every slot.

    A written ranking may be short, or name items that are not candidates: then additive rewards do
    not identify its value.
    """
    if (known := policy.fills_slots(contexts)) is not None:
        return known
    filled = np.empty(len(contexts), np.bool_)
    for rows in portions(contexts):
        some = contexts.take(rows)
        mass = policy.rank_probs(some, all_items(some)).sum(axis=1)
        filled[rows] = (np.abs(mass - (np.arange(some.slots) < some.length[:, None])) < 1e-6).all(axis=1)
    return filled


def portions(contexts: Contexts, rows: int | None = None) -> Iterator[Integers]:
    """Consecutive rows (all, or the first `rows`), as many at a time as [r, m, k] numbers fit into memory."""
    rows = len(contexts) if rows is None else rows
    step = max(1, MOST_NUMBERS // max(contexts.candidates.shape[1] * contexts.slots, 1))
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))
