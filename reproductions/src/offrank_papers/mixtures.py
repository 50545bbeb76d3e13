"""Policies between the logging one and uniform, all in one pass: paper criteo-test-bed, Eq. 9 and Tables 1 to 4."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offrank.findings import cautions_for
from offrank.findings.row import NO_NUMBER, Row
from offrank.inference.mean_intervals import Inference
from offrank.inference.pareto import tail_index
from offrank.log.batch import Floats, LogBatch
from offrank.log.source import Needs
from offrank.policies.base import Policy
from offrank.policies.propensities import propensities
from offrank.policies.uniform import Uniform
from offrank.sums import NamedColumns, Sums, ratio
from offrank.sums.base import Fold, Sample, Tee
from offrank.sums.estimate import Caution, Interval
from offrank.sums.group_by import GroupBy, Groups, by_slots
from offrank.sums.largest import LargestFold
from offrank.sums.moments import Block, Moments, MomentsFold

_UNIFORM = Uniform()
_ONE, _REWARD, _VALUE, _WEIGHT, _CORRECTED, _SLATES, _INVERSE = range(7)
"""Columns of a row; the first six are divided by the inclusion: 1, reward, reward w, w, 1 / q, slates; and 1 / q."""
_THIRD = ((_ONE, _REWARD, _VALUE, _WEIGHT),)

EPSILONS = (0.0, *(2.0**-power for power in range(10, -1, -1)))
"""The mixtures of Tables 2 to 4."""


@dataclass(frozen=True)
class AtEpsilon:
    """Estimates for the policy that is uniform with probability epsilon, otherwise the logging one.

    mean_weight is C, which should be 1; plain is R by IPS, normalised is R / C; each per impression before
    sub-sampling. cautions: warnings about them.
    """

    epsilon: float
    mean_weight: Interval
    plain: Interval
    normalised: Interval
    ess: float
    cautions: tuple[Caution, ...]

    @property
    def trustworthy(self) -> bool:
        """Whether there is no serious warning."""
        return all(caution.severity != "serious" for caution in self.cautions)


@dataclass(frozen=True)
class Mixtures:
    """The impressions with one number of slots, reduced. largest: the largest weights of the uniform policy."""

    moments: Moments
    largest: Floats

    @property
    def impressions(self) -> int:
        """Number of rows read."""
        return self.moments.n

    @property
    def estimated_impressions(self) -> float:
        """Number of rows before sub-sampling: the sum of 1 / inclusion, Eq. 6."""
        return float(self.moments.sums[_ONE])

    @property
    def mean_inverse_propensity(self) -> float:
        """Mean over the rows read, as in Table 1, uncorrected for sub-sampling."""
        return float(self.moments.mean[_INVERSE])

    @property
    def corrected_inverse_propensity(self) -> float:
        """Mean before sub-sampling; its expectation is the mean number of slates that could have been shown."""
        return float(self.moments.mean[_CORRECTED] / self.moments.mean[_ONE])

    @property
    def mean_slates(self) -> float:
        """Mean number of slates that could have been shown."""
        return float(self.moments.mean[_SLATES] / self.moments.mean[_ONE])

    @property
    def largest_inverse_propensity(self) -> float:
        """Largest inverse propensity; if it is of the order of the log, no normal interval can be trusted."""
        return float(self.moments.largest[_INVERSE])

    def at(self, epsilon: float, confidence: float = 0.99) -> AtEpsilon:
        """Return the estimates for one epsilon: its weight (1 - epsilon) + epsilon w is linear in that of uniform."""
        mixed = self._mixed(epsilon)
        spread = Inference(Sums(NamedColumns(("rows", "value", "weight")), mixed), "studentised", confidence)
        pairs = ("weight", "rows"), ("value", "rows"), ("value", "weight")
        weight, plain, normalised = (spread.interval(ratio(*pair)) for pair in pairs)
        ess = float(mixed.sums[2] ** 2 / _squares(mixed)[2])
        cautions = cautions_for(self._evidence(epsilon, mixed, weight, ess)) if epsilon else ()
        return AtEpsilon(epsilon, weight, plain, normalised, ess, cautions)

    def _mixed(self, epsilon: float) -> Moments:
        """Return the moments of 1, reward times weight, and weight, each divided by the inclusion."""
        linear = np.zeros((3, len(self.moments.mean)))
        linear[0, _ONE] = 1
        linear[1, [_REWARD, _VALUE]] = linear[2, [_ONE, _WEIGHT]] = 1 - epsilon, epsilon
        found = self.moments
        unknown = np.zeros(3)  # the extremes, which these intervals do not need
        few = linear[:, list(_THIRD[0])]
        third: dict[Block, Floats] = {(0, 1, 2): np.einsum("ai,bj,ck,ijk->abc", few, few, few, found.third[_THIRD[0]])}
        return Moments(found.n, linear @ found.mean, linear @ found.comoment @ linear.T, unknown, unknown, third)

    def _evidence(self, epsilon: float, mixed: Moments, weight: Interval, ess: float) -> Row:
        """Return the evidence; the tail counts if it makes up most of the variance of the estimate."""
        spread = np.diagonal(self.moments.comoment)
        tail_counts = epsilon**2 * spread[_VALUE] > 0.5 * mixed.comoment[1, 1]
        estimate = replace(
            NO_NUMBER,
            n=self.impressions,
            ess=ess,
            max_weight_share=(1 - epsilon + epsilon * max(float(self.largest[0]), 0.0)) / float(mixed.sums[2]),
            tail_index=tail_index(self.largest, self.impressions) if tail_counts else None,
            mean_weight_interval=weight,
        )
        return Row(
            estimate=estimate,
            sampling_factor=float(_squares(mixed)[0] / mixed.sums[0]),
            effective_rewards=float(mixed.sums[1] ** 2 / _squares(mixed)[1]) if _squares(mixed)[1] else 0.0,
        )


def _squares(moments: Moments) -> Floats:
    """Return [d] sums of squares."""
    return np.asarray(np.diagonal(moments.comoment) + moments.n * moments.mean**2)


_SUMS = GroupBy(Tee({"moments": MomentsFold(_THIRD), "largest": LargestFold((_WEIGHT,))}))


@dataclass(frozen=True)
class MixturesFold(Fold):
    """Reduces batches to `Mixtures` for each number of slots. The log must have a reward or clicks."""

    logging: Policy

    def needs(self) -> Needs:
        """Return the columns to read."""
        return self.logging.reads("log_prob") | _UNIFORM.reads("log_prob") | Needs(frozenset(["reward"]))

    def of(self, batch: LogBatch) -> Groups:
        inverse = np.exp(-propensities(self.logging, batch).log_prob)
        slates = np.exp(-propensities(_UNIFORM, batch).log_prob)
        weight, ones = inverse / slates, np.ones(len(batch))
        values = np.stack([ones, batch.reward, batch.reward * weight, weight, inverse, slates, inverse], axis=1)
        values[:, :_INVERSE] /= batch.inclusion[:, None]
        return _SUMS.of(Sample.of(values, batch.row, groups=by_slots(batch)))

    def result(self, part: Groups) -> dict[int, Mixtures]:
        each = {int(name): one for name, one in _SUMS.result(part).items()}
        return {slots: Mixtures(each[slots]["moments"], each[slots]["largest"].values[0]) for slots in sorted(each)}
