"""DCTR: a click rate for each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .countable import Countable
from .counts import Counts
from .documents import Slots
from .fit.priors import Prior, fit_rates, given
from .laws import ClickLaw, Independent
from .learnt import Learnt
from .model import Say, of_documents
from .parameters import Parameters, Role, Roles


@dataclass(frozen=True, repr=False)
class DCTR(Countable):
    """The click rate of each document, wherever it is shown: its relevance.

    A rate is the posterior mean (clicked + a) / (shown + a + b) under a prior Beta(a, b), which is fitted to all
    documents by the likelihood of the beta-binomial unless it is given. Unseen documents have a / (a + b).
    """

    prior: Prior = "fit"

    name: ClassVar[str] = "dctr"

    def __post_init__(self) -> None:
        given(self.prior)

    def roles(self) -> Roles:
        return {"rate": Role.DOCUMENT, "rate_prior": Role.PRIOR}

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = len) -> Learnt:
        shown, clicked = data.by_document()
        prior = given(self.prior) or fit_rates(shown, clicked)
        strength = np.append(shown, 0.0) + prior.strength
        rate = (np.append(clicked, 0.0) + prior.a) / strength
        tables = {"rate": rate, "rate_prior": prior.table}
        return Learnt(tables, {"rate": strength}, facts={"rate_prior": [prior.a, prior.b]})

    def law(self, parameters: Parameters, slots: Slots) -> ClickLaw:
        return Independent(of_documents(parameters["rate"], slots))

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        return parameters["rate"][document]
