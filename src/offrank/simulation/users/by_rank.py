"""Users whose clicks are independent: the position-based one, and one who trusts the ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...clicks.laws import Independent
from ...log.batch import Contexts, Floats, Integers
from .base import GradeReader, probability_of_relevance, seen


@dataclass(frozen=True, repr=False)
class PBMUser(GradeReader):
    """Looks at rank k with probability 1 / k, and clicks what is relevant: P(C_k = 1) = R / k.

    R = .1 + .9 (2^g - 1) / (2^highest - 1); paper cmip-debiasedness, section 5.1.4. Both presets are the same.
    highest: the largest possible grade.

    Parameters:
        highest: the highest possible grade.
        preset: "paper", or "published-code": as the code that was published with it.

    Examples:
        >>> offrank.simulation.users.PBMUser().highest
        4.0
    """

    name: ClassVar[str] = "pbm"

    def law(self, contexts: Contexts, slates: Integers) -> Independent:
        on = seen(contexts, slates)
        return Independent(on.of(self.relevance_of(on.grade) / _ranks(slates)))

    def relevance_of(self, grade: Floats) -> Floats:
        return probability_of_relevance(grade, self.highest)


@dataclass(frozen=True, repr=False)
class TrustUser(GradeReader):
    """Also clicks irrelevant documents at high ranks: P(C_k = 1) = (e+_k R + e-_k (1 - R)) / k, affine in R.

    e+_k = 1 - (min(k, 20) + 1) / 100 and e-_k = .65 / min(k, 10) are the values in simulations that follow Vardasbi
    et al. (CIKM 2020); paper cmip-debiasedness has no such user. paper: R = .1 + .9 (2^g - 1) / (2^highest - 1).
    published-code: the same without the .1, R = (2^g - 1) / (2^highest - 1).

    Parameters:
        highest: the highest possible grade.
        preset: "paper", or "published-code": as the code that was published with it.

    Examples:
        >>> offrank.simulation.users.TrustUser().highest
        4.0
    """

    name: ClassVar[str] = "trust"

    def law(self, contexts: Contexts, slates: Integers) -> Independent:
        on, rank = seen(contexts, slates), _ranks(slates)
        relevance = self.relevance_of(on.grade)
        relevant, other = 1 - (np.minimum(rank, 20) + 1) / 100, 0.65 / np.minimum(rank, 10)
        return Independent(on.of((relevant * relevance + other * (1 - relevance)) / rank))


def _ranks(slates: Integers) -> Floats:
    """Return the ranks of slates, counted from 1 [k]."""
    return np.arange(1.0, slates.shape[1] + 1)
