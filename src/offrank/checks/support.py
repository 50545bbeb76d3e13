"""Where the log cannot say anything: what the target would show and the logging policy never does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import AbilityError
from ..folds.base import TotalFold, Turned
from ..log.batch import Floats, LogBatch
from ..log.source import Needs
from ..options import option
from ..policies.propensities import AnyPolicy, complete, is_law, law_needs, propensities, shown_needs


@dataclass(frozen=True)
class SupportFold(Turned):
    """Share of the target's mass on (item, rank) pairs that the logging policy never shows, per rank.

    Between two laws it is known of all candidates. What was written in the log tells of the displayed items only,
    which is enough where they are all candidates.
    """

    target: AnyPolicy
    logging: AnyPolicy

    def needs(self) -> Needs:
        """The columns that both policies read."""
        asked = [
            law_needs(policy, "rank_probs") if self._of_any_slate else shown_needs(policy, "rank_law")
            for policy in (self.target, self.logging)
        ]
        return asked[0] | asked[1] | Needs(frozenset(["candidates"]))

    reducer: ClassVar = TotalFold((0, 2))

    def turned(self, batch: LogBatch) -> Floats:
        h = 1 / batch.inclusion[:, None, None]
        wanted, drawn = (self._rank_probs(policy, batch) for policy in (self.target, self.logging))
        never = wanted * (drawn == 0)
        return np.stack([(never * h).sum(axis=(0, 1)), (wanted * h).sum(axis=(0, 1))], axis=1)

    def told(self, found: Floats) -> Floats:
        """[k] share without support at each rank."""
        return np.divide(found[:, 0], found[:, 1], out=np.zeros(len(found)), where=found[:, 1] > 0)

    @property
    def _of_any_slate(self) -> bool:
        return is_law(self.target) and is_law(self.logging)

    def _rank_probs(self, policy: AnyPolicy, batch: LogBatch) -> Floats:
        """[n, q, k] of every candidate, in the same order for both policies."""
        if self._of_any_slate:
            return propensities(policy, batch).candidate_ranks
        if not complete(batch):
            written = self.target if is_law(self.logging) else self.logging
            raise AbilityError(
                f"{written!r} tells of the displayed items only, and some candidates were not displayed",
                "if the scores behind the slates were logged, name them: "
                f"{option('logging', 'plackett_luce(old_score)')}",
            )
        return propensities(policy, batch).rank_law.written_out(batch.contexts.length)
