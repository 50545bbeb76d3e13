"""No category twice: items are drawn in order, and those whose category has been shown are dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs
from .base import Policy, all_items, refuse_no_column, refuse_no_policy, unable
from .category_races import NEVER, CategoryRaces, numbered_categories
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Distinct(Spelled, Policy):
    """The base policy without repeats of a category: an item is dropped if its category is shown above it.

    Parameters:
        base: a policy that sorts, or that draws one item after the other, such as `top`, `ranking`, `uniform` or
            `plackett_luce`.
        column: a number beside each candidate, equal for those of one category. Where there are fewer categories
            than slots, the last slots stay empty.

    Raises:
        UsageError: a base that neither sorts nor draws one item after the other.

    Examples:
        >>> offrank.Distinct(offrank.PlackettLuce("old_score"), "brand")
        distinct(plackett_luce(old_score), brand)
    """

    name: ClassVar[str] = "distinct"
    base: Policy
    column: str

    def __post_init__(self) -> None:
        refuse_no_policy(self, self.base)
        refuse_no_column(self, self.column)
        if not (self.base.always_sorts or self.base.shuffles or self.base.draws_items):
            raise UsageError(
                f"{self!r}: {self.base!r} neither sorts by a column nor draws one item after another",
                "for a mixture, use distinct(...) around each of its policies: "
                "mixture({distinct(top(score), brand): 0.9, distinct(uniform, brand): 0.1})",
            )

    @property
    def sorts(self) -> bool:
        return self.base.always_sorts

    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return self.base.law(ability).reads(ability) | Needs(scores=frozenset([self.column]), exchangeable=True)

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        return self._races(contexts).in_order(rng)

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n] log-probability of each slate."""
        return np.asarray(self._log_slot_probs(contexts, slates).sum(axis=1))

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] probability of each slot's item given the slots above; 1 on pads."""
        return np.exp(self._log_slot_probs(contexts, slates))

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        races, row = self._races(contexts), np.arange(len(items))[:, None]
        found = races.rank_law[row, races.category[row, items]] * races.shares[row, items][:, :, None]
        return np.where((items >= 0)[:, :, None], found, 0.0)

    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`; items of one category are never shown together.

        Raises:
            AbilityError: it would take too long or too much memory.
        """
        races = self._races(contexts)
        try:
            both = races.pair_law()
        except UsageError as error:
            unable(self, "pair_probs", f"{error.message}: " + error.remedy)
        n, m, k = *races.category.shape, contexts.slots
        row, ranks = np.arange(n)[:, None, None, None, None], np.arange(k)
        one, other = races.category[:, :, None, None, None], races.category[:, None, None, :, None]
        shares = races.shares[:, :, None, None, None] * races.shares[:, None, None, :, None]
        found = np.where(one == other, 0.0, both[row, one, ranks[:, None, None], other, ranks] * shares)
        item, rank = np.arange(m)[:, None], ranks[None]
        found[:, item, rank, item, rank] = self.rank_probs(contexts, all_items(contexts))
        return found

    def tied(self, batch: LogBatch) -> Booleans:
        return self._races(batch.contexts).tied() if self.sorts else np.zeros(len(batch), np.bool_)

    def sure_slates(self, contexts: Contexts) -> tuple[Booleans, Integers]:
        if not self.sorts:
            return super().sure_slates(contexts)
        races = self._races(contexts)
        return ~races.tied(), races.in_order(np.random.default_rng(0))  # any draw is that slate

    def fills_slots(self, contexts: Contexts) -> Booleans:
        return np.asarray(self._races(contexts).categories() >= contexts.length)

    def _log_slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        races, row, logs = self._races(contexts), np.arange(len(slates)), np.zeros(slates.shape)
        left = races.level < NEVER
        for slot in range(slates.shape[1]):
            item = slates[:, slot]
            logs[:, slot] = np.where(item >= 0, races.next_logs(left)[row, item], 0.0)
            left &= (item < 0)[:, None] | (races.category != races.category[row, item][:, None])
        return logs

    def _races(self, contexts: Contexts) -> CategoryRaces:
        """The races of the categories."""
        level, logs = np.zeros(contexts.candidates.shape, np.int64), np.zeros(contexts.candidates.shape)
        if self.base.always_sorts:  # deeper than its slots, for those that are dropped
            level, _ = self.base.blocks(replace(contexts, length=contexts.size), all_items(contexts))
            level = np.where(level < 0, NEVER, level)
        elif (known := self.base.log_weights(contexts)) is not None:
            zero = known == -np.inf
            level, logs = zero.astype(np.int64), np.where(zero, 0.0, known)
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        category = numbered_categories(contexts.scores[self.column], contexts)
        return CategoryRaces(contexts.length, np.where(inside, level, NEVER), logs, category)
