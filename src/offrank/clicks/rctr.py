"""RCTR: a click rate for each rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .countable import Countable
from .counts import Counts
from .documents import Slots
from .laws import ClickLaw, Independent
from .learnt import Learnt
from .model import Say, of_ranks
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False)
class RCTR(Countable):
    """The click rate of each rank, whatever is shown there.

    Its relevance says nothing: it is the same for every document. It is no examination curve either: good documents
    are shown high. Rates are posterior means under a uniform prior; ranks below the lowest that was seen have its rate.
    """

    name: ClassVar[str] = "rctr"

    def roles(self) -> Roles:
        return {"rate": Role.RANK}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        shown, clicked = data.by_rank().by_cell()
        return Learnt({"rate": (clicked + 1) / (shown + 2)}, {"rate": shown + 2})

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        rates = of_ranks(parameters["rate"], slots.shown.shape[1])
        return Independent(np.where(slots.shown, rates, 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return np.full(document.shape, parameters["rate"].mean())
