"""Click models with parameters, each beside its story in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from offrank.clicks import CCM, CM, DBN, DCM, SDBN, ClickModel
from offrank.clicks.documents import SlateDocuments
from offrank.clicks.laws import ClickLaw
from offrank.clicks.sessions import Sessions
from tests.clicks import click_patterns as stories
from tests.clicks.click_patterns import Path

ATTRACTION = [0.31, 0.82, 0.07, 0.5, 0.64, 0.2]
"""Of five documents, and of those that were never seen."""
SATISFACTION = [0.9, 0.3, 0.55, 0.2, 0.71, 0.45]
BY_RANK = [0.7, 0.2, 0.95, 0.4]
THREE = [0.85, 0.35, 0.6]
HOLE = None
SLATES = [[0, 1, 2, 3], [4, HOLE, 1, 0], [2, -1, 3, HOLE], [1, HOLE, HOLE, HOLE], [-1, 0, 4, 1]]
"""Documents by rank: -1 was never seen, HOLE is no item at all."""


@dataclass(frozen=True)
class Told:
    """A model, its parameters, and its story for a slate."""

    model: ClickModel
    parameters: dict[str, Any]
    story: Callable[[list[int | None]], Iterable[Path]]

    def law(self, slates: list[list[int | None]]) -> ClickLaw:
        return self.model.law(self.parameters, slots(slates))


def slots(slates: list[list[int | None]]) -> SlateDocuments:
    shown = np.array([[one is not HOLE for one in slate] for slate in slates])
    return SlateDocuments(np.array([[-1 if one is HOLE else one for one in slate] for slate in slates]), shown)


def of(table: list[float], slate: list[int | None]) -> list[float]:
    """Each document's entry; 0 for none."""
    return [0.0 if one is HOLE else table[one] for one in slate]


def tables(**given: list[float]) -> dict[str, Any]:
    return {name: np.array(table) for name, table in given.items()}


TOLD = {
    "cascade": Told(CM(), tables(attraction=ATTRACTION), lambda slate: stories.cascade(of(ATTRACTION, slate))),
    "dcm": Told(
        DCM(),
        tables(attraction=ATTRACTION, continuation=BY_RANK),
        lambda slate: stories.dcm(of(ATTRACTION, slate), BY_RANK),
    ),
    "ccm": Told(
        CCM(),
        tables(attraction=ATTRACTION, continuation=THREE),
        lambda slate: stories.ccm(of(ATTRACTION, slate), THREE),
    ),
    "dbn": Told(
        DBN(),
        tables(attraction=ATTRACTION, satisfaction=SATISFACTION, continuation=[0.8]),
        lambda slate: stories.dbn(of(ATTRACTION, slate), of(SATISFACTION, slate), 0.8),
    ),
    "sdbn": Told(
        SDBN(),
        tables(attraction=ATTRACTION[::-1], satisfaction=SATISFACTION),
        lambda slate: stories.dbn(of(ATTRACTION[::-1], slate), of(SATISFACTION, slate), 1.0),
    ),
}


def drawn(told: Told, n: int, seed: int, *, lists: int = 40, ranks: int = 4) -> Sessions:
    """n sessions with random slates of the model's documents; some shorter than others."""
    rng = np.random.default_rng(seed)
    documents = next(len(table) for name, table in told.parameters.items() if name.endswith("attraction")) - 1
    slates = np.argsort(rng.random((lists, documents)), axis=1)[:, :ranks]
    slates[np.arange(ranks) >= rng.integers(max(ranks - 2, 1), ranks + 1, lists)[:, None]] = -1
    document = slates[rng.integers(0, lists, n)]
    click = told.model.law(told.parameters, SlateDocuments(document, document >= 0)).sample(rng)
    return Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(n), documents)
