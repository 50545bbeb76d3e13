"""Checks of the logged propensities: do they agree with the logging policy, and how large are their inverses?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AbilityError
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.logged_probabilities import Logged
from ..policies.propensities import propensities
from ..policies.uniform import Uniform
from ..sums.base import Fold, Sample, total
from ..sums.group_by import GroupBy, Groups, by_slots
from ..sums.moments import Moments, MomentsFold
from ..wording import Option, Wording

_MOST = 700.0
"""Logarithm of the largest ratio that is told."""
_LARGEST = 1e150
"""Weights beyond this count as this: their squares are summed."""
_UNIFORM = Uniform()
_WRITTEN = Logged()
CLOSE = 0.01
"""Propensities within 1 % agree: scores are often logged in single precision."""


@dataclass(frozen=True)
class Agreement:
    """Of `rows` impressions, how many differ in propensity from the policy, and the sum of the log-ratios.

    log_ratio: sum over rows of log(written / policy's), impossible slates left out; apart: rows that
    differ by more than `CLOSE`.
    """

    rows: int = 0
    apart: int = 0
    log_ratio: float = 0.0

    @property
    def share_apart(self) -> float:
        """Share of the impressions whose propensities differ."""
        return self.apart / self.rows if self.rows else 0.0

    @property
    def typical_ratio(self) -> float:
        """Geometric mean of written / policy's propensity."""
        return float(np.exp(np.clip(self.log_ratio / self.rows, -_MOST, _MOST))) if self.rows else 1.0


@dataclass(frozen=True)
class AgreementFold(Fold):
    """Compares the column `propensity` with the logging policy, impression by impression."""

    logging: Policy

    def needs(self) -> Needs:
        """Return the column, and the columns that the policy reads."""
        return self.logging.reads("log_prob") | _WRITTEN.reads("log_prob")

    def of(self, batch: LogBatch) -> Floats:
        ratio = propensities(_WRITTEN, batch).log_prob - propensities(self.logging, batch).log_prob
        apart = ~(np.abs(ratio) <= CLOSE)
        return np.array([len(batch), apart.sum(), ratio[np.isfinite(ratio)].sum()])

    def result(self, found: Floats) -> Agreement:
        return Agreement(int(found[0]), int(found[1]), float(found[2]))


_MOMENTS_OF_WEIGHTS = MomentsFold(((0, 1),))


@dataclass(frozen=True)
class UniformWeightsFold(Fold):
    """Reduces batches to the moments of 1 / inclusion and of the uniform policy's weights over the inclusion."""

    logging: Policy

    def needs(self) -> Needs:
        """Return the columns to read."""
        return self.logging.reads("log_prob") | _UNIFORM.reads("log_prob")

    def of(self, batch: LogBatch) -> Moments:
        return _MOMENTS_OF_WEIGHTS.of(self.weighed(batch))

    def weighed(self, batch: LogBatch) -> Sample:
        """Return the terms of a batch: 1 / inclusion, and the weight over the inclusion."""
        return batch.once((type(self), self.logging), lambda: self._weighed(batch))  # also of what moves along the log

    def _weighed(self, batch: LogBatch) -> Sample:
        ratio = propensities(_UNIFORM, batch).log_prob - propensities(self.logging, batch).log_prob
        values = np.empty((len(batch), 2))
        values[:, 0], values[:, 1] = 1.0, np.exp(np.minimum(ratio, 300, out=ratio), out=ratio)
        if (batch.inclusion != 1).any():
            values = np.minimum(values, _LARGEST * batch.inclusion[:, None]) / batch.inclusion[:, None]
        return Sample.of(values, batch.row)


@dataclass(frozen=True)
class SlotsRow:
    """Impressions with this many slots: read, estimated before sub-sampling, and 1 / propensity."""

    slots: int
    impressions: int
    estimated_impressions: float
    mean_inverse_propensity: float
    max_inverse_propensity: float


_BY_SLOTS = GroupBy(MomentsFold())


@dataclass(frozen=True)
class SlotsFold(Fold):
    """Reduces batches to a `SlotsRow` for each number of slots.

    The mean inverse propensity estimates the number of slates that could have been drawn; if
    the largest is of the order of the log itself, no interval that assumes normality can be trusted.
    """

    logging: Policy

    def needs(self) -> Needs:
        """Return the columns that the logging policy reads."""
        return self.logging.reads("log_prob")

    def of(self, batch: LogBatch) -> Groups:
        inverse = np.exp(np.minimum(-propensities(self.logging, batch).log_prob, 300))  # whose squares are summed
        h = np.minimum(1 / batch.inclusion, _LARGEST)
        values = np.stack([h, np.minimum(h, _LARGEST / inverse) * inverse, inverse], axis=1)
        return _BY_SLOTS.of(Sample.of(values, batch.row, groups=by_slots(batch)))

    def result(self, part: Groups) -> list[SlotsRow]:
        found: dict[str, Moments] = _BY_SLOTS.result(part)
        sums = {slots: found[str(slots)] for slots in sorted(map(int, found))}
        return [
            SlotsRow(slots, one.n, float(one.sums[0]), float(one.sums[1] / one.sums[0]), float(one.largest[2]))
            for slots, one in sums.items()
        ]


@dataclass(frozen=True)
class SupportFold(Fold):
    """Share of the target's mass on (item, rank) pairs that the logging policy never shows, per rank.

    Between two laws it covers all candidates. Logged probabilities cover the displayed items only,
    which is enough if these are all candidates.
    """

    target: Policy
    logging: Policy

    def needs(self) -> Needs:
        """Return the columns that both policies read."""
        asked = [
            policy.reads("rank_probs") if self._of_any_slate else policy.reads("rank_law")
            for policy in (self.target, self.logging)
        ]
        return asked[0] | asked[1] | Needs(frozenset(["candidates"]))

    def of(self, batch: LogBatch) -> Floats:
        known = self._supported(batch)
        if not known.any():
            return self._sums(batch)
        here = batch.take(np.flatnonzero(known))
        slots = np.arange(batch.contexts.slots) < here.contexts.length[:, None]
        wanted = (slots / here.inclusion[:, None]).sum(axis=0)
        found = np.stack([np.zeros(len(wanted)), wanted], axis=1)
        return found if known.all() else total(found, self._sums(batch.take(np.flatnonzero(~known))))

    def result(self, found: Floats) -> Floats:
        """Return the share without support at each rank [k]."""
        return np.divide(found[:, 0], found[:, 1], out=np.zeros(len(found)), where=found[:, 1] > 0)

    @property
    def _of_any_slate(self) -> bool:
        return self.target.any_slate and self.logging.any_slate

    def _supported(self, batch: LogBatch) -> NDArray[np.bool_]:
        """Return where all of the target's mass certainly has support [n], which no law is needed for."""
        if not self._of_any_slate:
            return np.zeros(len(batch), np.bool_)
        target, logging = (policy.law("rank_probs") for policy in (self.target, self.logging))
        filled = target.fills_slots(batch.contexts)
        return logging.shows_all(batch.contexts) & (False if filled is None else filled)

    def _sums(self, batch: LogBatch) -> Floats:
        h = 1 / batch.inclusion[:, None, None]
        wanted, drawn = (self._rank_probs(policy, batch) for policy in (self.target, self.logging))
        never = wanted * (drawn == 0)
        return np.stack([(never * h).sum(axis=(0, 1)), (wanted * h).sum(axis=(0, 1))], axis=1)

    def _rank_probs(self, policy: Policy, batch: LogBatch) -> Floats:
        """Return [n, q, k] of every candidate, in the same order for both policies."""
        if self._of_any_slate:
            return propensities(policy, batch).candidate_ranks
        if not batch.complete:
            written = self.target if self.logging.any_slate else self.logging
            raise AbilityError(
                f"{written!r} gives the probabilities of displayed items only, and some candidates were not displayed",
                Wording(
                    "if the scores behind the slates were logged, name them: {}",
                    Option("logging", "plackett_luce(old_score)"),
                ),
            )
        return propensities(policy, batch).rank_law.written_out(batch.contexts.length)
