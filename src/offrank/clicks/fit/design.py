"""What is known of documents before their clicks: the design of the regression that gives their priors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats

KNOTS = 8
"""Largest number of knots of the curve by mean logged rank."""
DOCUMENTS_PER_KNOT = 25
"""Fewest documents per knot: with fewer than twice as many, all documents have one prior."""
STEP = 1.0
"""Prior standard deviation of the difference between neighbouring knots, in logits; and of a standardised covariate."""
STRONGEST = 50.0
"""Most impressions that a prior by mean rank counts for: no curve gives the prior means of documents exactly."""


@dataclass(frozen=True)
class PriorDesign:
    """rows: [d, p] covariates of the documents, linear in which is the logit of a prior's mean.

    center: [p] those of an average document. penalty: [p, p] precision of the normal prior of the coefficients around
    0, which is 0 along the level. curve: number of the first columns, which sum to 1.
    """

    rows: Floats
    center: Floats
    penalty: Floats
    curve: int = 1

    @property
    def strongest(self) -> float:
        """Largest strength of a prior."""
        return STRONGEST if self.curve > 1 else np.inf

    @property
    def of_strengths(self) -> tuple[Floats, Floats]:
        """([curve] weights of an average document, [curve, curve] penalty) of the curve alone."""
        return self.center[: self.curve], self.penalty[: self.curve, : self.curve]

    @classmethod
    def common(cls, documents: int) -> PriorDesign:
        """All documents alike: p = 1."""
        return cls(np.ones((documents, 1)), np.ones(1), np.zeros((1, 1)))

    @classmethod
    def of_ranks(cls, rank: Floats, knots: int = KNOTS, kept: float = 1.0) -> PriorDesign:
        """A curve by the mean logged rank [d] of each document: straight between knots at its quantiles.

        The coefficients are the logits at the knots. kept: the share of the variance of mean ranks that documents keep;
        the rest says nothing of them.
        """
        most = min(knots, len(rank) // DOCUMENTS_PER_KNOT)
        # Knots closer than a hundredth of a rank would give columns that hardly differ.
        at = np.unique(np.round(np.quantile(rank, np.linspace(0, 1, max(most, 1))), 2))
        if len(at) < 2 or most < 2:
            return cls.common(len(rank))
        place = np.clip(np.interp(rank, at, np.arange(len(at))), 0, len(at) - 1)
        rows = np.maximum(1.0 - np.abs(place[:, None] - np.arange(len(at))), 0.0)
        steps = np.diff(np.eye(len(at)), axis=0) / (STEP * np.sqrt(kept))
        return cls(rows, rows.mean(axis=0), steps.T @ steps, len(at))

    def with_covariates(self, covariates: Floats) -> PriorDesign:
        """The same with further columns [d, q], best standardised: mean 0 and variance 1."""
        q, p = covariates.shape[1], len(self.center)
        penalty = np.zeros((p + q, p + q))
        penalty[:p, :p], penalty[p:, p:] = self.penalty, np.eye(q) / STEP**2
        center = np.append(self.center, covariates.mean(axis=0))
        return PriorDesign(np.column_stack([self.rows, covariates]), center, penalty, self.curve)

    def take(self, documents: NDArray[np.int64]) -> PriorDesign:
        """The design of some documents."""
        return PriorDesign(self.rows[documents], self.center, self.penalty, self.curve)

    def level(self, logit: float) -> Floats:
        """[p] coefficients that give every document this logit, apart from further covariates."""
        found = np.zeros(len(self.center))
        found[: self.curve] = logit
        return found
