"""Click models written down by hand: tables of documents of a small world, nothing learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from offrank.clicks import Fitted
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.features import Regression
from offrank.clicks.laws import Cascading, ClickLaw, Independent, Mixed
from offrank.clicks.model import of_documents
from offrank.clicks.sessions import Tally
from offrank.log.batch import Floats, Integers

Tables = Mapping[str, Floats]


@dataclass(frozen=True)
class Hand:
    """Chances of documents, 0.5 where one was never seen."""

    context: ClassVar[None] = None
    columns: ClassVar[None] = None
    regressions: ClassVar[Mapping[str, Regression]] = {}
    relevance_table: ClassVar[str] = "attraction"

    def relevance(self, parameters: Tables, document: Integers) -> Floats:
        return parameters["attraction"][document]

    def relevance_on(self, parameters: Tables, slots: SlateDocuments) -> Floats:
        return self.relevance(parameters, slots.document)

    def examination(self, parameters: Tables) -> Floats | None:
        return None


@dataclass(frozen=True)
class Positions(Hand):
    """P(click) = attraction * curve of the rank."""

    curve: tuple[float, ...]

    def law(self, parameters: Tables, slots: SlateDocuments) -> ClickLaw:
        return Independent(of_documents(parameters["attraction"], slots) * np.array(self.curve)[: slots.shown.shape[1]])

    def examination(self, parameters: Tables) -> Floats | None:
        return np.array(self.curve)


@dataclass(frozen=True)
class Reading(Hand):
    """Reads from the top; goes on with probability `on` after a click, always after none."""

    on: float

    def law(self, parameters: Tables, slots: SlateDocuments) -> ClickLaw:
        attraction = of_documents(parameters["attraction"], slots)
        return Cascading(attraction, np.full(attraction.shape, self.on), np.ones(attraction.shape))


@dataclass(frozen=True)
class Either(Hand):
    """One or the other."""

    first: Positions
    second: Positions

    def law(self, parameters: Tables, slots: SlateDocuments) -> ClickLaw:
        laws = [one.law(parameters, slots) for one in (self.first, self.second)]
        return Mixed(laws, np.array([0.25, 0.75]))


def fitted(model: Hand, attraction: Sequence[Sequence[float]], known: Sequence[int] | None = None) -> Fitted:
    """A model of the items 100 * situation + index of an enumerated world; only the `known` situations were seen."""
    keys = [
        (100 * which + item, chance)
        for which, row in enumerate(attraction)
        for item, chance in enumerate(row)
        if known is None or which in known
    ]
    codes, chances = zip(*keys, strict=True)
    tables = {"attraction": np.array([*chances, 0.5])}
    return Fitted(model, Documents(np.array(codes, dtype=np.int64)), FitResult(tables), Tally())
