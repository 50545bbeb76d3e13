"""DCM: users go on after a click by a chance of its rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .documents import Slots
from .downward import Downward, Expected, Tails
from .model import of_ranks
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False, kw_only=True)
class DCM(Downward):
    """The dependent click model of Guo, Liu and Wang (2009): after a click, the rank decides whether users go on.

    A skip always goes on, a click at rank k with `continuation` [k]. Learnt by exact EM: whether a user stopped after
    the last click, or read on and found nothing, is summed out; the usual counts take every last click for a stop. The
    last rank's continuation is never seen.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "dcm"
    by_rank: ClassVar[bool] = True
    shared: ClassVar[Roles] = {"continuation": Role.RANK}

    def beginning(self, tails: Tails) -> Parameters:
        """Every second click ends a session."""
        return {"continuation": np.full(len(tails.on), 0.5)}

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return parameters["continuation"], 1.0

    def after_click(self, parameters: Parameters, slots: Slots) -> Floats:
        return np.broadcast_to(of_ranks(parameters["continuation"], slots.document.shape[1]), slots.document.shape)

    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]:
        return {
            "attraction": (expected.clicked, expected.clicked + expected.missed),
            "continuation": (expected.on, expected.on + expected.off),
        }
