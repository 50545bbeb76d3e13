"""What an estimator is: per impression a value and a weight.

Most estimators say how the logged rewards are weighted; some ask a click model what the target would earn. Everything
else (inclusion, means, ratios, intervals, groups) is the same for all of them and happens once, in the folds.
Self-normalisation is a way to finish, clipping a wrapper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np

from ..errors import ImpossibleSlateError
from ..folds.fingerprint import Fingerprint
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..options import option
from ..policies.base import Ability
from ..policies.propensities import AnyPolicy, Propensities, ShownAbility, propensities
from . import _kernels

Earns = Literal["reward", "clicks"]
Asked = ShownAbility | Ability
"""Of shown slates (`log_prob`, `slot_probs`, `rank_law`), or of any slate: what only a law can tell."""


@dataclass(frozen=True)
class Weights:
    """How much each reward counts.

    weight: [n] for the reward of the slate, or [n, k] for the click in each slot (0 on pads).
    control: same shape. For a normalised estimator it has expectation 1 under the logging policy
    (summed over slots: their number), so it normalises, and it checks the propensities. For
    others it is the target's probability of showing the item at all: its mean is the covered share.
    """

    weight: Floats
    control: Floats


@dataclass(frozen=True)
class Terms:
    """Per impression: value [n], whose mean is the estimate, and weight [n].

    The weight has expectation 1 and may divide where the estimator is normalised. weights: of the logged rewards or
    clicks, None where an estimator has none.
    """

    value: Floats
    weight: Floats
    weights: Weights | None = None


class Method(Protocol):
    """What every estimator says of itself. Frozen: its fields are its parameters, its repr its key."""

    @property
    def earns(self) -> Earns:
        """Which outcome it estimates."""

    @property
    def asks_logging(self) -> Asked | None:
        """What it must know of the logging policy."""

    @property
    def asks_target(self) -> Asked | None:
        """What it must know of the target policy."""

    @property
    def normalised(self) -> bool:
        """Whether its weights have expectation 1."""

    @property
    def each_slot(self) -> bool:
        """Whether the weights of each slot have expectation 1 by themselves, not only their mean over slots."""

    @property
    def assumes(self) -> frozenset[str]:
        """What is assumed of users, as `findings.assumptions` names it; nothing by ips. A subset assumes less."""

    def examined(self, examination: Sequence[float] | None) -> Self:
        """The same estimator with this examination curve, where it wants one and has none."""


class Weighting(Method, Protocol):
    """A weighting of logged rewards."""

    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        """The weights of a batch."""


class Predicting(Method, ABC):
    """An estimator that asks a click model what the target would earn: a class to derive from."""

    @property
    @abstractmethod
    def residual(self) -> Weighting | None:
        """How what the model got wrong in the log is weighted; None where the log's clicks are not looked at."""

    @abstractmethod
    def learnt_rows(self) -> Fingerprint | None:
        """The sessions that the click model was learnt from; None where its file does not say."""

    @abstractmethod
    def needs(self, target: AnyPolicy) -> Needs:
        """What the prediction reads."""

    @abstractmethod
    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        """Its terms. Without `residual` the weight is the share of what the target shows that the model knows."""


Estimator = Weighting | Predicting


def terms(estimator: Estimator, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
    """Value and weight of each impression.

    Raises:
        ImpossibleSlateError: the logging policy gives a logged slate probability zero.
    """
    if isinstance(estimator, Predicting):
        return estimator.terms(batch, logging, target)
    weights = estimator.weights(batch, logging, target)
    return rewarded(weights, batch.reward, batch.clicks, batch.contexts.length)


def terms_of(estimator: Estimator, batch: LogBatch, logging: AnyPolicy, target: AnyPolicy) -> Terms:
    """The terms of an estimator between two policies; the same object for everybody who asks this batch."""
    both = propensities(logging, batch), propensities(target, batch)
    return batch.once(("terms", estimator, id(logging), id(target)), lambda: terms(estimator, batch, *both))


def rewarded(weights: Weights, reward: Floats, clicks: Floats | None, length: Integers) -> Terms:
    """The terms of weights, beside the rewards [n], the clicks [n, k] and the lengths [n] of the slates."""
    if weights.weight.ndim == 1:
        return Terms(weights.weight * reward, weights.control, weights)
    if clicks is None:
        raise ValueError("slot weights need clicks")
    value, mean = _kernels.slot_terms(weights.weight, weights.control, clicks, length)
    return Terms(value, mean, weights)


def refuse_impossible(batch: LogBatch, impossible: np.ndarray, logging: Propensities) -> None:
    """Raise if any row [n], or slot [n, k], has probability zero under the policy that is said to have drawn it."""
    if impossible.any():
        rows = np.flatnonzero(impossible.reshape(len(batch), -1).any(axis=1))
        row = int(batch.row[rows[0]]) - batch.base
        raise ImpossibleSlateError(
            f"{batch.file}, row {row}: {logging.policy!r} gives the logged slate probability 0 "
            f"({len(rows)} such rows in this batch of {len(batch)})",
            "this cannot be the policy that drew the log: check the score column, the temperature and "
            f"the candidates, or use the propensities that were logged ({option('logging', 'logged')})",
        )
