"""The interface of reward models: what is expected of the logged slates, and of those of a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ..findings.row import ModelEvidence
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import Propensities
from ..sums.fingerprint import Fingerprint


@dataclass(frozen=True)
class Predicted:
    """Expected rewards of the slates of a policy.

    reward: [n] per impression. known: [n] share of the shown items that the model has learnt of.
    """

    reward: Floats
    known: Floats


class RewardModel(ABC):
    """A model of the reward of a slate, given its context."""

    @property
    @abstractmethod
    def assumptions(self) -> frozenset[str]:
        """The assumptions of its predictions, as in `offrank.language.assumptions`."""

    @property
    @abstractmethod
    def of_clicks(self) -> bool:
        """Whether it predicts clicks, not the logged reward, where the two differ."""

    @property
    @abstractmethod
    def of_slots(self) -> bool:
        """Whether it predicts what each slot earns, not only the whole slate."""

    @property
    def additive(self) -> bool:
        """Whether what it predicts of a slate is certainly a sum over items in their slots."""
        return False

    @property
    def evidence(self) -> ModelEvidence:
        """Its name in words, how it was learnt and how well it predicts, as far as that is known."""
        return ModelEvidence()

    @property
    def prediction_columns(self) -> tuple[str, ...]:
        """The columns beside the candidates whose numbers are its predictions."""
        return ()

    def draws(self) -> tuple[RewardModel, ...]:
        """The same model with draws from its posterior in its place, for its own doubt; none if it has no posterior."""
        return ()

    def learnt_rows(self) -> Fingerprint | None:
        """The rows that it was learnt from; None if they are not known, or never those that it predicts."""
        return None

    @abstractmethod
    def needs(self, target: Policy) -> Needs:
        """The columns to read.

        Raises:
            AbilityError: the target lacks an ability that the expectation requires.
        """

    @abstractmethod
    def logged(self, batch: LogBatch) -> Floats:
        """What is expected of the logged slates: of each slot [n, k] or of the whole [n]."""

    @abstractmethod
    def expected(self, target: Propensities, draws: int) -> Predicted:
        """What is expected of the slates of a target, in the rows of a batch.

        draws: slates per row, where the slates of the target are too many to enumerate.
        """
