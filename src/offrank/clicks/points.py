"""EM for examination and attraction as points: what mixtures, which have no time for integrals, learn by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..log.batch import Floats, Integers
from .counts import Counts
from .em import Climb, Parameters, climb


@dataclass(frozen=True)
class Points:
    """Both tables by maximum likelihood, or with Beta(a, b) of the logits of attractions, by maximum posterior.

    `step` is EM with attractedness and examination hidden: of a view without click,
    P(attracted) = a (1 - e) / (1 - e a) and P(examined) = e (1 - a) / (1 - e a).
    """

    counts: Counts
    a: float = 0.0
    b: float = 0.0

    def climb(self, start: Parameters, *, tolerance: float, rounds: int) -> Climb:
        """From attraction [documents] and examination [cells]; the first cell's examination stays what it is."""
        return climb(self.step, start, tolerance=tolerance, rounds=rounds)

    def step(self, parameters: Parameters) -> tuple[Parameters, float]:
        data, attraction, examination = self.counts, parameters["attraction"], parameters["examination"]
        a, e = attraction[data.document], examination[data.cell]
        skipped, missed = data.shown - data.clicked, np.maximum(1 - a * e, 1e-12)
        height = float(data.clicked @ np.log(a * e) + skipped @ np.log(missed))
        height += float((self.a * np.log(attraction) + self.b * np.log1p(-attraction)).sum())
        drawn = _sums(data.document, data.clicked + skipped * a * (1 - e) / missed, data.documents)
        looked = _sums(data.cell, data.clicked + skipped * e * (1 - a) / missed, data.cells)
        documents, cells = data.by_document()[0], data.by_cell()[0]
        after = np.where(cells > 0, looked / np.maximum(cells, 1e-300), examination)
        after[0] = examination[0]
        return {"attraction": (drawn + self.a) / (documents + self.a + self.b), "examination": after}, height


def _sums(place: Integers, values: Floats, size: int) -> Any:
    return np.bincount(place, weights=values, minlength=size)
