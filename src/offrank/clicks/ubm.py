"""UBM: the user browsing model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .base import Parameters
from .click_counts import ClickCounts, browsing_cell, rank_of
from .documents import SlateDocuments
from .examined import Examined
from .fit.click_rates import shrunk_rates
from .fit.curve import Pooled, fit_curve
from .laws import Browsing, ClickLaw
from .model import of_documents
from .pbm import pooled_rank_rates

_OWN = 0.01
"""Variance of the bias of a cell alone, in the units of `Pooled`, whose scale is learnt."""
_ALIKE = np.geomspace(0.25, 1024.0, 25)
"""Shapes by which the click rates of a rank's cells may differ: to 1,024, as clicks above a rank may not matter."""
_CLOSE = 1e-4
"""Tolerance of the position-based curve, in logarithms."""


@dataclass(frozen=True, repr=False)
class UBM(Examined):
    """P(click | clicks above) = examination of (rank, last clicked rank) x attraction (Dupret and Piwowarski 2008).

    Relevance is attraction. Pairs of rank and last click that never occurred are examined as their rank is, whatever
    was clicked; ranks below the lowest one seen as that one at the same distance from the last click. See
    `Examined` for how it learns, and for its settings. The table `examination` is ordered by (rank, last clicked
    rank), (0, 0), (1, 0), (1, 1), (2, 0) ...: ranks from 0; the last click's from 1, with 0 for none. The first is 1,
    unless another is clearly larger: then that one is. Lists of more than 50 ranks are refused: give `top_k=50`.

    Parameters:
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        tolerance: learning stops when no parameter changes by more than this in one step.
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.

    Examples:
        >>> offrank.clicks.click_model("ubm") == offrank.clicks.UBM()
        True
    """

    name: ClassVar[str] = "ubm"
    browsing: ClassVar[bool] = True

    def pooled(self, data: ClickCounts) -> Pooled:
        """The click rates of cells, drawn to that of the cell's rank as far as the cells of a rank are alike.

        The bias of all cells of a rank is as large as in the position-based model, whose ten numbers tell it better
        than some fifty that differ by chance. What is estimated here is by how much more a cell alone is off.
        """
        ranks, (shown, clicked) = data.by_rank(), data.by_cell()
        rank, rates = rank_of(np.arange(data.cells)), pooled_rank_rates(ranks)
        cells = shrunk_rates(clicked, shown, rates.rates, rank, _ALIKE)
        bias = fit_curve(ranks, rates, tolerance=_CLOSE).tau ** 2 * rates.shape[np.ix_(rank, rank)]
        return Pooled(replace(cells, own=cells.own + bias), _OWN * np.eye(data.cells))

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
