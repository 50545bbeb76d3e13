"""Rankers of judged documents: how well a logging policy of a simulated world knows what is relevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from ..errors import UsageError
from ..log.batch import Floats
from ..log.judged import Judged
from ..spelling import parse
from .trained import LambdaMART, Lasso, Tree


class Ranker(Protocol):
    """Scores documents; a policy then draws rankings from the scores."""

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        """[rows] a score per document, the higher the better; the same for the same seed."""


@dataclass(frozen=True)
class Uniform:
    """Every document has the score 0, so that rankings drawn from the scores are uniform."""

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        return np.zeros(judged.rows)


@dataclass(frozen=True)
class NoisyOracle:
    """The grade plus normal noise, drawn once per document (paper cmip-debiasedness, section 5.1.3).

    variance: of the noise. The paper says .5; the code published with it has a standard deviation of .5, which is
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
    "lambdamart": LambdaMART,
    "noisy_oracle": NoisyOracle,
    "uniform": Uniform,
    "lasso": Lasso,
    "tree": Tree,
}
"""Rankers by name."""


def ranker(spelling: str | Ranker) -> Ranker:
    """The ranker that `lambdamart(trees=50)` or the like names; a ranker is returned as it is.

    Raises:
        SpellingError: not a ranker's spelling.
        UsageError: arguments that cannot work.
    """
    return cast(Ranker, parse(spelling, RANKERS, "ranker")) if isinstance(spelling, str) else spelling
