"""DBN: users click what attracts them, and go on until a result satisfies them or they give up; SDBN: they never do."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, final

import numpy as np

from ..log.batch import Floats, Integers
from .chain import Chain
from .fit.tails import HiddenCounts, Second
from .parameters import Parameters


class Satisfying(Chain):
    """A click satisfies by the document's satisfaction; who is not satisfied goes on by `going`."""

    tables: ClassVar[tuple[str, ...]] = ("attraction", "satisfaction")

    @abstractmethod
    def going(self, parameters: Parameters) -> float:
        """P(examine the next | not satisfied)."""

    @final
    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        going = self.going(parameters)
        return going * (1.0 - parameters["satisfaction"]), going

    @final
    def second(self, parameters: Parameters) -> Second:
        """Nobody who went on was satisfied; of those who stopped, the others gave up."""
        satisfaction = parameters["satisfaction"]
        stopped = satisfaction / (1.0 - self.going(parameters) * (1.0 - satisfaction))
        return Second("satisfaction", np.zeros_like(stopped), stopped)

    @final
    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """Attraction times satisfaction."""
        return (parameters["attraction"] * parameters["satisfaction"])[document]


class DBN(Satisfying):
    """The dynamic Bayesian network of Chapelle and Zhang (2009).

    An examined document is clicked with its attraction a; a click satisfies with its satisfaction s, and ends the
    session. Who is not satisfied, or has not clicked, goes on with probability gamma (`continuation`), one for both.
    Whether a user without further clicks has left is hidden, and is summed out. Relevance is a s.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    name: ClassVar[str] = "dbn"
    begin: ClassVar[tuple[float, ...]] = (0.8,)

    def going(self, parameters: Parameters) -> float:
        """The continuation that was learnt."""
        return float(parameters["continuation"][0])

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """Going on is tried after each skip and each click that did not satisfy."""
        unsatisfied = (hidden.off * (1.0 - self.second(parameters).stopped)).sum()
        went = hidden.on.sum() + hidden.passed
        return np.array([went]), np.array([went + unsatisfied + hidden.left])


class SDBN(Satisfying):
    """The simplified DBN of Chapelle and Zhang (2009): gamma = 1.

    Learnt by exact EM: whether a last click satisfied, or nothing below it attracted, is summed out. The usual counts
    look at nothing below a last click and take it for satisfaction, which is too high for both tables.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    name: ClassVar[str] = "sdbn"

    def going(self, parameters: Parameters) -> float:
        """Always."""
        return 1.0
