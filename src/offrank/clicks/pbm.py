"""PBM: the position-based model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..language import Say, silent
from .base import FitResult, Parameters, Role, Roles
from .click_counts import ClickCounts
from .contexts import CODES, by_value, unlinked
from .documents import SlateDocuments
from .examined import Examined
from .fit.click_rates import intraclass
from .fit.click_rates import rates_by_rank as rates_of_ranks
from .fit.curve import Pooled, walk
from .laws import ClickLaw, Independent
from .model import of_documents, of_ranks

_LEVEL = 4.0
"""Variance of the bias of a context's level, in units of that of a step from a rank to the next."""


@dataclass(frozen=True, repr=False)
class PBM(Examined):
    """P(click) = examination of the rank x attraction of the document (Craswell et al. 2008).

    Relevance is attraction. Ranks below the lowest one seen are examined like that one. See `Examined` for how it
    learns, and for its settings.

    Parameters:
        prior: the Beta prior of the tables of documents: "fit" (depends on the mean logged rank of a document),
            "common" (fitted, the same for all), or (a, b).
        tolerance: learning stops when no parameter changes by more than this in one step.
        attraction: columns that the prior of the attraction depends on; by default on the rank alone.
        features: settings of the regression on those columns.
        examination_by: a column of the context, such as the device, each value of which has a curve of its own. A
            value that the training log lacked has the mean of these curves. Documents link the curves, also to each
            other.

    Examples:
        >>> offrank.clicks.click_model("pbm") == offrank.clicks.PBM()
        True
    """

    examination_by: str | None = field(default=None, kw_only=True)

    name: ClassVar[str] = "pbm"

    def pooled(self, data: ClickCounts) -> Pooled:
        """The click rates of ranks; their bias adds up from rank to rank."""
        return pooled_rank_rates(data)

    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult:
        found, data = super().learn(data.by_rank(), say=say), data.by_rank()
        if data.values is None:
            return found
        entries = (data.document, data.cell, data.clicked, data.ranks, data.values)
        missing = cautions_for(FitEvidence(unlinked=unlinked(*entries)))
        found = replace(found, cautions=(*found.cautions, *missing))
        return by_value(found, data.values, data.by_cell()[0])

    @property
    def context(self) -> str | None:
        return self.examination_by

    def roles(self) -> Roles:
        if self.examination_by is None:
            return super().roles()
        return {**super().roles(), "examination": Role.CONTEXT_AND_RANK, CODES: Role.WEIGHTS}

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        curve = parameters["examination"]
        if self.examination_by is not None:
            curve = curve[-1 if slots.context is None else slots.context]
        examination = of_ranks(curve, slots.shown.shape[1])
        return Independent(examination * of_documents(parameters["attraction"], slots))


def pooled_rank_rates(data: ClickCounts) -> Pooled:
    """The click rates of cells relative to the first's, whose bias adds up from rank to rank.

    Contexts have other queries: the level of each but the first has a bias of its own, of any size.
    """
    value, rank = np.divmod(np.arange(data.cells), data.ranks)
    level = _LEVEL * ((value[:, None] == value) + 1.0) * np.outer(value > 0, value > 0)
    return Pooled(rates_of_ranks(data), walk(rank, intraclass(data)) + level)
