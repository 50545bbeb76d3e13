"""DBN: users click what attracts them and go on until a result satisfies them or they give up; in SDBN none give up."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ..findings import cautions_for
from ..findings.evidence_clicks import FitEvidence
from ..folds.estimate import Caution
from ..log.batch import Floats, Integers
from .chain import Chain, Continuing
from .chain_doubt import moving
from .features import Regression
from .fit.tails import HiddenCounts, Second
from .parameters import Parameters
from .sessions import Sessions


@dataclass(frozen=True, repr=False, kw_only=True)
class Satisfying(Chain):
    """A click satisfies with the document's satisfaction; unsatisfied users go on with probability `going`.

    satisfaction: "table", or a regression on features, as `attraction`.
    """

    satisfaction: Regression = "table"

    tables: ClassVar[tuple[str, ...]] = ("attraction", "satisfaction")

    def _regressed(self) -> tuple[str, ...]:
        return ("attraction", "satisfaction")

    @final
    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        return sessions, cautions_for(FitEvidence(moving=moving(sessions)))

    @abstractmethod
    def going(self, parameters: Parameters) -> float:
        """P(examine the next | not satisfied)."""

    @final
    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        going = self.going(parameters)
        return going * (1.0 - parameters["satisfaction"]), going

    @final
    def second(self, parameters: Parameters) -> Second:
        """The satisfaction trial: users who went on were not satisfied; those who stopped were satisfied or gave up."""
        satisfaction = parameters["satisfaction"]
        stopped = satisfaction / (1.0 - self.going(parameters) * (1.0 - satisfaction))
        return Second("satisfaction", np.zeros_like(stopped), stopped)

    @final
    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """Attraction times satisfaction."""
        return (parameters["attraction"] * parameters["satisfaction"])[document]


@dataclass(frozen=True, repr=False, kw_only=True)
class DBN(Continuing, Satisfying):
    """The dynamic Bayesian network of Chapelle and Zhang (2009).

    An examined document is clicked with its attraction a; a click satisfies with its satisfaction s, and ends the
    session. A user who is not satisfied, or has not clicked, goes on with probability gamma (`continuation`).
    Whether a user without further clicks has left is hidden, and is summed out. Relevance is a s.

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    name: ClassVar[str] = "dbn"
    begin: ClassVar[tuple[float, ...]] = (0.8,)

    def going(self, parameters: Parameters) -> float:
        """The learnt continuation."""
        return float(parameters["continuation"][0])

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """The continuations after each skip and each click that did not satisfy."""
        unsatisfied = (hidden.off * (1.0 - self.second(parameters).stopped)).sum()
        went = hidden.on.sum() + hidden.passed
        return np.array([went]), np.array([went + unsatisfied + hidden.left])


class SDBN(Satisfying):
    """The simplified DBN of Chapelle and Zhang (2009): gamma = 1.

    Learnt by exact EM: whether a last click satisfied, or nothing below it attracted, is summed out. The usual counts
    ignore what is below a last click and take that click for satisfaction, which makes both tables too high.

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    name: ClassVar[str] = "sdbn"

    def going(self, parameters: Parameters) -> float:
        """Always 1."""
        return 1.0
