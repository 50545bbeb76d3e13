"""Results of all studies as tables [runs, models]."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from offrank.log.batch import Floats
from offrank.selection.strategies import Metric
from offrank.sums.estimate import Interval

from ..expectations import Expectations
from .design import FIGURE, POLICIES, Study, StudyDesign
from .study import POINTS, Found

PAPER = Expectations.of("cmip")

METRICS: tuple[Metric, ...] = ("ppl", "ndcg", "cmip")

ALPHA = 1e-4 / 7
"""Level of the paper's tests, divided among seven comparisons."""

BETTER, WORSE = "\u25b2", "\u25bc"

Combination = tuple[Metric, ...]
COMBINATIONS: tuple[Combination, ...] = (
    ("ppl",),
    ("ndcg",),
    ("cmip",),
    ("ppl", "ndcg"),
    ("cmip", "ppl"),
    ("cmip", "ndcg"),
    ("ppl", "ndcg", "cmip"),
)
"""The columns of Table 1, in its order."""

BASELINE, JOINT = COMBINATIONS[3], COMBINATIONS[-1]
"""The combinations that the others are compared with, and all metrics."""


class Configuration(NamedTuple):
    """A row of Table 1."""

    user: str
    logging: str
    test: str

    def __str__(self) -> str:
        return f"{self.user}: {self.logging} to {self.test}"


@dataclass(frozen=True)
class Measure:
    """Definitions of perplexity and CMIP.

    conditional: each click given those above it, as in the published code, instead of Eq. 2. cmip: its estimator.
    """

    conditional: bool = False
    cmip: str = POINTS


@dataclass(frozen=True)
class Findings:
    """Results of all studies of a design."""

    design: StudyDesign
    studies: Mapping[Study, Found]

    def of_sessions(self, sessions: int) -> Findings:
        """Return those of the classic models after another number of sessions a query."""
        return Findings(replace(self.design.classic, sessions=sessions, fewer=()), self.studies)

    def configurations(self) -> Iterator[Configuration]:
        """Return user, logging policy and each of the other policies to test on."""
        for user in self.design.users:
            for logging in self.design.logging:
                yield from (Configuration(user, logging, test) for test in POLICIES if test != logging)

    def perplexity(self, user: str, logging: str, test: str, conditional: bool = False) -> Floats:
        """Return [runs, models], NaN where a model has not learnt; conditional for all if some have no other."""
        every = [one for run in range(self.design.runs) for one in self._models(user, logging, run).values()]
        missing = any(one["unconditional"] is None for model in every for one in model["perplexity"].values())
        how = "conditional" if conditional or missing else "unconditional"
        return self._table(user, logging, lambda one: one["perplexity"][test][how])

    def metric(self, name: Metric, user: str, logging: str, measure: Measure) -> Floats:
        """Return in-distribution "ppl", "ndcg" or "cmip" [runs, models]."""
        if name == "ppl":
            return self.perplexity(user, logging, logging, measure.conditional)
        if name == "ndcg":
            return self._table(user, logging, lambda one: one["ndcg"])
        return self._table(user, logging, lambda one: one["cmip"][measure.cmip]["value"])

    def metrics(self, user: str, logging: str, measure: Measure) -> dict[Metric, Floats]:
        """Return all three metrics by name [runs, models]."""
        return {name: self.metric(name, user, logging, measure) for name in METRICS}

    def tested(self, estimator: str, user: str, logging: str) -> Floats:
        """Return [runs, models] the p-value of point estimates, or whether draws convict a model of bias."""
        key = "p_value" if estimator == POINTS else "biased"
        found = self._table(user, logging, lambda one: one["cmip"][estimator][key])
        return found.astype(np.float64)  # what was not tested is NaN

    def figure(self) -> Found:
        """Return the study of Figure 1 at the published code's temperature."""
        return self.studies[Study(FIGURE, self.design.logging[0], 0, self.design.sessions)]

    def _models(self, user: str, logging: str, run: int) -> Found:
        """Return the results of each model by name: those of classic models, and of neural ones where they learnt."""
        study = Study(user, logging, run, self.design.sessions)
        neural = run < self.design.neural_runs and bool(self.design.neural)
        found: Found = dict(self.studies[study]["models"])
        return found | (self.studies[replace(study, neural=True)]["models"] if neural else {})

    def _table(self, user: str, logging: str, pick: Callable[[Found], Any]) -> Floats:
        runs = [self._models(user, logging, run) for run in range(self.design.runs)]
        names = self.design.names
        return np.array([[pick(models[name]) if name in models else math.nan for name in names] for models in runs])


def over_runs(values: Floats, confidence: float = 0.95) -> Interval:
    """Return the mean of independent values, NaN left out, with Student's t interval; infinite for one value."""
    from scipy.stats import t  # scipy imports slowly

    values = values[np.isfinite(values)]
    n, error, half = len(values), math.inf, math.inf
    mean = float(np.mean(values)) if n else math.nan
    if n > 1:
        error = float(np.std(values, ddof=1) / np.sqrt(n))
        half = float(t.ppf(0.5 + confidence / 2, n - 1)) * error
    return Interval(mean, mean - half, mean + half, error)


def spearman(one: ArrayLike, other: ArrayLike) -> float:
    """Return the rank correlation; nan if all values are equal."""
    from scipy.stats import spearmanr  # scipy imports slowly

    return float(spearmanr(one, other).statistic)
