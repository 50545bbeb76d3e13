"""RDCTR: a click rate for each document at each rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .countable import Countable
from .counts import Counts
from .documents import Slots
from .fit.priors import FLAT, Prior, fit_rates, given
from .laws import ClickLaw, Independent
from .learnt import Learnt
from .model import Say
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False)
class RDCTR(Countable):
    """The click rate of each document at each rank.

    A rate is the posterior mean under a prior Beta(a_k, b_k) of its rank, fitted to all documents that were shown
    there; a document that was not has the mean of that prior. Ranks below the lowest that was seen have its rates.
    Relevance is sum_k ctr[d, k] / ctr[k] (Eq. 3 of reference [17] of paper cmip-debiasedness) over the ranks where
    anything was clicked. Parameters take documents x ranks.
    """

    prior: Prior = "fit"

    name: ClassVar[str] = "rdctr"

    def __post_init__(self) -> None:
        given(self.prior)

    def roles(self) -> Roles:
        return {"rate": Role.DOCUMENT_AND_RANK, "rate_prior": Role.PRIOR, "rank_rate": Role.RANK}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        data = data.by_rank()
        priors = self._priors(data)
        strength = np.tile(priors.sum(axis=1), (data.documents + 1, 1))
        rate = priors[:, 0] / strength
        before, at = strength[0, data.cell], (data.document, data.cell)
        rate[at] = (data.clicked + rate[at] * before) / (data.shown + before)
        strength[at] += data.shown
        shown, clicked = data.by_cell()
        ranks = np.divide(clicked, shown, out=np.zeros_like(shown), where=shown > 0)
        tables = {"rate": rate, "rate_prior": priors, "rank_rate": ranks}
        return Learnt(tables, {"rate": strength}, facts={"rate_prior": priors.tolist()})

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        rate, ranks = parameters["rate"], np.arange(slots.shown.shape[1])
        return Independent(np.where(slots.shown, rate[slots.document, np.minimum(ranks, rate.shape[1] - 1)], 0.0))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        clicked = parameters["rank_rate"] > 0
        found = parameters["rate"][:, clicked] @ (1.0 / parameters["rank_rate"][clicked])
        return np.asarray(found[document])

    def _priors(self, data: Counts) -> Floats:
        """[ranks, 2], one of each rank."""
        ranks = [data.cell == rank for rank in range(data.ranks)]
        fitted = (
            given(self.prior) or (fit_rates(data.shown[at], data.clicked[at]) if at.any() else FLAT) for at in ranks
        )
        return np.stack([prior.table for prior in fitted])
