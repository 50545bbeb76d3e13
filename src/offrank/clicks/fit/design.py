"""What is known of documents before their clicks: the design of the regression that gives their priors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...log.batch import Floats, Integers

DOCUMENTS_AT_ONCE = 1 << 14
"""Documents that are worked on at once, which bounds the memory beside what is kept."""
KNOTS = 8
"""Largest number of knots of the curve by mean logged rank."""
DOCUMENTS_PER_KNOT = 25
"""Fewest documents per knot: with fewer than twice as many, all documents have one prior."""
STEP = 1.0
"""Prior standard deviation of the difference between neighbouring knots, in logits; and of a standardised covariate."""
STRONGEST = 50.0
"""Most impressions that a prior by mean rank counts for: no curve gives the prior means of documents exactly."""


def blocks(documents: int, together: int = DOCUMENTS_AT_ONCE) -> list[slice]:
    """The documents, some after others."""
    return [slice(begin, begin + together) for begin in range(0, documents, together)]


@dataclass(frozen=True)
class PriorDesign:
    """place: [d] where documents are among the knots of the curve. further: [d, q] more covariates of theirs.

    center: [p] those of an average document. penalty: [p, p] precision of the normal prior of the coefficients around
    0, which is 0 along the level. curve: number of the first columns, which sum to 1. which: where documents share
    places, [documents + 1] whose place and rows each has; last d, of an unseen one.
    """

    place: Floats
    further: Floats
    center: Floats
    penalty: Floats
    curve: int = 1
    which: Integers | None = None

    def __len__(self) -> int:
        return len(self.place)

    @cached_property
    def rows(self) -> Floats:
        """[d, p] covariates of the documents, linear in which is the logit of a prior's mean."""
        curve = np.maximum(1.0 - np.abs(self.place[:, None] - np.arange(self.curve)), 0.0)
        return np.hstack([curve, self.further]) if self.further.size else curve

    def parts(self) -> Iterator[PriorDesign]:
        """The designs of some documents after others."""
        return map(self.take, blocks(len(self)))

    def along(self, numbers: Floats) -> Floats:
        """[d] the first columns times numbers; `@` would wake threads that wait for more by spinning."""
        each = (np.einsum("dp,p->d", part.rows[:, : len(numbers)], numbers) for part in self.parts())
        return np.concatenate([*each])

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
        return cls(np.zeros(documents), np.empty((documents, 0)), np.ones(1), np.zeros((1, 1)))

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
        steps = np.diff(np.eye(len(at)), axis=0) / (STEP * np.sqrt(kept))
        made = cls(place, np.empty((len(rank), 0)), np.zeros(len(at)), steps.T @ steps, len(at))
        return replace(made, center=sum(part.rows.sum(axis=0) for part in made.parts()) / len(rank))

    def with_covariates(self, covariates: Floats) -> PriorDesign:
        """The same with further columns [d, q], best standardised: mean 0 and variance 1."""
        q, p = covariates.shape[1], len(self.center)
        penalty = np.zeros((p + q, p + q))
        penalty[:p, :p], penalty[p:, p:] = self.penalty, np.eye(q) / STEP**2
        center = np.append(self.center, covariates.mean(axis=0))
        return replace(self, further=np.hstack([self.further, covariates]), center=center, penalty=penalty)

    def shared(self) -> PriorDesign:
        """The same in less room: each place is there once, unless there are more columns."""
        if self.further.size:
            return self
        place, which = np.unique(self.place, return_inverse=True)
        which = np.append(which.astype(np.min_scalar_type(len(place))), np.min_scalar_type(len(place)).type(len(place)))
        return replace(self, place=place, further=np.empty((len(place), 0)), which=which)

    def take(self, documents: Integers | NDArray[np.int32] | slice) -> PriorDesign:
        """The design of some documents."""
        return replace(self, place=self.place[documents], further=self.further[documents])

    def level(self, logit: float) -> Floats:
        """[p] coefficients that give every document this logit, apart from further covariates."""
        found = np.zeros(len(self.center))
        found[: self.curve] = logit
        return found
