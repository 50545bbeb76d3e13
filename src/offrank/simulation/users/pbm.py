"""The position-based user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...clicks.laws import Independent
from ...log.batch import Contexts, Floats, Integers
from ...log.source import Needs
from ...spelling import Spelled
from ..judged import Preset
from .base import GRADE, check, needs, probability_of_relevance, seen


@dataclass(frozen=True, repr=False)
class PBMUser(Spelled):
    """Looks at rank k with probability 1 / k, and clicks what is relevant: P(C_k = 1) = R / k.

    R = .1 + .9 (2^g - 1) / (2^highest - 1); paper cmip-debiasedness, section 5.1.4. Both presets are the same.
    highest: the largest grade that judges could give.
    """

    name: ClassVar[str] = "pbm"
    highest: float = field(default=4.0, kw_only=True)
    preset: Preset = field(default="paper", kw_only=True)

    def __post_init__(self) -> None:
        check(self.preset, self.highest)

    def law(self, contexts: Contexts, slates: Integers) -> Independent:
        on = seen(contexts, slates)
        return Independent(on.of(probability_of_relevance(on.grade, self.highest) / ranks(slates)))

    def relevance(self, contexts: Contexts) -> Floats:
        return probability_of_relevance(contexts.scores[GRADE], self.highest)

    def needs(self) -> Needs:
        return needs()


def ranks(slates: Integers) -> Floats:
    """[k] ranks of slates, counted from 1."""
    return np.arange(1.0, slates.shape[1] + 1)
