"""DBN: users click what attracts them, and go on until a result satisfies them or they give up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .downward import Expected, Satisfying, Tails
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False, kw_only=True)
class DBN(Satisfying):
    """The dynamic Bayesian network of Chapelle and Zhang (2009).

    An examined document is clicked with its attraction a; a click satisfies with its satisfaction s, and ends the
    session. Who is not satisfied, or has not clicked, goes on with probability gamma (`continuation`), one for both.
    Whether a user without further clicks has left is hidden, and is summed out. Relevance is a s.

    tolerance: learning ends when no probability moves further than this in a step.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "dbn"
    shared: ClassVar[Roles] = {"continuation": Role.SHARED}

    def going(self, parameters: Parameters) -> float:
        """The continuation that was learnt."""
        return float(parameters["continuation"][0])

    def beginning(self, tails: Tails) -> Parameters:
        """Every second click satisfies, and most users go on."""
        return {**super().beginning(tails), "continuation": np.array([0.8])}

    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]:
        """Going on is tried after each skip and each click that did not satisfy."""
        unsatisfied = expected.on.sum() + (expected.off * (1.0 - self.satisfied(parameters))).sum()
        went = expected.on.sum() + expected.passed
        tried = unsatisfied + expected.passed + expected.left
        return {**super().counts(parameters, expected), "continuation": (np.array([went]), np.array([tried]))}
