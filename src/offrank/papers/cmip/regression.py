"""Table 1: how well out-of-distribution perplexity follows from other metrics, by regression trees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import optional
from ...log.batch import Floats, Integers
from ...selection.strategies import Metric
from .findings import Configuration, Findings, Measure
from .ground import Say, number

ALPHA = 1e-4 / 7
"""Level of the paper's tests, shared among seven comparisons."""

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

BASELINE: Combination = ("ppl", "ndcg")
"""What the other combinations are compared with."""

Split = tuple[Integers, Integers]


@dataclass(frozen=True)
class Scores:
    """A row of Table 1. adjusted: combination -> [splits] adjusted R^2 on rows left out at random, as in the paper.

    grouped: combination -> [splits] R^2 of predictions for models that were left out with all their runs.
    """

    adjusted: Mapping[Combination, Floats]
    grouped: Mapping[Combination, Floats]

    def mark(self, combination: Combination) -> str:
        """Whether a combination is better or worse than the paper's baseline, by its test."""
        if combination == BASELINE:
            return ""
        ours, theirs = self.adjusted[combination], self.adjusted[BASELINE]
        if not different(ours, theirs):
            return ""
        return BETTER if ours.mean() > theirs.mean() else WORSE


def different(one: Floats, other: Floats) -> bool:
    """Welch's two-tailed t-test at the paper's level."""
    from scipy.stats import ttest_ind  # scipy is slow to import

    if not (np.ptp(one) or np.ptp(other)):
        return bool(one[0] != other[0])
    return bool(ttest_ind(one, other, equal_var=False).pvalue < ALPHA)


def table_1(findings: Findings, measure: Measure, say: Say) -> dict[Configuration, Scores]:
    """Each configuration's scores."""
    found = {}
    for row in findings.configurations():
        say(f"trees: {row.user}, {row.logging} to {row.test}")
        found[row] = _scores(findings, row, measure)
    return found


def _scores(findings: Findings, row: Configuration, measure: Measure) -> Scores:
    design = findings.design
    metrics = findings.metrics(row.user, row.logging, measure)
    target = findings.perplexity(row.user, row.logging, row.test, measure.conditional).ravel()
    rng = np.random.default_rng(number(design.seed, *row))
    random = [split for _ in range(design.repetitions) for split in _halves(rng.permutation(len(target)))]
    grouped = list(_by_model(design.runs, len(design.names)))
    adjusted: dict[Combination, Floats] = {}
    honest: dict[Combination, Floats] = {}
    for combination in COMBINATIONS:
        features = np.stack([np.ravel(metrics[name]) for name in combination], axis=1)
        adjusted[combination] = adjusted_scores(features, target, random)
        honest[combination] = pooled_scores(features, target, grouped)
    return Scores(adjusted, honest)


def _halves(order: Integers) -> Iterator[Split]:
    """(train, test), and the other way round."""
    middle = (len(order) + 1) // 2
    yield order[middle:], order[:middle]
    yield order[:middle], order[middle:]


def _by_model(runs: int, models: int) -> Iterator[list[Split]]:
    """Every way to part the models in two, as the two (train, test) that it makes."""
    model = np.tile(np.arange(models), runs)
    for chosen in combinations(range(models), models // 2):
        held = np.isin(model, chosen)
        one, other = np.flatnonzero(held), np.flatnonzero(~held)
        yield [(one, other), (other, one)]


def adjusted_scores(features: Floats, target: Floats, splits: list[Split]) -> Floats:
    """[splits] 1 - (1 - R^2) (n - 1) / (n - p - 1) on the n rows left out; features [rows, p]. NaN for too few rows."""
    return np.array(
        [_adjusted(target[test], _predicted(features, target, train, test), features) for train, test in splits]
    )


def pooled_scores(features: Floats, target: Floats, splits: list[list[Split]]) -> Floats:
    """[splits] R^2 over all rows, each predicted by a tree that has seen none of its model's."""
    found = np.empty(len(splits))
    for place, both in enumerate(splits):
        said = np.empty(len(target))
        for train, test in both:
            said[test] = _predicted(features, target, train, test)
        found[place] = _explained(target, said)
    return found


def _predicted(features: Floats, target: Floats, train: Integers, test: Integers) -> Floats:
    # Trees compare 32 bits; checks of the input would take most of the time.
    tree, given = trees().DecisionTreeRegressor(random_state=0), features.astype(np.float32)
    tree.fit(given[train], target[train], check_input=False)
    return np.asarray(tree.predict(given[test], check_input=False))


def _adjusted(target: Floats, said: Floats, features: Floats) -> float:
    n, p = len(target), features.shape[1]
    return 1 - (1 - _explained(target, said)) * (n - 1) / (n - p - 1) if n > p + 1 else math.nan


def _explained(target: Floats, said: Floats) -> float:
    """R^2."""
    return float(1 - ((target - said) ** 2).sum() / ((target - target.mean()) ** 2).sum())


def trees() -> Any:
    """scikit-learn's trees.

    Raises:
        MissingExtraError: it is not installed.
    """
    return optional("sklearn.tree", "Table 1 needs scikit-learn", "models")
