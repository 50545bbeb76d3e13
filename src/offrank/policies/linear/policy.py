"""A learnt policy: score the candidates by their features, then draw or sort."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...folds.fingerprint import Fingerprint
from ...log.batch import Contexts, Floats, Integers
from ...log.source import Needs
from ...spelling import Spelled
from .. import _kernels as laws
from .. import sorting
from ..base import Ability
from ..races import rank_law, sample_rows
from .model import Model


@dataclass(frozen=True, repr=False)
class Linear(Spelled):
    """Plackett-Luce with weights exp(features . w / temperature), or with `greedy` the best first.

    - path: a file that `offrank learn` wrote.
    - greedy: sort by score. Candidates that tie share their ranks equally, so that the order in which a log
      lists the candidates (often the shown ones first) cannot decide.
    """

    name: ClassVar[str] = "linear"
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

    def learnt_rows(self) -> Fingerprint | None:
        """The rows that it was learnt from; None where its file does not say."""
        return self.model.training

    def needs(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates", "features"]), exchangeable=True)

    def log_weights(self, contexts: Contexts) -> Floats:
        """[n, m] score of each candidate, over the temperature."""
        return self.model.scores(contexts) / self.temperature

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        scores = self.log_weights(contexts)
        return sorting.drawn(scores, contexts, rng) if self.greedy else sample_rows(scores, contexts, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        return slate_log_prob(self.log_weights(contexts), contexts.size, slates, self.greedy)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        scores = self.log_weights(contexts)
        if self.greedy:
            return sorting.slot_probs(*self.blocks(contexts, slates), slates)
        return np.exp(laws.log_slot_probs(scores, contexts.size, slates))

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        scores = self.log_weights(contexts)
        if not self.greedy:
            return rank_law(scores, contexts.size, contexts.length, items, contexts.slots)
        return sorting.rank_probs(*self.blocks(contexts, items), contexts)

    def tied(self, contexts: Contexts) -> NDArray[np.bool_]:
        """[n] whether anything that it may show ties with another candidate; nothing does where it draws."""
        if not self.greedy:
            return np.zeros(len(contexts), np.bool_)
        return sorting.tied(self.log_weights(contexts), contexts)

    def blocks(self, contexts: Contexts, items: Integers) -> tuple[Integers, Integers]:
        """Where it is greedy: first rank [n, q] of each item's block, and how many ranks [n, q] that has."""
        first, width = laws.blocks_by_score(self.log_weights(contexts), contexts.size, contexts.length, items)
        return first, width


def slate_log_prob(scores: Floats, size: Integers, slates: Integers, greedy: bool) -> Floats:
    """[n] log-probability of each slate, drawn by scores [n, m] or sorted by them."""
    if not greedy:
        return np.asarray(laws.log_slot_probs(scores, size, slates).sum(axis=1))
    first, width = laws.blocks_by_score(scores, size, (slates >= 0).sum(axis=1), slates)
    return sorting.log_prob(first, width, slates)
