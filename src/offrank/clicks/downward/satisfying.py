"""Readers that a clicked document may satisfy: DBN, and SDBN where only that ends a session."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np

from ...log.batch import Floats, Integers
from ..documents import Slots
from ..model import of_documents
from ..parameters import Parameters
from .model import Downward
from .outcomes import Outcomes, Seen
from .tails import Expected, Tails


class Satisfying(Downward):
    """A click satisfies by the document's satisfaction; who is not satisfied goes on by `going`."""

    tables: ClassVar[tuple[str, ...]] = ("attraction", "satisfaction")

    @abstractmethod
    def going(self, parameters: Parameters) -> float:
        """P(examine the next | not satisfied)."""

    def beginning(self, tails: Tails) -> Parameters:
        """Every second click satisfies."""
        return {"satisfaction": np.full(len(tails.clicked), 0.5)}

    @final
    def going_on(self, parameters: Parameters) -> tuple[Floats, float]:
        going = self.going(parameters)
        return going * (1.0 - parameters["satisfaction"]), going

    @final
    def after_click(self, parameters: Parameters, slots: Slots) -> Floats:
        return self.going(parameters) * (1.0 - of_documents(parameters["satisfaction"], slots))

    def counts(self, parameters: Parameters, expected: Expected) -> Mapping[str, tuple[Floats, Floats]]:
        satisfied = expected.off * self.satisfied(parameters)
        return {
            "attraction": (expected.clicked, expected.clicked + expected.missed),
            "satisfaction": (satisfied, expected.on + expected.off),
        }

    @final
    def certain(self, parameters: Parameters, tails: Tails) -> Mapping[str, Outcomes]:
        return {"satisfaction": Outcomes.of_all(np.zeros(len(tails.on)), tails.on)}

    @final
    def possible(self, parameters: Parameters, seen: Seen) -> Mapping[str, Outcomes]:
        satisfied = (1.0 - seen.went) * self.satisfied(parameters)[seen.cell]
        return {"satisfaction": Outcomes(seen.cell, satisfied, 1.0 - satisfied, seen.cell_weight)}

    @final
    def satisfied(self, parameters: Parameters) -> Floats:
        """[documents + 1] P(satisfied | stopped after a click on it): the others were not, and gave up."""
        satisfaction = parameters["satisfaction"]
        return np.asarray(satisfaction / (1.0 - self.going(parameters) * (1.0 - satisfaction)))

    @final
    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """Attraction times satisfaction."""
        return (parameters["attraction"] * parameters["satisfaction"])[document]
