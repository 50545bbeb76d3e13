"""The base of estimators, which compute a value and a weight per impression.

Most estimators weight the logged rewards; some use a click model to predict the target's reward. Everything
else (inclusion, means, ratios, intervals, groups) is the same for all of them and happens once, in the folds.
Self-normalisation is a final step, clipping a wrapper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ..errors import ImpossibleSlateError, UsageError
from ..findings.row import EstimatorKind, JudgedEvidence
from ..language.spelling import Spelled
from ..log.batch import Booleans, Floats, Integers, LogBatch
from ..log.source import Needs, Source
from ..policies.base import Policy
from ..policies.propensities import Propensities, propensities
from ..sums.mean import Mean
from ..wording import Option, Wording
from . import _kernels

_FAR = 1e60
"""The weight of a row that the logging policy cannot have drawn; one such row makes the estimate unsound."""


@dataclass(frozen=True)
class Weights:
    """The weight of each reward.

    weight: [n] of the reward of the slate, or [n, k] of the click in each slot (0 on pads).
    control: same shape. For a normalised estimator it has expectation 1 under the logging policy
    (summed over slots: their number), so it normalises, and it checks the propensities. For
    others it is the target's probability of showing the item at any rank: its mean is the covered share.
    impossible: [n], [n, 1] or [n, k] what the logging policy cannot have drawn; by default nothing.
    """

    weight: Floats
    control: Floats
    impossible: Booleans | np.bool_ = np.False_


@dataclass(frozen=True)
class Terms:
    """The terms of each impression: value [n], whose mean is the estimate, and weight [n].

    Where the estimator is normalised, the weight has expectation 1 and may divide. weights: of the logged rewards or
    clicks, None where an estimator has none. parts: [n] each, those of an estimator that has further sums.
    """

    value: Floats
    weight: Floats
    weights: Weights | None = None
    parts: Mapping[str, Floats] = field(default_factory=dict)


class Estimator(Spelled, ABC):
    """An estimator, which turns a batch into terms. Frozen: its fields are its parameters, its repr is its key.

    parts: the names of further sums from which `mean` makes its mean, and of which `evidence` tells; most have none.
    """

    parts: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def kind(self) -> EstimatorKind:
        """What it is: a constant of its class, or computed once."""

    @property
    @abstractmethod
    def weighting(self) -> Weighted | None:
        """How it weights the logged rewards; None where it does not use them."""

    @property
    def unnormalised(self) -> Estimator:
        """The estimator without self-normalisation."""
        return self

    @property
    def normalised(self) -> bool:
        """Whether its weights have expectation 1, which is known before any model is read."""
        return self.weighting is not None and self.weighting.normalised

    @abstractmethod
    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        """Value and weight of each impression.

        Raises:
            ImpossibleSlateError: the logging policy gives a logged slate probability zero.
        """

    def needs(self, target: Policy) -> Needs:
        """The columns that it reads besides the outcome and those of the policies."""
        return Needs()

    def with_examination(self, examination: Sequence[float] | None) -> Self:
        """The same estimator with this examination curve, if it needs one and has none."""
        return self

    def members(self, examination: Sequence[float] | None) -> tuple[Estimator, ...]:
        """The estimators of which the data choose one, the one with the fewest assumptions first; most are alone."""
        return (self,)

    def mean(self, at: Any, inference: Any) -> Mean:
        """The mean of an estimator that has `parts`, as a function of its sums: see `JudgedClicks.mean`."""
        raise NotImplementedError(f"{self!r} has parts, and says not what they make")

    @property
    def unknown(self) -> str | None:
        """The part that has the share of a target of which its value says nothing; None where there is none."""
        return None

    def evidence(self, at: Any, mean: Mean, logged: Mean, inference: Any) -> JudgedEvidence | None:
        """What findings read of these parts; most have nothing to tell."""
        return None

    def learnt_for(
        self, targets: Iterable[Policy], logging: Policy, source: Source, executor: Any = None, progress: Any = None
    ) -> Self:
        """The same with what it learns of a log for some targets; most learn nothing."""
        return self

    @property
    def drawn(self) -> tuple[Self, ...]:
        """The same estimator by draws from the posterior of its model; none where it relies on no model alone."""
        return ()


class Weighted(Estimator):
    """An estimator that weights the logged rewards: what it gives is its `kind`, and how it weighs."""

    normalised: ClassVar[bool] = True

    @abstractmethod
    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        """The weights of a batch, whatever they are of what is impossible."""

    @property
    def weighting(self) -> Weighted:
        return self

    @final
    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        found = self.weigh(batch, logging, target)
        if found.impossible.any():
            refuse_impossible(batch, found.impossible, logging)
        return rewarded(found, batch.reward, batch.clicks, batch.contexts.length)


class Reference(Weighted):
    """A weighting by the ratio of target and logging probabilities, with which other estimators are compared.

    The ability that it requires of both says of what: of slates (`log_prob`), their first slots (`slot_probs`), or
    items at their ranks (`rank_law`). Such weights have expectation 1, and no bound, window, curve or model.
    """

    @final
    def lenient_terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        """As `terms`, for an implicit reference estimate: a row that `terms` would reject gets an extreme weight."""
        found = self.weigh(batch, logging, target)
        weight = np.minimum(found.weight, _FAR)
        if found.impossible.any():
            weight = np.where(found.impossible, _FAR, weight)
            if weight.ndim == 2:
                weight = np.where(np.arange(weight.shape[1]) < batch.contexts.length[:, None], weight, 0.0)
        terms = rewarded(Weights(weight, weight), batch.reward, batch.clicks, batch.contexts.length)
        return replace(terms, value=np.clip(terms.value, -_FAR, _FAR))


def terms_of(estimator: Estimator, batch: LogBatch, logging: Policy, target: Policy) -> Terms:
    """The terms of an estimator between two policies, computed once per batch."""
    both = propensities(logging, batch), propensities(target, batch)
    return batch.once(("terms", estimator, id(logging), id(target)), lambda: estimator.terms(batch, *both))


def rewarded(weights: Weights, reward: Floats, clicks: Floats | None, length: Integers) -> Terms:
    """The terms of weights for the rewards [n], the clicks [n, k] and the lengths [n] of the slates."""
    if weights.weight.ndim == 1:
        with np.errstate(invalid="ignore", over="ignore"):  # infinite, or not a number: refused with its row
            return Terms(weights.weight * reward, weights.control, weights)
    if clicks is None:
        raise ValueError("slot weights need clicks")
    value, mean = np.empty(len(length)), np.empty(len(length))
    _kernels.slot_terms(weights.weight, weights.control, clicks, length, value, mean)
    return Terms(value, mean, weights)


def no_estimator(made: object) -> UsageError:
    """The error for what is no estimator."""
    return UsageError(f"{made!r} is not an estimator", "give one such as ips, ipm or dr(lasso)")


def refuse_impossible(batch: LogBatch, impossible: np.ndarray | np.bool_, logging: Propensities) -> None:
    """Raise if any row [n], or slot [n, k], has probability zero under the logging policy."""
    if impossible.any():
        rows = np.flatnonzero(impossible.reshape(len(batch), -1).any(axis=1))
        row = int(batch.row[rows[0]]) - batch.base
        raise ImpossibleSlateError(
            f"{batch.file}, row {row}: {logging.policy!r} gives the logged slate probability 0 ({len(rows)} such "
            f"rows in this batch of {len(batch)})",
            Wording(
                "this cannot be the logging policy: check the score column, the temperature and the candidates, "
                "whether target and logging policy are swapped, or use the logged propensities ({})",
                Option("logging", "logged"),
            ),
        )
