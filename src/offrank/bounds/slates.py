"""What rewards of whole slates tell: that of each slate which a context showed is known, any other is in its range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import RowError
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch, Naturals
from ..log.contexts import content, distinct
from ..log.source import Needs
from ..policies.base import Policy
from ..sums.base import Fold
from .cells import refuse_sampled
from .knowledge import Ends, Gap, Knowledge


@dataclass(frozen=True, eq=False)
class Slates:
    """Pairs of context and slate that were shown, ascending. shown, earned: how often, and what it earned [s].

    items: [s, w] codes by slot, 0 where none stood. filled: [s, w] whether one did.
    """

    context: Naturals
    items: Integers
    filled: Booleans
    shown: Integers
    earned: Floats

    def __add__(self, other: Slates) -> Slates:
        slots = max(self.items.shape[1], other.items.shape[1])
        items, filled = (
            np.concatenate([np.pad(one, ((0, 0), (0, slots - one.shape[1]))) for one in both])
            for both in ((self.items, other.items), (self.filled, other.filled))
        )
        context = np.concatenate([self.context, other.context])
        shown, earned = np.append(self.shown, other.shown), np.append(self.earned, other.earned)
        return _summed(context, items, filled, shown, earned)

    @cached_property
    def _contexts(self) -> tuple[Naturals, Integers, Integers]:
        """Each context, its first slate, and how many it has."""
        return np.unique(self.context, return_index=True, return_counts=True)

    def of(self, context: Naturals, contexts: Contexts) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Yield rows, a slate that their context showed, and that as indices into the rows' candidates [r, k].

        A row that lacks one of its items, or has another number of slots, cannot show it, and is left out.
        """
        known, first, many = self._contexts
        at = np.minimum(np.searchsorted(known, context), max(len(known) - 1, 0))
        here = known[at] == context if len(known) else np.zeros(len(context), np.bool_)
        for nth in range(int(many[at[here]].max(initial=0))):
            rows = np.flatnonzero(here & (many[at] > nth))
            slate = first[at[rows]] + nth
            same = self.items[slate][:, :, None] == contexts.candidates[rows][:, None, :]
            same &= np.arange(same.shape[2]) < contexts.size[rows, None, None]
            filled, slots = self.filled[slate], contexts.slots
            can = (same.any(axis=2) == filled).all(axis=1) & (filled.sum(axis=1) == contexts.length[rows])
            found = np.full((len(rows), slots), -1)
            width = min(slots, filled.shape[1])
            found[:, :width] = np.where(filled, same.argmax(axis=2), -1)[:, :width]
            yield rows[can], slate[can], found[can]


@dataclass(frozen=True)
class SlatesFold(Fold):
    """Reduces batches to `Slates`. context: the column of the contexts. least, most: the range of rewards.

    Raises:
        RowError: a reward outside of the range. LogError: rows that were kept at different rates.
    """

    context: str
    least: float
    most: float

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(frozenset(["reward"]), clusters=frozenset([self.context]))

    def of(self, batch: LogBatch) -> Slates:
        refuse_sampled(batch)
        if len(outside := np.flatnonzero((batch.reward < self.least) | (batch.reward > self.most))):
            row, said = outside[0], f"a reward of {batch.reward[outside[0]]:g}"
            said += f" is outside of the range from {self.least:g} to {self.most:g}"
            remedy = "give the smallest and the largest reward that are possible as `reward_range`"
            raise RowError(batch.file, int(batch.row[row]) - batch.base, "reward", "reward-range", said, remedy)
        filled = batch.slates >= 0
        items = np.take_along_axis(batch.contexts.candidates, np.maximum(batch.slates, 0), axis=1)
        context = batch.dependent([self.context])[self.context]
        return _summed(context, np.where(filled, items, 0), filled, np.ones(len(batch), np.int64), batch.reward)


def _summed(context: Naturals, items: Integers, filled: Booleans, shown: Integers, earned: Floats) -> Slates:
    """Return the slates of some rows, each once."""
    order = np.lexsort((*items.T[::-1], *filled.T[::-1], context))
    context, items, filled = context[order], items[order], filled[order]
    new = (np.diff(context) != 0) | (np.diff(items, axis=0) != 0).any(axis=1)
    first = np.flatnonzero(np.append(len(order) > 0, new | (filled[1:] != filled[:-1]).any(axis=1)))
    sums = np.add.reduceat(shown[order], first), np.add.reduceat(earned[order], first)
    return Slates(context[first], items[first], filled[first], *sums)


@dataclass(frozen=True, eq=False)
class WholeSlates(Knowledge):
    """Nothing is assumed of users: a slate that its context never showed earns anything in the range `limits`."""

    slates: Slates
    limits: tuple[float, float]

    @property
    def says(self) -> str:  # type: ignore[override]
        """Return the assumption."""
        return "a slate earns from {:g} to {:g}".format(*self.limits)

    def needs(self, target: Policy) -> Needs:
        """Return the columns to read.

        Raises:
            AbilityError: the target does not tell how likely a slate is.
        """
        return Needs(frozenset(["reward"])) | target.law("log_prob").reads("log_prob")

    def earned(self, batch: LogBatch) -> Floats:
        return batch.reward

    def ends(self, batch: LogBatch, context: Naturals, target: Policy) -> Ends:
        known, sure = self._known(batch, context, target)
        least, most = (sure + (1 - known) * end for end in self.limits)
        return Ends(least, most, known, np.ones(len(batch)))

    def gap(self, batch: LogBatch, context: Naturals, target: Policy, against: Policy) -> Gap:
        """Return both ends of the difference. Sharp where one of the targets sorts; else never too narrow."""
        (known, sure), (other, less) = (self._known(batch, context, one) for one in (target, against))
        both = np.minimum(self._shared(batch, context, target, against), np.minimum(1 - known, 1 - other))
        more, fewer = np.maximum(1 - known - both, 0.0), np.maximum(1 - other - both, 0.0)
        least, most = self.limits
        return Gap(sure - less + more * least - fewer * most, sure - less + more * most - fewer * least)

    def _known(self, batch: LogBatch, context: Naturals, target: Policy) -> tuple[Floats, Floats]:
        """Return P(a slate that the context showed) under the target, and what these slates earn."""
        # Rows of a context have as many slates as it showed: once for all that are alike, else it is n^2.
        first, which = distinct(np.column_stack([context.view(np.int64), content(batch.contexts)]))
        contexts, known, earned = batch.contexts.take(first), np.zeros(len(first)), np.zeros(len(first))
        policy, means = target.law("log_prob"), self.slates.earned / self.slates.shown
        for rows, slate, shown in self.slates.of(context[first], contexts):
            if len(rows):
                chance = np.exp(policy.log_prob(contexts.take(rows), shown))
                known[rows] += chance
                earned[rows] += chance * means[slate]
        return known[which], earned[which]

    def _shared(self, batch: LogBatch, context: Naturals, target: Policy, against: Policy) -> Floats:
        """Return the probability that both targets give to slates that were never shown, where one of them sorts."""
        if target == against:
            return np.ones(len(batch))
        shared = np.zeros(len(batch))
        for one, other in ((target, against), (against, target)):
            sure, slates = one.sure_slates(batch.contexts)
            if len(rows := np.flatnonzero(sure)):
                contexts = batch.contexts.take(rows)
                log_prob = other.law("log_prob").log_prob(contexts, slates[rows, : contexts.slots])
                shared[rows] = np.exp(log_prob)
        return shared
