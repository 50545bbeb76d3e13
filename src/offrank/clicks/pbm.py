"""PBM: the position-based model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .counts import Counts
from .documents import SlateDocuments
from .examined import Examined
from .fit.curve import Pooled, relative_rates, walk
from .laws import ClickLaw, Independent
from .learnt import Learnt
from .model import Say, of_documents, of_ranks, silent
from .parameters import Parameters


@dataclass(frozen=True, repr=False)
class PBM(Examined):
    """P(click) = examination of the rank x attraction of the document (Craswell et al. 2008).

    Relevance is attraction. Ranks below the lowest one seen are examined like that one. See `Examined` for how it
    learns, and for its settings.
    """

    name: ClassVar[str] = "pbm"

    def pooled(self, data: Counts) -> Pooled:
        """The click rates of ranks; their bias adds up from rank to rank."""
        return rank_rates(data)

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        return super().learn(data.by_rank(), start=start, say=say)

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        examination = of_ranks(parameters["examination"], slots.shown.shape[1])
        return Independent(examination * of_documents(parameters["attraction"], slots))

    def examination(self, parameters: Parameters) -> Floats:
        return parameters["examination"]


def rank_rates(data: Counts) -> Pooled:
    """The click rates of ranks relative to the first's, whose bias adds up from rank to rank."""
    rate, _ = relative_rates(data)
    return Pooled(np.log(rate / rate[0]), walk(np.arange(data.ranks)), rate=rate)
