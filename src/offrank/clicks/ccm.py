"""CCM: after a click, the relevance of the document decides whether users go on."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .chain import Continuing
from .fit.tails import HiddenCounts, Second
from .parameters import Parameters


class CCM(Continuing):
    """The click chain model of Guo et al. (2009).

    An examined document is clicked with its relevance r (`attraction`). The user then goes on with probability
    alpha_1 after a skip, and alpha_2 (1 - r) + alpha_3 r after a click: `continuation` is (alpha_1, alpha_2, alpha_3).

    tolerance: learning stops when no probability changes by more than this in one step.
    """

    name: ClassVar[str] = "ccm"
    begin: ClassVar[tuple[float, ...]] = (0.8, 0.7, 0.4)

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        relevance, continuation = parameters["attraction"], parameters["continuation"]
        return continuation[1] * (1.0 - relevance) + continuation[2] * relevance, float(continuation[0])

    def second(self, parameters: Parameters) -> Second:
        """The hidden second trial of the relevance, whose result decides how likely the user goes on after a click."""
        relevance, relevant, (on, _) = (
            parameters["attraction"],
            parameters["continuation"][2],
            self.going_on(parameters),
        )
        return Second("attraction", relevance * relevant / on, relevance * (1.0 - relevant) / (1.0 - on))

    def continued(self, parameters: Parameters, hidden: HiddenCounts) -> tuple[Floats, Floats]:
        """[3] (successes, trials) after a skip, a click on an irrelevant document, and a click on a relevant one."""
        _, went, stopped = self.second(parameters)
        on, off = hidden.on * went, hidden.off * stopped
        clicks = hidden.on + hidden.off
        continued = [hidden.passed, (hidden.on - on).sum(), on.sum()]
        tried = [hidden.passed + hidden.left, (clicks - on - off).sum(), (on + off).sum()]
        return np.array(continued), np.array(tried)
