"""The models of users who read from the top, side by side: what is hidden, and how they go on.

- CM: users read down to the first result that attracts them, and click it.
- DCM: users go on after a click with a probability that depends on its rank.
- CCM: after a click, the relevance of the document decides whether users go on.
- DBN: users click what attracts them and go on until a result satisfies them or they give up; in SDBN none give up.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..log.batch import Floats, Integers
from ..sums.estimate import Caution
from .base import Parameters
from .chain import Chain, Continuing
from .chain_uncertainty import moving
from .covariates import Regression
from .fit.compressed_sessions import HiddenCounts, Second
from .sessions import Sessions


class CM(Chain):
    """The cascade model of Craswell et al. (2008): at most one click, and everything above it was examined.

    It rules out a second click: it learns from sessions down to their first click (caution
    `impossible-clicks` where that leaves clicks out), and gives probability 0 to every click below one.

    Parameters:
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        tolerance: learning stops when no probability changes by more than this in one step.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).

    Examples:
        >>> offrank.clicks.click_model("cascade") == offrank.clicks.CM()
        True
    """

    name: ClassVar[str] = "cascade"

    def readable(self, sessions: Sessions) -> tuple[Sessions, tuple[Caution, ...]]:
        """The sessions without the ranks below their first click."""
        first = sessions.click * (np.cumsum(sessions.click, axis=1, dtype=np.int32) == 1)
        clicks, kept = (float(sessions.weight @ table.sum(axis=1)) for table in (sessions.click, first))
        share = 1.0 - kept / clicks if clicks else 0.0
        return replace(sessions, click=first.astype(np.uint8)), cautions_for(FitEvidence(beyond=share))

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return np.zeros(len(parameters["attraction"])), 1.0


class DCM(Continuing):
    """The dependent click model of Guo, Liu and Wang (2009): after a click, the rank decides whether users go on.

    A skip always goes on, a click at rank k with `continuation` [k]. Learnt by exact EM: whether a user stopped after
    the last click, or went on and clicked nothing, is summed out; usual counts take every last click for a stop. The
    last rank's continuation is never observed.

    Parameters:
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        tolerance: learning stops when no probability changes by more than this in one step.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        continuation: probabilities of going on; "fit": learnt from the log.

    Examples:
        >>> offrank.clicks.click_model("dcm") == offrank.clicks.DCM()
        True
    """

    name: ClassVar[str] = "dcm"
    by_rank: ClassVar[bool] = True
    begin: ClassVar[tuple[float, ...]] = (0.5,)

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return parameters["continuation"], 1.0

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """Continuations after the clicks at each rank."""
        return hidden.on, hidden.on + hidden.off


class CCM(Continuing):
    """The click chain model of Guo et al. (2009).

    An examined document is clicked with its relevance r (`attraction`). The user then goes on with probability
    alpha_1 after a skip, and alpha_2 (1 - r) + alpha_3 r after a click: `continuation` is (alpha_1, alpha_2, alpha_3).

    Parameters:
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        tolerance: learning stops when no probability changes by more than this in one step.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        continuation: probabilities of going on; "fit": learnt from the log.

    Examples:
        >>> offrank.clicks.click_model("ccm") == offrank.clicks.CCM()
        True
    """

    name: ClassVar[str] = "ccm"
    begin: ClassVar[tuple[float, ...]] = (0.8, 0.7, 0.4)

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        relevance, continuation = parameters["attraction"], parameters["continuation"]
        return continuation[1] * (1.0 - relevance) + continuation[2] * relevance, float(continuation[0])

    def second(self, parameters: Parameters) -> Second:
        """The hidden second trial of the relevance, whose result decides how likely the user goes on after a click."""
        relevance, relevant = parameters["attraction"], parameters["continuation"][2]
        on, _ = self.going_on(parameters)
        return Second("attraction", relevance * relevant / on, relevance * (1.0 - relevant) / (1.0 - on))

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """[3] (successes, trials) after a skip, a click on an irrelevant document, and a click on a relevant one."""
        _, went, stopped = self.second(parameters)
        on, off = hidden.on * went, hidden.off * stopped
        clicks = hidden.on + hidden.off
        continued = [hidden.passed, (hidden.on - on).sum(), on.sum()]
        tried = [hidden.passed + hidden.left, (clicks - on - off).sum(), (on + off).sum()]
        return np.array(continued), np.array(tried)


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

    Parameters:
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        tolerance: learning stops when no probability changes by more than this in one step.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        satisfaction: columns that the prior of the satisfaction depends on; by default on the rank alone.
        continuation: probabilities of going on; "fit": learnt from the log.

    Examples:
        >>> offrank.clicks.click_model("dbn") == offrank.clicks.DBN()
        True
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

    Parameters:
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        tolerance: learning stops when no probability changes by more than this in one step.
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        satisfaction: columns that the prior of the satisfaction depends on; by default on the rank alone.

    Examples:
        >>> offrank.clicks.click_model("sdbn") == offrank.clicks.SDBN()
        True
    """

    name: ClassVar[str] = "sdbn"

    def going(self, parameters: Parameters) -> float:
        """Always 1."""
        return 1.0
