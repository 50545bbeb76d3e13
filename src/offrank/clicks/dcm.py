"""DCM: users go on after a click with a probability that depends on its rank."""

from __future__ import annotations

from typing import ClassVar

from ..log.batch import Floats
from .chain import Continuing
from .fit.tails import HiddenCounts
from .parameters import Parameters


class DCM(Continuing):
    """The dependent click model of Guo, Liu and Wang (2009): after a click, the rank decides whether users go on.

    A skip always goes on, a click at rank k with `continuation` [k]. Learnt by exact EM: whether a user stopped after
    the last click, or went on and clicked nothing, is summed out; usual counts take every last click for a stop. The
    last rank's continuation is never observed.

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    name: ClassVar[str] = "dcm"
    by_rank: ClassVar[bool] = True
    begin: ClassVar[tuple[float, ...]] = (0.5,)

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return parameters["continuation"], 1.0

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """Continuations after the clicks at each rank."""
        return hidden.on, hidden.on + hidden.off
