"""Two rankings merged into one list, as experiments do that compare them by clicks on either's items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..errors import AbilityError, UsageError
from ..language.spelling import Spelled
from ..log.batch import Booleans, Contexts, Integers, LogBatch
from ..log.source import Ability, Needs
from .base import Policy, all_items, is_policy
from .interleaving_methods import INTERLEAVINGS
from .registry import POLICIES
from .slot_by_slot import Branch, SlotBySlot, States


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Interleaved(Spelled, SlotBySlot):
    """Two sorted rankings interleaved; which of the two an item came from need not be in the log.

    method:

    - team_draft: a coin says who picks first in each pair of picks, and each team picks its best item that is not shown
      yet. Radlinski, Kurup and Joachims (2008), How does clickthrough data reflect retrieval quality?
    - balanced: a coin says who begins, and both take turns with their next item; one that is shown already is passed.
      Joachims (2002), Optimizing search engines using clickthrough data.
    - probabilistic: a coin for each slot says which ranking draws its item, with weights 1 / rank^3 among those not
      shown yet; ranks are among the candidates. Hofmann, Whiteson and de Rijke (2011), A probabilistic method for
      inferring preferences from clicks.

    Where one ranking has no more items, the other fills the slots.

    Parameters:
        a: a policy that sorts.
        b: another one.
        method: one of those above.

    Raises:
        UsageError: a ranking that does not sort, or an unknown method.

    Examples:
        >>> offrank.Interleaved(offrank.Top("a_score"), offrank.Top("b_score"), method="balanced")
        interleaved(top(a_score), top(b_score), method=balanced)
    """

    name: ClassVar[str] = "interleaved"
    sorts: ClassVar[bool] = True
    a: Policy
    b: Policy
    method: str = field(default="team_draft", kw_only=True)

    def __post_init__(self) -> None:
        for ranking in (self.a, self.b):
            if not (is_policy(ranking) and ranking.always_sorts):
                raise UsageError(
                    f"{self!r}: {ranking!r} is not a sorted ranking", "interleave top(score) or ranking(column)"
                )
        if self.method not in INTERLEAVINGS:
            raise UsageError(f"{self!r}: unknown method {self.method!r}", f"use one of {', '.join(INTERLEAVINGS)}")

    def reads(self, ability: Ability) -> Needs:
        """The columns that this ability reads."""
        return self.a.reads(ability) | self.b.reads(ability)

    def tied(self, batch: LogBatch) -> Booleans:
        return np.asarray(self.a.tied(batch) | self.b.tied(batch))

    def fills_slots(self, contexts: Contexts) -> Booleans:
        ranks = self.tables(contexts)[:, ::2]
        return np.asarray((ranks >= 0).any(axis=1).sum(axis=1) >= contexts.length)

    def starts(self) -> Sequence[tuple[int, float]]:
        return INTERLEAVINGS[self.method].starts

    def tables(self, contexts: Contexts) -> Integers:
        """[n, 4, m] the first rank of each candidate's block and its width, of both rankings."""
        method = INTERLEAVINGS[self.method]
        whole = replace(contexts, length=contexts.size) if method.deep else contexts
        found = []
        for ranking in (self.a, self.b):
            if ranking.names_others(contexts):
                raise AbilityError(
                    f"{self!r}: {ranking!r} contains items that are not candidates", "log `candidates` too"
                )
            first, width = ranking.blocks(whole, all_items(contexts))
            if not method.ties and (width[first >= 0] > 1).any():
                raise AbilityError(
                    f"{self!r} needs an order of all candidates, but {ranking!r} has ties",
                    "break ties in the score, or log the order itself and use ranking(column)",
                )
            found += [first, width]
        return np.stack(found, axis=1)

    def branches(self, tables: Integers, states: States) -> Iterable[Branch]:
        return INTERLEAVINGS[self.method].branches(tables, states)
