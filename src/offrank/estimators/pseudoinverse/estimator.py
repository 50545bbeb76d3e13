"""The pseudoinverse estimator: additive rewards of whole slates, without clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from ...errors import AbilityError, UsageError
from ...findings.assumptions import ADDITIVE
from ...log.batch import Contexts, Floats, Integers, LogBatch
from ...policies.base import Policy
from ...policies.propensities import Propensities, law
from ...policies.rank_law import RankLaw
from ...policies.sorting import Sorting, certain, shown_slates
from ...policies.uniform import Uniform
from .. import _kernels as item_kernels
from ..base import Asked, Earns, Weighting, Weights, refuse_impossible
from . import _kernels
from .cases import cases
from .contexts import Alike
from .indicators import drawn_slates, expected_indicators, fills_slots, frequencies, portions

Slots = Literal["joint", "independent"]
_NEVER = 1e-9
"""A probability that was written as zero, but for rounding."""


@dataclass(frozen=True, repr=False)
class PI(Weighting):
    """w = q_target' Gamma_logging^+ 1_slate (paper slate-pseudoinverse, Eq. 6).

    Unbiased where a slate's reward is a sum of unobserved rewards, one for each item and slot; needs
    the slate's reward only. Uniform logging has a closed form (Prop. 4); other policies must give
    pair probabilities, from which Gamma is inverted once for each distinct context.

    slots: "independent" where the logging policy drew each slot on its own (Prop. 2): needs only the
    probability of each shown item in its slot. samples: expect the target over so many drawn slates
    rather than exactly, for policies without rank probabilities.
    """

    name: ClassVar[str] = "pi"
    prefix: ClassVar[str] = "w"
    earns: ClassVar[Earns] = "reward"
    assumes: ClassVar[frozenset[str]] = frozenset({ADDITIVE})
    slots: Slots = field(default="joint", kw_only=True)
    samples: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self.slots not in ("joint", "independent"):
            raise UsageError(f"slots is {self.slots!r}", 'give "joint" or "independent" (each slot drawn on its own)')
        if not isinstance(self.samples, int) or self.samples < 0:  # type: ignore[redundant-expr]
            raise UsageError(f"samples is {self.samples!r}", "give a number of slates to draw, or 0 for exactly")
        if self.slots == "independent" and self.samples:
            raise UsageError(f"{self!r}: nothing to sample", "with independent slots leave samples away")

    @property
    def asks_logging(self) -> Asked:
        return "pair_probs" if self.slots == "joint" else "rank_law"

    @property
    def asks_target(self) -> Asked:
        if self.slots == "independent":
            return "rank_law"
        return "sample" if self.samples else "rank_probs"

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        if self.slots == "independent":
            weight = independent_weights(batch, logging, target)
        elif isinstance(logging.policy, Uniform):
            weight = self._uniform(batch, target)
        else:
            weight = self._joint(batch, logging, target)
        # Terms that cancel leave rounding, which has no sign.
        weight = np.where(np.abs(weight) < _NEVER, 0.0, weight)
        return Weights(weight, weight)

    def _uniform(self, batch: LogBatch, target: Propensities) -> Floats:
        contexts, slots, policy = batch.contexts, batch.slates.shape[1], law(target.policy, "rank_probs")
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
        weight, wanted_of = np.zeros(len(batch)), law(target.policy, "rank_probs")
        for case in cases(law(logging.policy, "pair_probs"), batch.contexts, batch.run):
            rows, same, length = case.rows, case.same, int(batch.contexts.length[case.rows[0]])
            shown = same.coordinates(rows, batch.slates[rows, :length])
            for some, wanted in self.wanted(wanted_of, batch.contexts, rows, same):
                weight[rows[some]] = case.weights(wanted, shown[some])
        return weight

    def wanted(
        self, target: Policy, contexts: Contexts, rows: Integers, same: Alike
    ) -> Iterator[tuple[Integers, Floats | Integers]]:
        """Rows of one group of contexts with what the target shows there.

        Coordinates of its slates [r, k] where it always shows the same one, else expected indicators [r, m * k].
        """
        length = int(contexts.length[rows[0]])
        size = int(contexts.size[rows[0]])
        for some in portions(contexts, len(rows)):
            here = contexts.take(rows[some])
            sure = certain(target, here)
            if sure.any():
                assert isinstance(target, Sorting)
                slates = shown_slates(target, here)[:, :length]
                whole = sure & (slates >= 0).all(axis=1)
                yield some[whole], same.coordinates(rows[some[whole]], slates[whole])
            if not sure.all():
                drawn = some[~sure]
                every = self.indicators(target, contexts.take(rows[drawn]))[:, :size, :length]
                yield drawn, same.reordered(rows[drawn], every)

    def indicators(self, target: Policy, contexts: Contexts) -> Floats:
        """[n, m, k] q of the target, exactly or from samples."""
        if not self.samples or isinstance(target, Sorting):
            return expected_indicators(target, contexts)
        slates, which = drawn_slates(target, contexts, self.samples, seed=0)
        return frequencies(slates, contexts.candidates.shape[1])[which]


def independent_weights(batch: LogBatch, logging: Propensities, target: Propensities) -> Floats:
    """[n] sum over slots of target / logging probability of the item there, - k + 1 (Prop. 2, Eq. 17)."""
    length = batch.contexts.length
    ratio = item_kernels.item_position(target.rank_law.arrays, logging.rank_law.arrays, length, batch.slates.shape[1])
    refuse_impossible(batch, ~np.isfinite(ratio), logging)
    _refuse_dependent(batch, logging)
    return np.asarray(ratio.sum(axis=1) - length + 1)


def _refuse_dependent(batch: LogBatch, logging: Propensities) -> None:
    """Raise where a shown item could have stood at another rank too.

    A slate holds an item once. Were its slots drawn each on its own, an item that two of them may hold would
    sometimes stand in both: so each item may have one rank only.

    Raises:
        AbilityError: slots that cannot have been drawn each on its own.
    """
    possible = (logging.rank_law.written_out(batch.contexts.length) > _NEVER).sum(axis=2)
    if (possible > 1).any():
        raise AbilityError(
            f"{logging.policy!r} did not draw each slot on its own: items that it shows could have stood at another "
            "rank too, and no item stands in a slate twice",
            "leave slots=independent away; that is for logs in which each slot has candidates of its own",
        )
