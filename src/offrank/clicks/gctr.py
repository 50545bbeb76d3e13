"""GCTR: one click rate for everything."""

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
from .model import Say
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False)
class GCTR(Countable):
    """The global click rate: whatever is shown wherever is clicked with one probability.

    The baseline of baselines. Its relevance says nothing: it is the same for every document. The rate is the posterior
    mean under a uniform prior.
    """

    name: ClassVar[str] = "gctr"

    def roles(self) -> Roles:
        return {"rate": Role.SHARED}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        shown, clicked = data.shown.sum(), data.clicked.sum()
        rate, strength = np.array([(clicked + 1) / (shown + 2)]), np.array([shown + 2])
        return Learnt({"rate": rate}, {"rate": strength})

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        return Independent(np.where(slots.shown, parameters["rate"][0], 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return np.full(document.shape, parameters["rate"][0])
