"""Rankers of judged documents: how well a logging policy of a simulated world knows relevance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from ..errors import UsageError
from ..language.spelling import parse
from ..log.batch import Floats
from ..log.graded_queries import Judged

ALWAYS = ("noisy_oracle", "uniform")
"""Rankers whose scores every simulated log has."""


class Ranker(Protocol):
    """Scores documents; a policy then draws rankings from the scores."""

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        """Return a score per document, the higher the better; the same for the same seed [rows]."""


@dataclass(frozen=True)
class EqualScores:
    """Gives every document the score 0, so that rankings drawn from the scores are uniform."""

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        return np.zeros(judged.rows)


@dataclass(frozen=True)
class NoisyOracle:
    """The grade plus normal noise, drawn once per document (paper cmip-debiasedness, section 5.1.3).

    variance: of the noise. The paper says .5; its published code has a standard deviation of .5, which is
    `NoisyOracle(variance=0.25)`.

    Raises:
        UsageError: a negative variance.
    """

    variance: float = 0.5

    def __post_init__(self) -> None:
        if not self.variance >= 0:
            raise UsageError(f"the variance of the noise is {self.variance!r}", "give 0 or more")

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        noise = np.random.default_rng(seed).normal(size=judged.rows)
        return judged.grade + np.sqrt(self.variance) * noise


RANKERS: dict[str, Callable[..., Any]] = {
    "noisy_oracle": NoisyOracle,
    "uniform": EqualScores,
}
"""Rankers by name."""


def parse_ranker(spelling: str | Ranker) -> Ranker:
    """Return the ranker that `noisy_oracle(variance=0.25)` or the like names; a ranker is returned as it is.

    Raises:
        SpellingError: the text is not a ranker's spelling.
        UsageError: arguments that cannot work.
    """
    return cast(Ranker, parse(spelling, RANKERS, "ranker")) if isinstance(spelling, str) else spelling


def rankers_of(given: Sequence[str] | Mapping[str, Ranker]) -> dict[str, Ranker]:
    """Return the rankers under the names of their columns, in order; those that are always there come last."""
    found = dict(given) if isinstance(given, Mapping) else {}
    for spelling in [*(() if isinstance(given, Mapping) else given), *ALWAYS]:
        found.setdefault(spelling.partition("(")[0].strip(), parse_ranker(spelling))
    return found
