"""A method of CMIP that knows nothing of several draws of a relevance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial

import numpy as np

from offrank.metrics.cmip_methods.base import GradedDocuments, Information, Progress, no_progress


class OverDraws(ABC):
    """A method that measures each draw of the relevance alone."""

    @abstractmethod
    def of_draw(
        self, documents: GradedDocuments, rng: np.random.Generator, permutations: int, progress: Progress
    ) -> Information:
        """The information of one draw."""

    def value(self, documents: GradedDocuments, rng: np.random.Generator) -> float:
        """The information alone."""
        return self.measure(documents, rng, 0, None).value

    def measure(
        self, documents: GradedDocuments, rng: np.random.Generator, permutations: int, progress: Progress | None
    ) -> Information:
        """The mean over draws, as uncertain as one of them on average; the null is the first one's."""
        draws, tell = list(documents.each()), progress or no_progress
        told = [partial(_later, tell, place, len(draws)) for place in range(len(draws))]
        found = [self.of_draw(one, rng, permutations, say) for one, say in zip(draws, told, strict=True)]
        value, error = np.mean([one.value for one in found]), np.sqrt(np.mean([one.standard_error**2 for one in found]))
        return replace(found[0], value=float(value), standard_error=float(error))


def _later(tell: Progress, place: int, draws: int, done: int, total: int) -> None:
    """Tell of a step of one of several draws."""
    tell(place * total + done, draws * total)
