"""NCM, the neural click model (Borisov et al. 2016): a recurrent network that predicts the next click."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...log.batch import Floats, Integers
from ..documents import SlateDocuments
from ..fit.em import logit
from ..parameters import Parameters
from . import cells
from .base import RecurrentModel
from .cells import Array, NetworkInput, Weights


@dataclass(frozen=True, repr=False, kw_only=True)
class NCM(RecurrentModel):
    """A network that reads the query, then each document with the last click above it; its state gives the click.

    embedding: numbers per query and per document; click_embedding: per click above. The first step reads the query
    alone, all others see zeros for the query; above the first document there is no click, for which zeros stand, in
    training as in `relevance`: the click probability of a document at the top of the list (Borisov et al.).
    """

    name: ClassVar[str] = "ncm"
    embedding: int = 64
    click_embedding: int = 4

    def tables(self, documents: int, queries: int) -> dict[str, tuple[int, int]]:
        return {"document": (documents + 1, self.embedding), "query": (queries + 1, self.embedding)}

    def dense(self, ranks: int) -> dict[str, tuple[int, ...]]:
        return {
            "query_input": (self.embedding, 3 * self.hidden),
            "input": (self.embedding + self.click_embedding, 3 * self.hidden),
            "click": (2, self.click_embedding),
        }

    def levels(self, click_rate: float) -> dict[str, Floats]:
        return {"output_bias": logit(np.array([click_rate]))}

    def inputs(self, rows: Mapping[str, Array], ranks: int, weights: Weights, xp: Any) -> NetworkInput:
        read = rows["query"] @ weights["query_input"] + weights["bias"]
        nothing = xp.zeros((len(rows["query"]), self.hidden), dtype=read.dtype)
        return NetworkInput(cells.step(nothing, read, weights, xp), rows["document"], None)

    def relevance_in(self, parameters: Parameters, document: Integers, query: Integers) -> Floats:
        pairs = np.stack([document.ravel(), query.ravel()], axis=1)
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        alone = SlateDocuments(distinct[:, :1], np.ones((len(distinct), 1), np.bool_), distinct[:, 1])
        chance = self.law(parameters, alone).conditional(np.zeros((len(distinct), 1)))[:, 0]
        return np.asarray(chance[place].reshape(document.shape))
