"""What all studies found, as tables [runs, models]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...folds.estimate import Interval
from ...log.batch import Floats
from ...selection.strategies import Metric
from .design import FIGURE, POLICIES, Design, Study
from .study import Found

METRICS: tuple[Metric, ...] = ("ppl", "ndcg", "cmip")


class Configuration(NamedTuple):
    """A row of Table 1."""

    user: str
    logging: str
    test: str


@dataclass(frozen=True)
class Measure:
    """How perplexity and CMIP are meant.

    conditional: each click given those above it, as in the published code, in the place of Eq. 2. method: of CMIP.
    """

    conditional: bool = False
    method: str = "binned"


@dataclass(frozen=True)
class Findings:
    """All studies of a design."""

    design: Design
    studies: Mapping[Study, Found]

    def configurations(self) -> Iterator[Configuration]:
        """User, logging policy and each of the other policies to test on."""
        for user in self.design.users:
            for logging in self.design.logging:
                yield from (Configuration(user, logging, test) for test in POLICIES if test != logging)

    def perplexity(self, user: str, logging: str, test: str, conditional: bool = False) -> Floats:
        """[runs, models]; conditional for all models where it is all that some have."""
        how = "conditional" if conditional or self.only_conditional(user) else "unconditional"
        return self._table(user, logging, lambda one: one["perplexity"][test][how])

    def only_conditional(self, user: str) -> bool:
        """Whether some model's unconditional perplexity is missing."""
        first = self.studies[Study(user, self.design.logging[0], 0)]["models"].values()
        return any(one["unconditional"] is None for model in first for one in model["perplexity"].values())

    def metric(self, name: Metric, user: str, logging: str, measure: Measure) -> Floats:
        """[runs, models] in-distribution "ppl", "ndcg" or "cmip"."""
        if name == "ppl":
            return self.perplexity(user, logging, logging, measure.conditional)
        if name == "ndcg":
            return self._table(user, logging, lambda one: one["ndcg"])
        return self._table(user, logging, lambda one: one["cmip"][measure.method]["value"])

    def metrics(self, user: str, logging: str, measure: Measure) -> dict[Metric, ArrayLike]:
        """All three by name, [runs, models]."""
        return {name: self.metric(name, user, logging, measure) for name in METRICS}

    def p_values(self, user: str, logging: str) -> Floats:
        """[runs, models] of the hypothesis that a model is debiased, by bins."""
        return self._table(user, logging, lambda one: one["cmip"]["binned"]["p_value"])

    def figure(self) -> Found:
        """The study of Figure 1 at the published code's temperature."""
        return self.studies[Study(FIGURE, self.design.logging[0], 0)]

    def _table(self, user: str, logging: str, pick: Callable[[Found], Any]) -> Floats:
        runs = (self.studies[Study(user, logging, run)]["models"] for run in range(self.design.runs))
        return np.array([[pick(models[name]) for name in self.design.names] for models in runs])


def over_runs(values: Floats, confidence: float = 0.95) -> Interval:
    """Mean of independent values with Student's t interval; infinite where there is one value."""
    from scipy.stats import t  # scipy is slow to import

    n = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
    half = float(t.ppf(0.5 + confidence / 2, n - 1)) * error if n > 1 else float("inf")
    mean = float(np.mean(values))
    return Interval(mean, mean - half, mean + half, error)
