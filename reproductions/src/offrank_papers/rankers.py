"""Rankers of simulated worlds that learn from the grades; their libraries are in offrank's extra `models`.

`offrank.simulate(path, rankers={"lambdamart": LambdaMART()})` draws a log by one of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from offrank.errors import UsageError, optional
from offrank.log.batch import Floats
from offrank.log.graded_queries import Judged


class GradeLearner(ABC):
    """A ranker that learns from the grades; folds: 0 to score its training data, otherwise each fold by the others."""

    folds: int

    @abstractmethod
    def fit(self, judged: Judged, seed: int) -> Callable[[Floats], Any]:
        """Learn a map from features [rows, d] to scores [rows]."""

    def scores(self, judged: Judged, seed: int = 0) -> Floats:
        """Return scores [rows] by a ranker trained on all queries, or for each fold of the queries on the others."""
        if not self.folds:
            return np.asarray(self.fit(judged, seed)(judged.features), np.float64)
        if self.folds > len(judged):
            raise UsageError(
                f"there are {len(judged)} queries for {self.folds} folds", "use at most as many folds as queries"
            )
        fold = np.random.default_rng(seed).permutation(np.arange(len(judged)) % self.folds)
        found, of_row = np.empty(judged.rows), fold[judged.owner]
        for each in range(self.folds):
            fitted = self.fit(judged.take(np.flatnonzero(fold != each)), seed)
            found[of_row == each] = fitted(judged.features[of_row == each])
        return found

    def _check(self, **least: int) -> None:
        """Raise for settings out of range: integers below their minimum, other numbers that do not exceed it."""
        for name, low in least.items():
            value = getattr(self, name)
            if not (value >= low if isinstance(value, int) else value > low):
                bound = f"at least {low}" if isinstance(value, int) else f"more than {low}"
                raise UsageError(f"{name} is {value!r}", f"give {bound}")
        if self.folds == 1:
            raise UsageError("folds is 1", "use 0 to score the training documents, or 2 or more")


@dataclass(frozen=True)
class LambdaMART(GradeLearner):
    """LambdaMART: boosted trees by LightGBM, by default with paper cmip-debiasedness's settings (section 5.1.3).

    trees: boosting rounds, of at most `leaves` leaves. folds: 0 scores the training documents, as the paper
    does, so that with few queries it nearly memorises the grades; 2 or more trains on the queries of the other
    folds. threads: of LightGBM; the scores are the same for the same number.

    Raises:
        UsageError: numbers that cannot work; grades that are not whole numbers from 0 to 30.
        MissingExtraError: LightGBM is not installed.
    """

    trees: int = 100
    leaves: int = 31
    learning_rate: float = 0.1
    folds: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        self._check(trees=1, leaves=2, learning_rate=0, folds=0, threads=1)

    def fit(self, judged: Judged, seed: int) -> Callable[[Floats], Any]:
        library = optional("lightgbm", "LambdaMART needs LightGBM", "models")
        if not np.isin(judged.grade, np.arange(31)).all():
            raise UsageError("LambdaMART needs whole grades from 0 to 30", "round the grades, or use Tree or Lasso")
        settings = {
            "objective": "lambdarank",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "num_threads": self.threads,
            "seed": seed,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        data = library.Dataset(judged.features, judged.grade, group=judged.sizes, params={"verbosity": -1})
        model = library.train(settings, data, num_boost_round=self.trees)
        return lambda features: model.predict(features, num_threads=self.threads)


@dataclass(frozen=True)
class Lasso(GradeLearner):
    """Lasso: linear regression of the grade with an L1 penalty, by scikit-learn, on squashed, standardised features.

    penalty: alpha in |grade - prediction|^2 / (2 rows) + alpha |weights|_1. folds: as in `LambdaMART`.

    Raises:
        UsageError: numbers that cannot work.
        MissingExtraError: scikit-learn is not installed.
    """

    penalty: float = 0.01
    folds: int = 0

    def __post_init__(self) -> None:
        self._check(penalty=0, folds=0)

    def fit(self, judged: Judged, seed: int) -> Callable[[Floats], Any]:
        library = optional("sklearn.linear_model", "Lasso needs scikit-learn", "models")
        features = _squashed(judged.features)
        mean, spread = features.mean(axis=0), features.std(axis=0)
        spread[spread == 0] = 1.0
        model = library.Lasso(alpha=self.penalty, max_iter=10_000, tol=1e-3)
        model.fit((features - mean) / spread, judged.grade)
        return lambda features: model.predict((_squashed(features) - mean) / spread)


@dataclass(frozen=True)
class Tree(GradeLearner):
    """One regression tree of the grade, by scikit-learn.

    leaves: maximum number; each has at least `smallest` documents. folds: as in `LambdaMART`.

    Raises:
        UsageError: numbers that cannot work.
        MissingExtraError: scikit-learn is not installed.
    """

    leaves: int = 64
    smallest: int = 10
    folds: int = 0

    def __post_init__(self) -> None:
        self._check(leaves=2, smallest=1, folds=0)

    def fit(self, judged: Judged, seed: int) -> Callable[[Floats], Any]:
        library = optional("sklearn.tree", "Tree needs scikit-learn", "models")
        model = library.DecisionTreeRegressor(
            max_leaf_nodes=self.leaves, min_samples_leaf=self.smallest, random_state=seed
        )
        model.fit(_squashed(judged.features), judged.grade)
        return lambda features: model.predict(_squashed(features))


def _squashed(features: Floats) -> Floats:
    """Return features on a similar scale: sign(x) log(1 + |x|), a missing one 0; the order of the values stays."""
    squashed = np.sign(features) * np.log1p(np.abs(features))
    return np.nan_to_num(squashed, nan=0.0, posinf=710.0, neginf=-710.0)  # beyond the largest finite number
