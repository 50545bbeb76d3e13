"""A learnt policy: score the candidates by their features, then draw or sort."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...errors import UsageError
from ...language.spelling import Spelled
from ...log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ...log.source import Ability, Needs
from ...sums.fingerprint import Fingerprint
from ..base import Policy
from ..registry import POLICIES
from .model import Model, ranker, scored


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Linear(Spelled, Policy):
    """Plackett-Luce with weights exp(features . w / temperature), or sorting by score with `greedy`.

    Parameters:
        path: a file that `offrank learn` wrote.
        temperature: the weights are exp(score / temperature), or score^(1 / temperature): the lower, the nearer to
            sorted.
        greedy: sort by score. Candidates that tie share their ranks equally, so that the order in which a log lists
            the candidates (often the shown ones first) cannot decide.

    Raises:
        UsageError: a temperature that is not above 0.

    Examples:
        >>> offrank.Linear("policy.npz", temperature=2.0)
        linear('policy.npz', temperature=2)
    """

    name: ClassVar[str] = "linear"
    interacts: ClassVar[bool] = False  # scores are sums, to which features of the context add the same for all
    path: str
    temperature: float = field(default=1.0, kw_only=True)
    greedy: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}", "give a temperature above zero, or greedy=True")

    @cached_property
    def model(self) -> Model:
        """The scorer, read on first use."""
        return Model.load(self.path)

    @property
    def sorts(self) -> bool:
        return self.greedy

    def learnt_rows(self) -> Fingerprint | None:
        return self.model.training

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates", "features"]), exchangeable=True)

    def log_scores(self, contexts: Contexts) -> Floats:
        """[n, m] score of each candidate, divided by the temperature."""
        return self.model.scores(contexts) / self.temperature

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        return ranker(self.greedy).sample(self._scored(contexts), rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return ranker(self.greedy).log_prob(self._scored(contexts), slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        return ranker(self.greedy).slot_probs(self._scored(contexts), slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        return ranker(self.greedy).rank_probs(self._scored(contexts), items)

    def tied(self, batch: LogBatch) -> Booleans:
        return ranker(self.greedy).tied(replace(batch, contexts=self._scored(batch.contexts)))

    def _scored(self, contexts: Contexts) -> Contexts:
        return scored(contexts, self.log_scores(contexts))
