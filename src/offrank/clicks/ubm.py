"""UBM: the user browsing model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .counts import Counts, browsing_cell, rank_of
from .documents import SlateDocuments
from .examined import Examined
from .fit.curve import Pooled, fit_curve, relative_rates
from .laws import Browsing, ClickLaw
from .model import of_documents
from .parameters import Parameters
from .pbm import rank_rates


@dataclass(frozen=True, repr=False)
class UBM(Examined):
    """P(click | clicks above) = examination of (rank, last clicked rank) x attraction (Dupret and Piwowarski 2008).

    Relevance is attraction. Pairs of rank and last click that never occurred are examined as their rank is, whatever
    was clicked; ranks below the lowest one seen as that one at the same distance from the last click. See
    `Examined` for how it learns, and for its settings. The table `examination` is ordered by (rank, last clicked
    rank), (0, 0), (1, 0), (1, 1), (2, 0) ...: ranks from 0; the last click's from 1, with 0 for none. The first is 1,
    unless another is clearly larger: then that one is.
    """

    name: ClassVar[str] = "ubm"
    browsing: ClassVar[bool] = True

    def pooled(self, data: Counts) -> Pooled:
        """The position-based model's examination of the rank, times the cell's click rate relative to the rank's."""
        ranks, rank = data.by_rank(), rank_of(np.arange(data.cells))
        curve = fit_curve(ranks, rank_rates(ranks))
        rate, _ = relative_rates(ranks)
        shown, clicked = data.by_cell()
        clicked = clicked + 0.5
        relative = np.log(clicked / (shown + 0.5 / rate[rank]) / rate[rank])
        error = curve.covariance[np.ix_(rank, rank)] + np.diag(1 / clicked)
        return Pooled(np.log(curve.value)[rank] + relative, np.eye(data.cells), error=error)

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        examination = cells_table(parameters["examination"], slots.shown.shape[1])
        return Browsing(of_documents(parameters["attraction"], slots), examination)


def cells_table(examination: Floats, ranks: int) -> Floats:
    """[ranks, ranks + 1] examination by rank and last click; 0 where the last click is not above."""
    rank, last = np.arange(ranks)[:, None], np.arange(ranks + 1)[None, :]
    lowest = int(rank_of(np.array(len(examination) - 1)))
    below = np.maximum(rank - lowest, 0)
    at = np.where(last > 0, np.maximum(last - below, 1), 0)
    found: Integers = np.minimum(browsing_cell(rank - below, np.minimum(at, rank - below)), len(examination) - 1)
    return np.where(last <= rank, examination[found], 0.0)
