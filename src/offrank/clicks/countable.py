"""What click models that learn from counts have in common."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

from ..folds.base import Fold
from .counts import Counts, CountsFold, counted
from .fit.priors import Prior, given
from .model import ClickModel
from .sessions import Gathered, Sessions


class Countable(ClickModel, ABC):
    """A click model for which it is enough to know how often each document was shown and clicked in each cell.

    What it costs to learn does not grow with the number of sessions, once they are counted.
    """

    browsing: ClassVar[bool] = False
    """Whether cells know the last click above as well as the rank."""

    def gather(self, by: str | None) -> Fold[Any, Any, Gathered]:
        """Counts, in one pass."""
        return CountsFold(by, self.browsing)

    def from_sessions(self, sessions: Sessions) -> Counts:
        """The counts of sessions in memory."""
        return counted(sessions, browsing=self.browsing)


@dataclass(frozen=True, repr=False)
class WithPrior(Countable, ABC):
    """Its documents have a prior Beta: "fit", by the likelihood of all documents, or given as (a, b)."""

    prior: Prior = "fit"

    def __post_init__(self) -> None:
        given(self.prior)
