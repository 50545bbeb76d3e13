"""Table 1: how well out-of-distribution perplexity follows from other metrics, by regressions on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from offrank.errors import optional
from offrank.language import Say
from offrank.log.batch import Floats, Integers

from .design import seed_of
from .findings import ALPHA, BASELINE, BETTER, COMBINATIONS, WORSE, Combination, Configuration, Findings, Measure

Split = tuple[Integers, Integers]
"""The rows to learn from, and those to predict."""

Learner = Callable[[Floats, Floats, Floats], Floats]
"""(features [n, p], target [n], features of others [k, p]) -> predictions [k]."""

ENOUGH = 10
"""With so many runs of each model, a random half lacks a model once in a thousand times."""


@dataclass(frozen=True)
class Scores:
    """A row of Table 1: combination -> scores.

    trees, lines: [splits] adjusted R^2 on held-out rows, as in the paper, by regression trees and least squares.
    left_out, left_out_lines: R^2 over all rows, each predicted from the other models alone.
    """

    trees: Mapping[Combination, Floats]
    lines: Mapping[Combination, Floats]
    left_out: Mapping[Combination, float]
    left_out_lines: Mapping[Combination, float]

    def mark(self, combination: Combination) -> str:
        """Return whether a combination is better or worse than the paper's baseline, by Welch's test at its level."""
        from scipy.stats import ttest_ind  # scipy imports slowly

        ours, theirs = self.trees[combination], self.trees[BASELINE]
        if np.ptp(ours) or np.ptp(theirs):
            differs = bool(ttest_ind(ours, theirs, equal_var=False).pvalue < ALPHA)
        else:
            differs = bool(ours[0] != theirs[0])
        return "" if not differs else BETTER if ours.mean() > theirs.mean() else WORSE


def regressed(findings: Findings, measure: Measure, say: Say) -> dict[Configuration, Scores]:
    """Compute Table 1: a row of the data is a model after a run."""
    found, design = {}, findings.design
    for row in findings.configurations():
        say(f"regressions: {row}")
        metrics = findings.metrics(row.user, row.logging, measure)
        outcome = findings.perplexity(row.user, row.logging, row.test, measure.conditional)
        model, learnt = np.tile(np.arange(outcome.shape[1]), len(outcome)), np.isfinite(outcome).ravel()
        model, target = model[learnt], outcome.ravel()[learnt]
        rng = np.random.default_rng(seed_of(design.seed, *row))
        halves = [split for _ in range(design.repetitions) for split in _halves(model, rng)]
        parted = [(np.flatnonzero(model != one), np.flatnonzero(model == one)) for one in np.unique(model)]
        features = {
            combination: np.stack([metrics[name].ravel()[learnt] for name in combination], axis=1)
            for combination in COMBINATIONS
        }
        found[row] = Scores(
            {combination: adjusted_scores(each, target, halves, tree) for combination, each in features.items()},
            {combination: adjusted_scores(each, target, halves, line) for combination, each in features.items()},
            {combination: pooled_score(each, target, parted, tree) for combination, each in features.items()},
            {combination: pooled_score(each, target, parted, line) for combination, each in features.items()},
        )
    return found


def _halves(model: Integers, rng: np.random.Generator) -> Iterator[Split]:
    """Return (train, test), and the reverse: random halves, of the rows of each model where a model has few."""
    of = model if np.bincount(model).min() < ENOUGH else np.zeros_like(model)
    order = np.lexsort((rng.random(len(of)), of))
    place = np.arange(len(of)) + rng.integers(2)  # the larger half of odd numbers is either
    one, other = order[place % 2 == 0], order[place % 2 == 1]
    yield one, other
    yield other, one


def adjusted_scores(features: Floats, target: Floats, splits: list[Split], learner: Learner) -> Floats:
    """Return 1 - (1 - R^2) (n - 1) / (n - p - 1) on n held-out rows [splits]; features [rows, p]. NaN for too few."""
    found, p = np.full(len(splits), np.nan), features.shape[1]
    for place, (train, test) in enumerate(splits):
        if (n := len(test)) > p + 1:
            share = _explained(target[test], learner(features[train], target[train], features[test]))
            found[place] = 1 - (1 - share) * (n - 1) / (n - p - 1)
    return found


def pooled_score(features: Floats, target: Floats, splits: list[Split], learner: Learner) -> float:
    """Return R^2 over all rows; each is held out by one of the splits."""
    said = np.empty(len(target))
    for train, test in splits:
        said[test] = learner(features[train], target[train], features[test])
    return _explained(target, said)


def tree(known: Floats, target: Floats, others: Floats) -> Floats:
    """Predict by a regression tree."""
    # Trees use 32 bits; input validation would take most of the time.
    model = trees().DecisionTreeRegressor(random_state=0)
    model.fit(known.astype(np.float32), target, check_input=False)
    return np.asarray(model.predict(others.astype(np.float32), check_input=False))


def line(known: Floats, target: Floats, others: Floats) -> Floats:
    """Predict by least squares with an intercept."""
    centre, middle = known.mean(axis=0), target.mean()
    weights, *_ = np.linalg.lstsq(known - centre, target - middle, rcond=1e-9)
    return np.asarray(middle + (others - centre) @ weights)


def _explained(target: Floats, said: Floats) -> float:
    """Return R^2."""
    return float(1 - ((target - said) ** 2).sum() / ((target - target.mean()) ** 2).sum())


def trees() -> Any:
    """Import scikit-learn's trees.

    Raises:
        MissingExtraError: it is not installed.
    """
    return optional("sklearn.tree", "Table 1 needs scikit-learn", "models")
