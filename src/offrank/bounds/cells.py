"""What a log shows of each context: how often each item stood at each rank, and how often it was clicked there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import LogError
from ..log.batch import PRICED, Contexts, Floats, Integers, LogBatch, Naturals
from ..log.hashing import distinct_codes
from ..log.source import Needs
from ..sums.base import Fold


@dataclass(frozen=True, eq=False)
class Cells:
    """Triples of context, item and rank that were shown, ascending; shown and clicked: how often [cells]."""

    context: Naturals
    item: Integers
    rank: Integers
    shown: Integers
    clicked: Integers

    def __add__(self, other: Cells) -> Cells:
        names = ("context", "item", "rank", "shown", "clicked")
        return _summed(*(np.concatenate([getattr(one, name) for one in (self, other)]) for name in names))

    @property
    def ranks(self) -> int:
        """Return the number of ranks at which something was shown."""
        return int(self.rank.max(initial=-1)) + 1

    def rates(self) -> Floats:
        """Return the share of clicks of each item at each rank [items + 1, ranks]; NaN where it was never shown."""
        found = np.full((self.items + 1, self.ranks), np.nan)
        found[self.place, self.rank] = self.clicked / self.shown
        return found

    def relevance(self, curve: Floats) -> Floats:
        """Return clicks per examined impression of each item [items + 1]; NaN where it was never looked at.

        Clicks at all ranks over the expected number of times that it was looked at: unbiased, so above 1 by chance.
        """
        looked = np.bincount(self.place, self.shown * curve[self.rank], self.items + 1)
        clicks = np.bincount(self.place, self.clicked, self.items + 1)
        return np.divide(clicks, looked, out=np.full(len(looked), np.nan), where=looked > 0)

    @property
    def items(self) -> int:
        """Return the number of pairs of a context and an item."""
        return len(self._pairs)

    def of(self, context: Naturals, contexts: Contexts) -> Integers:
        """Return the place of each candidate [n, m] in `rates`: the last where its context never showed it."""
        asked = self._codes(context[:, None], contexts.candidates)
        at = np.searchsorted(self._pairs, asked)
        known = (asked >= 0) & (at < self.items)
        return np.where(known & (self._pairs[np.minimum(at, self.items - 1)] == asked), at, self.items)

    @cached_property
    def place(self) -> Integers:
        """Return the pair of each cell."""
        return np.searchsorted(self._pairs, self._codes(self.context, self.item))

    @cached_property
    def _known(self) -> tuple[Naturals, Integers]:
        return distinct_codes(self.context), distinct_codes(self.item)

    @cached_property
    def _pairs(self) -> Integers:
        return distinct_codes(self._codes(self.context, self.item))

    def _codes(self, context: Naturals, item: Integers) -> Integers:
        """Return one number for each pair of a context and an item; -1 if either was never shown."""
        (contexts, items), places, known = self._known, [], np.array(True)
        for values, one in ((contexts, context), (items, item)):
            at = np.minimum(np.searchsorted(values, one), len(values) - 1)
            known = known & (values[at] == one)
            places.append(at)
        return np.where(known, places[0] * len(items) + places[1], -1)


@dataclass(frozen=True)
class CellsFold(Fold):
    """Reduces batches to `Cells`. context: the column of the contexts.

    Raises:
        LogError: a click that is neither 0 nor 1, or rows that were kept at different rates.
    """

    context: str

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(frozenset(["clicks"]), clusters=frozenset([self.context]))

    def of(self, batch: LogBatch) -> Cells:
        refuse_sampled(batch)
        if (batch.click_sums.kind == PRICED).any():
            raise LogError("bounds need clicks that are 0 or 1", "give clicks instead of prices")
        assert batch.clicks is not None
        row, slot = np.nonzero(batch.slates >= 0)
        item = batch.contexts.candidates[row, batch.slates[row, slot]]
        context, clicks = batch.dependent([self.context])[self.context][row], batch.clicks[row, slot]
        return _summed(context, item, slot.astype(np.int64), np.ones(len(row), np.int64), clicks.astype(np.int64))


def _summed(context: Naturals, item: Integers, rank: Integers, shown: Integers, clicked: Integers) -> Cells:
    """Return the cells of some items that were shown, each once."""
    order = np.lexsort((rank, item, context))
    context, item, rank = context[order], item[order], rank[order]
    new = (np.diff(context) != 0) | (np.diff(item) != 0) | (np.diff(rank) != 0)
    first = np.flatnonzero(np.append(len(order) > 0, new))
    sums = (np.add.reduceat(values[order], first) for values in (shown, clicked))
    return Cells(context[first], item[first], rank[first], *sums)


def refuse_sampled(batch: LogBatch) -> None:
    """Raise where rows are missing: then nothing bounds what was not shown.

    Raises:
        LogError: see above.
    """
    if (batch.inclusion != 1).any():
        raise LogError("bounds need every impression, but this log keeps only a sample of its rows", "give all rows")
