"""What clicks on items tell: each click depends on its own item and rank, and with a curve on its relevance.

The mean click of what a context showed at a rank is known there; an item that was never shown at a rank is clicked with
a probability between 0 and 1. With an examination curve p, clicks at any rank tell the relevance of an item, and so its
clicks at every rank; one that was never looked at is clicked at rank k with a probability of at most p_k / max p.
Neither end is cut to what is possible in a cell: means would then be biased towards its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..language import assumptions
from ..log.batch import Floats, LogBatch, Naturals
from ..log.source import Needs
from ..policies.base import Policy
from ..policies.propensities import propensities
from .cells import Cells
from .knowledge import Ends, Gap, Knowledge


@dataclass(frozen=True, eq=False)
class OwnItem(Knowledge):
    """A click depends on its own item and rank only; curve: and on these examination probabilities, by rank."""

    cells: Cells
    curve: Floats | None = None

    @property
    def says(self) -> str:  # type: ignore[override]
        """Return the assumption."""
        return assumptions.in_words(assumptions.ITEM_POSITION if self.curve is None else assumptions.POSITION_BASED)

    def needs(self, target: Policy) -> Needs:
        """Return the columns to read.

        Raises:
            AbilityError: the target does not tell how likely an item is at a rank.
        """
        return Needs(frozenset(["clicks"])) | target.reads("rank_probs")

    def ends(self, batch: LogBatch, context: Naturals, target: Policy) -> Ends:
        chance = propensities(target, batch).candidate_ranks
        table, most = self._clicks(batch, context)
        known = np.isfinite(table)
        lower, upper = np.where(known, table, 0.0), np.where(known, table, most)
        return Ends(*((chance * each).sum(axis=(1, 2)) for each in (lower, upper, known, np.ones_like(table))))

    def gap(self, batch: LogBatch, context: Naturals, target: Policy, against: Policy) -> Gap:
        """Return both ends of the difference: what is not known is one number for both targets."""
        more = propensities(target, batch).candidate_ranks - propensities(against, batch).candidate_ranks
        table, most = self._clicks(batch, context)
        known = np.isfinite(table)
        sure = (more * np.where(known, table, 0.0)).sum(axis=(1, 2))
        open_ = np.where(known, 0.0, more * most)
        if self.curve is not None:  # one relevance of an item for all ranks
            open_ = open_.sum(axis=2, keepdims=True)
        return Gap(*(sure + cut(open_, 0.0).sum(axis=(1, 2)) for cut in (np.minimum, np.maximum)))

    def _clicks(self, batch: LogBatch, context: Naturals) -> tuple[Floats, Floats]:
        """Return P(click) of each candidate at each rank [n, m, k], NaN where unknown, and the most it can be [k]."""
        place, slots = self.cells.of(context, batch.contexts), batch.contexts.slots
        if self.curve is None:
            return self.cells.rates()[:, :slots][place], np.ones(slots)
        curve = self.curve[: self.cells.ranks]
        return (self.cells.relevance(self.curve)[:, None] * curve)[:, :slots][place], (curve / curve.max())[:slots]
