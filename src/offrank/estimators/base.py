"""The base of estimators, which compute a value and a weight per impression.

Most estimators weight the logged rewards; some use a click model to predict the target's reward. Everything
else (inclusion, means, ratios, intervals, groups) is the same for all of them and happens once, in the folds.
Self-normalisation is a final step, clipping a wrapper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from ..errors import ImpossibleSlateError, UsageError
from ..findings.row import ModelEvidence
from ..language.assumptions import ITEM_POSITION
from ..language.spelling import Spelled
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Ability, Policy
from ..policies.propensities import Propensities, propensities
from ..sums.fingerprint import Fingerprint
from ..wording import Option, Wording
from . import _kernels

Outcome = Literal["reward", "clicks"]
Weighs = Literal["slates", "items", "model", "logged"]
"""What is weighted: whole slates or their first slots, or items at their ranks. Nothing where a model alone predicts,
and all rows alike for the mean of the log."""
Normalisation = Literal["mean", "slot", "control"]
"""How a mean weight is used: it divides, that of each slot divides its clicks, or it is a control variate."""
Follows = Literal["ratios", "every rank"]
"""The distribution of weights under the logging policy: they are ratios of the probabilities of what the target shows,
or they move clicks between ranks, so that every item has to be tried at every rank."""
_FAR = 1e60
"""The weight of a row that the logging policy cannot have drawn; one such row makes the estimate unsound."""


@dataclass(frozen=True)
class Weights:
    """The weight of each reward.

    weight: [n] of the reward of the slate, or [n, k] of the click in each slot (0 on pads).
    control: same shape. For a normalised estimator it has expectation 1 under the logging policy
    (summed over slots: their number), so it normalises, and it checks the propensities. For
    others it is the target's probability of showing the item at any rank: its mean is the covered share.
    """

    weight: Floats
    control: Floats


@dataclass(frozen=True)
class Bound:
    """How weights are bounded: in a word, the name of the parameter, and the weight above which nothing is left."""

    done: str
    parameter: str
    drops: float | None = None


@dataclass(frozen=True)
class Terms:
    """The terms of each impression: value [n], whose mean is the estimate, and weight [n].

    Where the estimator is normalised, the weight has expectation 1 and may divide. weights: of the logged rewards or
    clicks, None where an estimator has none.
    """

    value: Floats
    weight: Floats
    weights: Weights | None = None


class Estimator(Spelled, ABC):
    """An estimator, which turns a batch into terms. Frozen: its fields are its parameters, its repr is its key.

    By default it estimates clicks, requires nothing of the policies, has weights of expectation 1, and assumes nothing.
    """

    @property
    def outcome(self) -> Outcome:
        """The outcome that it estimates."""
        return "clicks"

    @property
    def requires_logging(self) -> Ability | None:
        """The ability that it requires of the logging policy."""
        return None

    @property
    def requires_target(self) -> Ability | None:
        """The ability that it requires of the target policy."""
        return None

    @property
    def normalised(self) -> bool:
        """Whether its weights have expectation 1."""
        return True

    @property
    def each_slot(self) -> bool:
        """Whether the weights of each slot have expectation 1 by themselves, not only their mean over slots."""
        return False

    @property
    def assumptions(self) -> frozenset[str]:
        """The assumptions about users, as in `offrank.language.assumptions`; empty for ips. A subset assumes less."""
        return frozenset()

    @property
    @abstractmethod
    def weighting(self) -> Weighted | None:
        """How it weights the logged rewards; None where it does not use them."""

    normalisation: ClassVar[Normalisation | None] = None
    """How it uses its mean weight, as a self-normalised estimator does."""

    @property
    def weighs(self) -> Weighs:
        """What it weights."""
        return "model" if self.weighting is None else self.weighting.weighs

    @property
    def unbounded(self) -> Weighted | None:
        """Its weighting without a bound on the weights."""
        return None if self.weighting is None else self.weighting.unbounded

    @property
    def bound(self) -> Bound | None:
        """How its weights are bounded; None where they are not."""
        return None if self.weighting is None else self.weighting.bound

    @property
    def window_size(self) -> int | None:
        """The window of ranks that the data may choose; None where it has none."""
        return None if self.weighting is None else self.weighting.window_size

    @property
    def curve(self) -> tuple[float, ...] | None:
        """The examination curve that it has; None where it has none."""
        return None if self.weighting is None else self.weighting.curve

    @property
    def preselected(self) -> bool:
        """Whether it stands for the estimator that is selected by a reading of the log, before any is estimated."""
        return False

    @property
    def predicts(self) -> bool:
        """Whether a reward model predicts, alone or corrected by weights."""
        return False

    @property
    def model_evidence(self) -> ModelEvidence | None:
        """How its reward model was learnt and how well it predicts; None where it has none."""
        return None

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """The columns beside the candidates whose numbers are the predictions."""
        return ()

    def learnt_rows(self) -> Fingerprint | None:
        """The rows that its model was learnt from; None where there is none, or where they are not known."""
        return None

    def with_weights(self, wrap: Callable[[Weighted], Weighted]) -> Estimator:
        """The same estimator with its weighting wrapped, such as in a bound; itself where it has no such weights."""
        return self

    def with_examination(self, examination: Sequence[float] | None) -> Self:
        """The same estimator with this examination curve, if it needs one and has none."""
        return self

    def members(self, examination: Sequence[float] | None) -> tuple[Estimator, ...]:
        """The estimators of which the data choose one, the one with the fewest assumptions first; most are alone."""
        return (self,)

    @property
    def drawn(self) -> tuple[Estimator, ...]:
        """The same estimator by draws from the posterior of its model; none where it relies on no model alone."""
        return ()

    def needs(self, target: Policy) -> Needs:
        """The columns that it reads besides the outcome and those of the policies."""
        return Needs()

    @abstractmethod
    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        """Value and weight of each impression.

        Raises:
            ImpossibleSlateError: the logging policy gives a logged slate probability zero.
        """


class Weighted(Estimator):
    """An estimator that weights the logged rewards."""

    preselected: ClassVar[bool] = False
    predicts: ClassVar[bool] = False

    @property
    def weighting(self) -> Weighted:
        return self

    @property
    def weighs(self) -> Weighs:
        return "items" if self.assumptions >= ITEM_POSITION else "slates"

    @property
    def unbounded(self) -> Weighted:
        return self

    @property
    def drawn(self) -> tuple[Weighted, ...]:
        return ()

    @property
    def bound(self) -> Bound | None:
        return None

    @property
    def window_size(self) -> int | None:
        return None

    @property
    def curve(self) -> tuple[float, ...] | None:
        return None

    @property
    def follows(self) -> Follows | None:
        """How the distribution of its weights follows from the policies; None where it is not computed."""
        return None

    def with_weights(self, wrap: Callable[[Weighted], Weighted]) -> Estimator:
        return wrap(self)

    @abstractmethod
    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        """The weights of a batch."""

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        weights = self.weights(batch, logging, target)
        return rewarded(weights, batch.reward, batch.clicks, batch.contexts.length)


def forwarded(field: str, name: str) -> Any:
    """A property that a wrapper takes from the estimator in one of its fields."""
    return property(lambda self: getattr(getattr(self, field), name))


class Reference(Weighted):
    """A weighting by the ratio of target and logging probabilities, with which other estimators are compared.

    The ability that it requires of both says of what: of slates (`log_prob`), their first slots (`slot_probs`), or
    items at their ranks (`rank_law`). Such weights have expectation 1, and no bound, window, curve or model.
    """

    follows: ClassVar[Follows] = "ratios"
    normalised: ClassVar[bool] = True
    each_slot: ClassVar[bool] = False
    bound: ClassVar[None] = None
    window_size: ClassVar[None] = None
    curve: ClassVar[None] = None
    drawn: ClassVar[tuple[Weighted, ...]] = ()
    assumptions: ClassVar[frozenset[str]] = frozenset()
    model_evidence: ClassVar[None] = None
    prediction_columns: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def ratios(self, batch: LogBatch, logging: Propensities, target: Propensities) -> tuple[Floats, NDArray[np.bool_]]:
        """The weights, and which the logging policy cannot have drawn: by row [n], or by slot [n, k] or [n, 1]."""

    @final
    def weights(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        weight, impossible = self.ratios(batch, logging, target)
        if impossible.any():
            refuse_impossible(batch, impossible, logging)
        return Weights(weight, weight)

    @final
    def lenient_terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        """As `terms`, for an implicit reference estimate: a row that `terms` would reject gets an extreme weight."""
        weight, impossible = self.ratios(batch, logging, target)
        weight = np.minimum(weight, _FAR)
        if impossible.any():
            weight = np.where(impossible, _FAR, weight)
            if weight.ndim == 2:
                weight = np.where(np.arange(weight.shape[1]) < batch.contexts.length[:, None], weight, 0.0)
        found = rewarded(Weights(weight, weight), batch.reward, batch.clicks, batch.contexts.length)
        return replace(found, value=np.clip(found.value, -_FAR, _FAR))


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


def refuse_impossible(batch: LogBatch, impossible: np.ndarray, logging: Propensities) -> None:
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
