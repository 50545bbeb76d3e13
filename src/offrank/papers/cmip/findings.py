"""Results of all studies as tables [runs, models], and how well they predict out-of-distribution perplexity."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import optional
from ...folds.estimate import Interval
from ...log.batch import Floats, Integers
from ...options import Say
from ...selection.strategies import Metric
from ..expectations import Expectations
from .design import FIGURE, POLICIES, Study, StudyDesign, seed_of
from .study import Found

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

Split = tuple[Integers, Integers]


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

    conditional: each click given those above it, as in the published code, instead of Eq. 2. method: of CMIP.
    """

    conditional: bool = False
    method: str = "binned"


@dataclass(frozen=True)
class Findings:
    """Results of all studies of a design."""

    design: StudyDesign
    studies: Mapping[Study, Found]

    def configurations(self) -> Iterator[Configuration]:
        """Return user, logging policy and each of the other policies to test on."""
        for user in self.design.users:
            for logging in self.design.logging:
                yield from (Configuration(user, logging, test) for test in POLICIES if test != logging)

    def perplexity(self, user: str, logging: str, test: str, conditional: bool = False) -> Floats:
        """Return [runs, models]; conditional for all models if some have no other."""
        first = self.studies[Study(user, self.design.logging[0], 0)]["models"].values()
        missing = any(one["unconditional"] is None for model in first for one in model["perplexity"].values())
        how = "conditional" if conditional or missing else "unconditional"
        return self._table(user, logging, lambda one: one["perplexity"][test][how])

    def metric(self, name: Metric, user: str, logging: str, measure: Measure) -> Floats:
        """Return in-distribution "ppl", "ndcg" or "cmip" [runs, models]."""
        if name == "ppl":
            return self.perplexity(user, logging, logging, measure.conditional)
        if name == "ndcg":
            return self._table(user, logging, lambda one: one["ndcg"])
        return self._table(user, logging, lambda one: one["cmip"][measure.method]["value"])

    def metrics(self, user: str, logging: str, measure: Measure) -> dict[Metric, ArrayLike]:
        """Return all three metrics by name [runs, models]."""
        return {name: self.metric(name, user, logging, measure) for name in METRICS}

    def p_values(self, user: str, logging: str) -> Floats:
        """Return p-values [runs, models] of the hypothesis that a model is debiased, by bins."""
        return self._table(user, logging, lambda one: one["cmip"]["binned"]["p_value"])

    def figure(self) -> Found:
        """Return the study of Figure 1 at the published code's temperature."""
        return self.studies[Study(FIGURE, self.design.logging[0], 0)]

    def _table(self, user: str, logging: str, pick: Callable[[Found], Any]) -> Floats:
        runs = (self.studies[Study(user, logging, run)]["models"] for run in range(self.design.runs))
        return np.array([[pick(models[name]) for name in self.design.names] for models in runs])


def over_runs(values: Floats, confidence: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's t interval; infinite for one value."""
    from scipy.stats import t  # scipy imports slowly

    n, mean, error, half = len(values), float(np.mean(values)), math.inf, math.inf
    if n > 1:
        error = float(np.std(values, ddof=1) / np.sqrt(n))
        half = float(t.ppf(0.5 + confidence / 2, n - 1)) * error
    return Interval(mean, mean - half, mean + half, error)


def spearman(one: ArrayLike, other: ArrayLike) -> float:
    """Return the rank correlation; nan if all values are equal."""
    from scipy.stats import spearmanr  # scipy imports slowly

    return float(spearmanr(one, other).statistic)


@dataclass(frozen=True)
class Scores:
    """A row of Table 1. adjusted: combination -> [splits] adjusted R^2 on random held-out rows, as in the paper.

    grouped: combination -> [splits] R^2 on models held out with all their runs.
    """

    adjusted: Mapping[Combination, Floats]
    grouped: Mapping[Combination, Floats]

    def mark(self, combination: Combination) -> str:
        """Return whether a combination is better or worse than the paper's baseline, by Welch's test at its level."""
        from scipy.stats import ttest_ind  # scipy imports slowly

        ours, theirs = self.adjusted[combination], self.adjusted[BASELINE]
        if np.ptp(ours) or np.ptp(theirs):
            differs = bool(ttest_ind(ours, theirs, equal_var=False).pvalue < ALPHA)
        else:
            differs = bool(ours[0] != theirs[0])
        return "" if not differs else BETTER if ours.mean() > theirs.mean() else WORSE


def tree_scores(findings: Findings, measure: Measure, say: Say) -> dict[Configuration, Scores]:
    """Compute Table 1: how well regression trees predict out-of-distribution perplexity from other metrics."""
    found, design = {}, findings.design
    grouped = list(_by_model(design.runs, len(design.names)))
    for row in findings.configurations():
        say(f"trees: {row}")
        metrics = findings.metrics(row.user, row.logging, measure)
        target = findings.perplexity(row.user, row.logging, row.test, measure.conditional).ravel()
        rng = np.random.default_rng(seed_of(design.seed, *row))
        random = [split for _ in range(design.repetitions) for split in _halves(rng.permutation(len(target)))]
        features = {
            combination: np.stack([np.ravel(metrics[name]) for name in combination], axis=1)
            for combination in COMBINATIONS
        }
        found[row] = Scores(
            {combination: adjusted_scores(each, target, random) for combination, each in features.items()},
            {combination: pooled_scores(each, target, grouped) for combination, each in features.items()},
        )
    return found


def _halves(order: Integers) -> Iterator[Split]:
    """Return (train, test), and the reverse."""
    middle = (len(order) + 1) // 2
    yield order[middle:], order[:middle]
    yield order[:middle], order[middle:]


def _by_model(runs: int, models: int) -> Iterator[list[Split]]:
    """Yield every split of the models into two, as the two (train, test) that it makes."""
    model = np.tile(np.arange(models), runs)
    for chosen in combinations(range(models), models // 2):
        held = np.isin(model, chosen)
        one, other = np.flatnonzero(held), np.flatnonzero(~held)
        yield [(one, other), (other, one)]


def adjusted_scores(features: Floats, target: Floats, splits: list[Split]) -> Floats:
    """Return 1 - (1 - R^2) (n - 1) / (n - p - 1) on n held-out rows [splits]; features [rows, p]. NaN for too few."""
    found, p = np.full(len(splits), np.nan), features.shape[1]
    for place, (train, test) in enumerate(splits):
        if (n := len(test)) > p + 1:
            share = _explained(target[test], _predicted(features, target, train, test))
            found[place] = 1 - (1 - share) * (n - 1) / (n - p - 1)
    return found


def pooled_scores(features: Floats, target: Floats, splits: list[list[Split]]) -> Floats:
    """Return R^2 over all rows [splits], each predicted by a tree that was trained without its model."""
    found = np.empty(len(splits))
    for place, both in enumerate(splits):
        said = np.empty(len(target))
        for train, test in both:
            said[test] = _predicted(features, target, train, test)
        found[place] = _explained(target, said)
    return found


def _predicted(features: Floats, target: Floats, train: Integers, test: Integers) -> Floats:
    # Trees use 32 bits; input validation would take most of the time.
    tree, given = trees().DecisionTreeRegressor(random_state=0), features.astype(np.float32)
    tree.fit(given[train], target[train], check_input=False)
    return np.asarray(tree.predict(given[test], check_input=False))


def _explained(target: Floats, said: Floats) -> float:
    """Return R^2."""
    return float(1 - ((target - said) ** 2).sum() / ((target - target.mean()) ** 2).sum())


def trees() -> Any:
    """Import scikit-learn's trees.

    Raises:
        MissingExtraError: it is not installed.
    """
    return optional("sklearn.tree", "Table 1 needs scikit-learn", "models")
