"""CCM: users go on after a click by how relevant the document was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .documents import Slots
from .downward import Downward, Expected, Outcomes, Seen, Tails
from .model import of_documents
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False, kw_only=True)
class CCM(Downward):
    """The click chain model of Guo et al. (2009).

    An examined document is clicked with its relevance r (`attraction`). The user then goes on with probability
    alpha_1 after a skip, and alpha_2 (1 - r) + alpha_3 r after a click: `continuation` is (alpha_1, alpha_2, alpha_3).

    tolerance: learning ends when no probability moves further than this in a step.
    """

    tolerance: float = 1e-5

    name: ClassVar[str] = "ccm"
    shared: ClassVar[Roles] = {"continuation": Role.SHARED}

    def beginning(self, tails: Tails) -> Parameters:
        """Most users go on, the fewest after what was relevant."""
        return {"continuation": np.array([0.8, 0.7, 0.4])}

    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        return _after_click(parameters["attraction"], parameters["continuation"]), float(parameters["continuation"][0])

    def after_click(self, parameters: Parameters, slots: Slots) -> Floats:
        return _after_click(of_documents(parameters["attraction"], slots), parameters["continuation"])

    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]:
        """A click is a second look at the relevance: a hidden one, by which the user goes on."""
        went, stopped = _relevant(parameters)
        on, off = expected.on * went, expected.off * stopped
        clicks = expected.on + expected.off
        continued = [expected.passed, (expected.on - on).sum(), on.sum()]
        tried = [expected.passed + expected.left, (clicks - on - off).sum(), (on + off).sum()]
        return {
            "attraction": (expected.clicked + on + off, expected.clicked + expected.missed + clicks),
            "continuation": (np.array(continued), np.array(tried)),
        }

    def certain(self, parameters: Parameters, tails: Tails) -> Mapping[str, Outcomes]:
        return {"attraction": Outcomes.of_all(_relevant(parameters)[0], tails.on)}

    def possible(self, parameters: Parameters, seen: Seen) -> Mapping[str, Outcomes]:
        went, stopped = (share[seen.cell] for share in _relevant(parameters))
        relevant = stopped + seen.went * (went - stopped)
        return {"attraction": Outcomes(seen.cell, relevant, 1.0 - relevant, seen.cell_weight)}


def _after_click(relevance: Floats, continuation: Floats) -> Floats:
    return np.asarray(continuation[1] * (1.0 - relevance) + continuation[2] * relevance)


def _relevant(parameters: Parameters) -> tuple[Floats, Floats]:
    """[documents + 1] P(relevant | went on after a click), P(relevant | stopped after a click)."""
    relevance, continuation = parameters["attraction"], parameters["continuation"]
    on = _after_click(relevance, continuation)
    return relevance * continuation[2] / on, relevance * (1.0 - continuation[2]) / (1.0 - on)
