"""A learnt policy of boosted trees: score the candidates by their features, then draw, sort or assign to slots."""

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
from ..linear import ranker, scored
from ..registry import POLICIES
from .assignment import ASSIGNMENTS, Assigned, Assignment
from .model import BoostedModel, widened


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Boosted(Spelled, Policy):
    """Boosted trees that `offrank learn` wrote: drawn by Plackett-Luce, sorted, or assigned to slots.

    With a score per candidate it is Plackett-Luce, or sorts. With a score per candidate and slot (`pi-opt`) the slate
    takes the pair of highest score first, then the next one among the free candidates and slots, or maximises the sum
    of the scores. The slate is fixed, but that candidates with the same scores share their slots equally.

    The order in which a log lists its candidates never decides.

    Parameters:
        path: the file.
        temperature: above 0; the weights of Plackett-Luce are exp(score / temperature).
        greedy: sort by score instead of drawing; candidates that tie share their ranks equally.
        assignment: `greedy`, or `exact`: the slate with the largest sum of scores.

    Raises:
        UsageError: a temperature that is not above 0, or an unknown assignment.

    Examples:
        >>> offrank.Boosted("policy.npz", assignment="exact")
        boosted('policy.npz', assignment=exact)
    """

    name: ClassVar[str] = "boosted"
    interacts: ClassVar[bool] = True  # trees split by features of the context too
    path: str
    temperature: float = field(default=1.0, kw_only=True)
    greedy: bool = field(default=False, kw_only=True)
    assignment: Assignment = field(default="greedy", kw_only=True)

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise UsageError(f"temperature is {self.temperature}", "give a temperature above zero, or greedy=True")
        if self.assignment not in ASSIGNMENTS:
            raise UsageError(f"assignment is {self.assignment!r}", "use " + " or ".join(ASSIGNMENTS))

    @cached_property
    def model(self) -> BoostedModel:
        """The scorer, read on first use.

        Raises:
            UsageError: no such file, or options that its scores do not have.
        """
        found = BoostedModel.load(self.path)
        if found.forest.slots and (self.temperature != 1.0 or self.greedy):
            raise UsageError(
                f"{self!r}: the file has one score per slot, so its slate is fixed",
                "omit temperature and greedy; assignment=exact is another way to choose the slate",
            )
        if not found.forest.slots and self.assignment != "greedy":
            raise UsageError(
                f"{self!r}: the file has one score per candidate, the same in every slot",
                "use greedy=True to sort by it",
            )
        return found

    @property
    def sorts(self) -> bool:
        return self.greedy or self.model.forest.slots > 0

    def learnt_rows(self) -> Fingerprint | None:
        return self.model.training

    def reads(self, ability: Ability) -> Needs:
        return Needs(frozenset(["candidates", "features"]), exchangeable=True)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        law = self._law(contexts)
        return law.sample(rng) if isinstance(law, Assigned) else ranker(self.greedy).sample(law, rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        law = self._law(contexts)
        return law.log_prob(slates) if isinstance(law, Assigned) else ranker(self.greedy).log_prob(law, slates)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        law = self._law(contexts)
        return law.slot_probs(slates) if isinstance(law, Assigned) else ranker(self.greedy).slot_probs(law, slates)

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        law = self._law(contexts)
        return law.rank_probs(items) if isinstance(law, Assigned) else ranker(self.greedy).rank_probs(law, items)

    def tied(self, batch: LogBatch) -> Booleans:
        law = self._law(batch.contexts)
        return law.tied if isinstance(law, Assigned) else ranker(self.greedy).tied(replace(batch, contexts=law))

    def _law(self, contexts: Contexts) -> Assigned | Contexts:
        """The law of slates fixed by scores per slot; otherwise the contexts with a score per candidate."""
        model = self.model
        if model.forest.slots:
            return model.assigned(contexts, self.assignment)
        scores = widened(model.scores(model.encoding.lines(contexts)), contexts)
        return scored(contexts, scores / self.temperature)
