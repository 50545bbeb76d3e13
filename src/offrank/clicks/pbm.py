"""PBM: the position-based model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats
from .counts import Counts
from .documents import SlateDocuments
from .examined import Examined
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

    def guess(self, data: Counts) -> Floats:
        """The click rates of ranks, as if their documents were alike."""
        return rank_rates(data)

    def learn(self, data: Counts, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        return super().learn(data.by_rank(), start=start, say=say)

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        examination = of_ranks(parameters["examination"], slots.shown.shape[1])
        return Independent(examination * of_documents(parameters["attraction"], slots))

    def examination(self, parameters: Parameters) -> Floats:
        return parameters["examination"]


def rank_rates(data: Counts) -> Floats:
    """[ranks] click rates relative to the first rank's, from .001 to 1."""
    shown, clicked = data.by_cell()
    rate = (clicked + 0.5) / (shown + 1)
    return np.clip(rate / rate[0], 1e-3, 1.0)
