"""Rank probabilities counted in the log itself, for logs without propensities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from ..language.spelling import Spelled, spell
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Ability, Needs, Source, refuse_once
from ..running.executors import Executor, run
from ..sums.base import Fold
from ..sums.counts import KeyedCounts, join, summed
from .base import Fits, Policy, refuse_no_column, unable
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Counted(Spelled, Policy, Fits):
    """P(item at rank | context) as the share of the context's impressions that showed it there.

    Parameters:
        by: the column whose values are the contexts. Must read the log once before use. The propensities are
            estimates: rare contexts look more deterministic than they are.
        counts: what was counted; filled by the first pass over the log.
        one_slot: whether all slates have one item, which then is the slate; filled as the counts are.

    Raises:
        UsageError: the name of the column is no text.

    Examples:
        >>> offrank.Counted(by="query")
        counted(by=query)
    """

    name: ClassVar[str] = "counted"
    by: str = field(default="query", kw_only=True)
    counts: KeyedCounts | None = field(default=None, kw_only=True, compare=False)
    one_slot: bool = field(default=False, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        refuse_no_column(self, self.by)

    def __repr__(self) -> str:
        return f"counted(by={spell(self.by)})"

    __str__ = __repr__

    @property
    def counted_by(self) -> str:  # type: ignore[override]  # its field
        return self.by

    def reads(self, ability: Ability) -> Needs:
        if ability not in ("rank_law", "rank_probs", *(["log_prob"] if self.one_slot else [])):
            self.refuse(ability)
        # What it shows of all items is not what it shows of those that were shown.
        whole = frozenset[str]() if ability == "rank_law" else frozenset(["candidates"])
        return Needs(whole, keys=frozenset([self.by]))

    def fit(self, source: Source, executor: Executor | None = None) -> Counted:
        """Count the source, once; memory grows with distinct (context, item, rank)."""
        if self.counts is not None:
            return self
        refuse_once(source, f"{self} is counted first")
        found = run(source.select(Needs(keys=frozenset([self.by]))), _ShownFold(self.by), executor)
        return replace(self, counts=found["counts"], one_slot=not found["longer"])

    def log_prob(self, contexts: Contexts, slates: Integers) -> Floats:
        if contexts.slots > 1:
            self.refuse("log_prob")
        with np.errstate(divide="ignore"):
            return np.log(self.rank_probs(contexts, slates)[:, 0, 0])

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        if self.counts is None:
            unable(
                self,
                "rank_probs",
                "call fit(log) first. evaluate and check do so for a policy on its own, or in a field of another "
                "policy that is a dataclass",
            )
        context = contexts.keys[self.by]
        shown = self.counts.of(context)
        safe = np.maximum(items, 0)
        codes = np.take_along_axis(contexts.candidates, safe, axis=1)
        law = np.empty((*items.shape, contexts.slots))
        for rank in range(contexts.slots):
            law[:, :, rank] = self.counts.of(join(context[:, None], codes, rank))
        law /= np.where(shown > 0, shown, 1.0)[:, None, None]
        return np.where((items >= 0)[:, :, None], law, 0.0)

    def refuse(self, ability: Ability) -> NoReturn:
        unable(
            self, ability, "counting gives only the probability of an item at a rank: use ipm, snipm, interpol or pbm"
        )


@dataclass(frozen=True)
class _ShownFold(Fold):
    """Counts impressions per context, per (context, item, rank), each divided by its inclusion, and longer slates."""

    by: str

    def of(self, batch: LogBatch) -> dict[str, Any]:
        context, weight = batch.contexts.keys[self.by], 1.0 / batch.inclusion
        row, rank = np.nonzero(batch.slates >= 0)
        code = batch.contexts.candidates[row, batch.slates[row, rank]]
        keys = np.concatenate([context, join(context[row], code, rank)])
        counts = KeyedCounts(*summed([keys], [np.concatenate([weight, weight[row]])]))
        return {"counts": counts, "longer": int((batch.contexts.length > 1).sum())}
