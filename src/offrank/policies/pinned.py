"""Items at fixed ranks, such as an ad at the second one, and a policy that ranks the others around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..language.spelling import Spelled
from ..log.batch import Contexts, Integers
from .base import Policy
from .registry import POLICIES
from .restricted import FREE, OUT, Restricted


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Pinned(Spelled, Restricted):
    """Candidates pinned to a rank in a column, 1 at the top; the base policy ranks those that have 0 there.

    A candidate that is pinned below the last slot is not shown.

    Parameters:
        base: the policy that ranks the other candidates.
        column: a rank beside each candidate, 1 at the top; 0: not pinned.

    Examples:
        >>> offrank.Pinned(offrank.PlackettLuce("old_score"), "ad_rank")
        pinned(plackett_luce(old_score), ad_rank)
    """

    name: ClassVar[str] = "pinned"
    base: Policy
    column: str

    def fixed(self, contexts: Contexts) -> Integers:
        """As `Restricted.fixed`.

        Raises:
            UsageError: a number is no rank, or two candidates of a row have the same.
        """
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        ranks = np.where(inside, contexts.scores[self.column], 0.0)
        strange = (ranks < 0) | (ranks != np.floor(ranks))
        if strange.any():
            self._refuse(contexts, strange, f"{ranks[strange][0]:g} is not a rank")
        shown = (ranks > 0) & (ranks <= contexts.length[:, None])
        row, item = np.nonzero(shown)
        order = np.lexsort((ranks[row, item], row))
        row, item = row[order], item[order]
        twice = (row[1:] == row[:-1]) & (ranks[row[1:], item[1:]] == ranks[row[:-1], item[:-1]])
        if twice.any():
            again = np.zeros(shown.shape, np.bool_)
            again[row[1:][twice], item[1:][twice]] = True
            self._refuse(contexts, again, f"two candidates are pinned at rank {ranks[again][0]:g}")
        return np.where(ranks == 0, FREE, np.where(shown, ranks - 1, OUT)).astype(np.int64)

    def _refuse(self, contexts: Contexts, where: np.ndarray, why: str) -> None:
        item = contexts.candidates[where][0]
        raise UsageError(
            f"{self!r}: {why}, of item {item}", f"use 1 for the top in {self.column!r}, and 0 for what is not pinned"
        )
