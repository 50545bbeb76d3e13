"""CACM, the context-aware click model (Chen et al. 2020), in the variant without its knowledge graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...log.batch import Floats, Integers
from ..fit.em import logit
from ..parameters import Parameters
from . import cells
from .base import RecurrentModel
from .cells import Array, NetworkInput, Weights


@dataclass(frozen=True, repr=False, kw_only=True)
class CACM(RecurrentModel):
    """Examination from a recurrent network over ranks and clicks above, times the relevance of each document.

    embedding: numbers per rank; click_embedding: per click above. The click is the product of both, as in Eq. 14 of
    Deffayet et al. 2022, whom paper cmip-debiasedness follows. Ranks below the lowest one learnt from are treated
    like that one. relevance = sigmoid(common level + level of the query + the document's own level): single numbers,
    hence the wider prior. A new document has the level of its query.
    """

    name: ClassVar[str] = "cacm"
    hidden: int = 32
    rate: float = 0.05
    patience: int = 3
    prior: float = 1.5
    embedding: int = 4
    click_embedding: int = 4

    def tables(self, documents: int, queries: int) -> dict[str, tuple[int, int]]:
        return {"document": (documents + 1, 1), "query": (queries + 1, 1)}

    def dense(self, ranks: int) -> dict[str, tuple[int, ...]]:
        return {
            "position": (ranks, self.embedding),
            "input": (self.embedding + self.click_embedding, 3 * self.hidden),
            "click": (2, self.click_embedding),
        }

    def levels(self, click_rate: float) -> dict[str, Floats]:
        # Initial examination of one half.
        return {"output_bias": np.zeros(1), "common": logit(np.array([min(2 * click_rate, 0.9)]))}

    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Weights, xp: Any) -> NetworkInput:
        document, known = rows["document"], weights["position"]
        position = known[np.minimum(np.arange(ranks), len(known) - 1)][:, None]
        nothing = xp.zeros((document.shape[1], self.hidden), dtype=document.dtype)
        return NetworkInput(nothing, position, document[..., 0] + rows["query"][..., 0] + weights["common"][0])

    def relevance_in(self, parameters: Parameters, document: Integers, query: Integers) -> Floats:
        level = parameters["document_embedding"][document, 0] + parameters["query_embedding"][query, 0]
        return cells.sigmoid(level + parameters["common"][0], np)
