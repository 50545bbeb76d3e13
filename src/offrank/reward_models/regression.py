"""Regressions of whole slates: the reward by the features of the shown candidates (paper slate-pseudoinverse, 5.1)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..errors import UsageError, optional
from ..findings.row import ModelEvidence
from ..language import assumptions
from ..language.formatting import quote
from ..language.spelling import Spelled
from ..log.batch import Floats, LogBatch
from ..log.source import Needs, Source
from ..policies.base import Fits, Policy
from ..policies.propensities import Propensities
from ..readers.log import opened
from ..running.executors import Executor
from . import cross_fitting
from .base import Predicted, RewardModel
from .cross_fitting import BY_QUERY, CrossFitted
from .features import FEATURES, SlateColumns
from .registry import REWARD_MODELS
from .slates import slate_laws, slate_needs

PENALTIES = (10.0, 1.0, 0.1, 0.01)
"""Penalties of `lasso`, as published with paper slate-pseudoinverse; here and below the most regularised first."""
DEPTHS = (3, 6, 9, 12)
"""Depths of `tree`, as published with it."""
LEAVES = (7, 31)
"""Leaves of each tree of `boosted`."""


@dataclass(frozen=True, repr=False)
class SlateRegression(Spelled, RewardModel, Fits):
    """A regression of the logged reward on the features of a slate, cross-fitted by query.

    A row per slate: the features of its candidates side by side, zeros where nothing is shown, so that ranks matter.

    - by: columns beside the candidates: `features` for the sparse features of the log, or names of scores.
    - folds: parts of the queries (or of the rows, if the log has no query); each is predicted by what was learnt from
      the others. learnt: the regressors, once fitted to a log.

    Raises:
        UsageError: columns or folds that cannot work.
    """

    by: tuple[str, ...] = field(default=(FEATURES,), kw_only=True)
    folds: int = field(default=5, kw_only=True)
    learnt: CrossFitted | None = field(default=None, kw_only=True, compare=False, repr=False)
    assumptions: ClassVar[frozenset[str]] = assumptions.RIGHT_MODEL
    of_clicks: ClassVar[bool] = False
    of_slots: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False  # whether it may be learnt elsewhere, and so have no folds
    checked: ClassVar[dict[str, Any]] = {}

    def __post_init__(self) -> None:
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)  # type: ignore[redundant-expr]
        if not by or not all(isinstance(name, str) for name in by) or len(set(by)) < len(by):
            raise UsageError(f"by is {self.by!r}", "name columns of the candidates: by=[features, old_score]")
        object.__setattr__(self, "by", by)
        least = 0 if self.elsewhere and not self.folds else 2
        if not isinstance(self.folds, int) or self.folds < least:  # type: ignore[redundant-expr]
            raise UsageError(f"folds is {self.folds!r}", "give a number of parts of the log, 2 or more")
        for name, how in self.checked.items():
            _positive(name, vars(self)[name], **how)

    @abstractmethod
    def grid(self) -> Sequence[tuple[str, Any]]:
        """Settings in words with their unfitted regressor, the most regularised first."""

    @property
    def columns(self) -> SlateColumns:
        """The columns of the features."""
        return SlateColumns(self.by)

    @property
    def evidence(self) -> ModelEvidence:
        return ModelEvidence(name=quote(repr(self))) if self.learnt is None else self.learnt.evidence

    def fit(self, source: Source, executor: Executor | None = None) -> Self:
        """The same model, fitted to a log in one pass, and valid for that log only. `evaluate` does so itself.

        source: from `read_log`, or anything that it takes.

        Raises:
            UsageError: no features, too few queries, or a regressor that predicts no finite numbers.
        """
        return self if self.learnt else replace(self, learnt=cross_fitting.learnt([self], opened(source), executor)[0])

    @property
    def fitted(self) -> CrossFitted:
        """The regressors.

        Raises:
            UsageError: it was not fitted.
        """
        if self.learnt is None:
            raise UsageError(f"{self!r} has not been fitted to a log", "call fit(log) first; evaluate does so")
        return self.learnt

    def needs(self, target: Policy) -> Needs:
        return self.columns.needs() | slate_needs(target) | (BY_QUERY if self.fitted.key else Needs())

    def logged(self, batch: LogBatch) -> Floats:
        return self.fitted.predict(batch, np.arange(len(batch)), batch.slates)

    def expected(self, target: Propensities, draws: int) -> Predicted:
        batch = target.batch
        reward = np.zeros(len(batch))
        for one in slate_laws(target.policy.law("sample"), self.fitted.keyed(batch), draws):
            predicted = self.fitted.predict(batch, one.row, one.slates)
            reward += np.bincount(one.row, one.chance * predicted, len(batch))
        return Predicted(reward, np.ones(len(batch)))


@REWARD_MODELS.register
@dataclass(frozen=True, repr=False)
class LassoRegression(SlateRegression):
    """Linear regression with an L1 penalty, by scikit-learn; features are not scaled, as published.

    Parameters:
        by: columns beside the candidates: `features`, or names of scores.
        folds: parts of the queries (of the rows, without queries); each is predicted by what was learnt from the
            others.
        learnt: the regressors, once they are fitted to a log.
        penalty: alpha in |reward - prediction|^2 / (2 rows) + alpha |weights|_1; by default that of 10, 1, 0.1 and
            0.01 with the smallest error in a 3-fold cross-validation.

    Examples:
        >>> offrank.reward_models.LassoRegression(folds=3).folds
        3
    """

    name: ClassVar[str] = "lasso"
    additive: ClassVar[bool] = True
    checked: ClassVar[dict[str, Any]] = {"penalty": {}}
    penalty: float | None = field(default=None, kw_only=True)

    def grid(self) -> list[tuple[str, Any]]:
        library = optional("sklearn.linear_model", "lasso needs scikit-learn", "models")
        values = PENALTIES if self.penalty is None else (self.penalty,)
        return [(f"penalty={value:g}", library.Lasso(alpha=value, max_iter=30_000)) for value in values]


@REWARD_MODELS.register
@dataclass(frozen=True, repr=False)
class TreeRegression(SlateRegression):
    """One regression tree, by scikit-learn.

    Parameters:
        by: columns beside the candidates: `features`, or names of scores.
        folds: parts of the queries (of the rows, without queries); each is predicted by what was learnt from the
            others.
        learnt: the regressors, once they are fitted to a log.
        depth: by default that of 3, 6, 9 and 12 with the smallest error in a 3-fold cross-validation.

    Examples:
        >>> offrank.reward_models.TreeRegression(folds=3).folds
        3
    """

    name: ClassVar[str] = "tree"
    checked: ClassVar[dict[str, Any]] = {"depth": {"whole": True}}
    depth: int | None = field(default=None, kw_only=True)

    def grid(self) -> list[tuple[str, Any]]:
        library = optional("sklearn.tree", "tree needs scikit-learn", "models")
        values = DEPTHS if self.depth is None else (self.depth,)
        return [(f"depth={d}", library.DecisionTreeRegressor(max_depth=d, random_state=0)) for d in values]


@REWARD_MODELS.register
@dataclass(frozen=True, repr=False)
class BoostedRegression(SlateRegression):
    """100 boosted trees at a learning rate of 0.1, by LightGBM in one thread.

    Parameters:
        by: columns beside the candidates: `features`, or names of scores.
        folds: parts of the queries (of the rows, without queries); each is predicted by what was learnt from the
            others.
        learnt: the regressors, once they are fitted to a log.
        leaves: of each tree; by default that of 7 and 31 with the smallest error in a 3-fold cross-validation.

    Examples:
        >>> offrank.reward_models.BoostedRegression(folds=3).folds
        3
    """

    name: ClassVar[str] = "boosted"
    checked: ClassVar[dict[str, Any]] = {"leaves": {"least": 2, "whole": True}}
    leaves: int | None = field(default=None, kw_only=True)

    def grid(self) -> list[tuple[str, Any]]:
        library = optional("lightgbm", "boosted needs LightGBM", "models")
        values = LEAVES if self.leaves is None else (self.leaves,)
        # Threads of OpenMP wait by spinning: with other work on the machine, several are far slower than one.
        fixed = {"n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1, "random_state": 0}
        return [(f"leaves={leaves}", library.LGBMRegressor(num_leaves=leaves, **fixed)) for leaves in values]


@dataclass(frozen=True, repr=False)
class OwnRegression(SlateRegression):
    """A regressor of your own: any object with `fit(x, y)` and `predict(x)`, as in scikit-learn.

    Copies of it are fitted, with `sample_weight` if rows were sub-sampled. With folds=0, or without a `fit`, it is
    used as it is: it must have been learnt from another log, which nothing here can check.

    Parameters:
        regressor: an object with `fit` and `predict`.
        by: columns beside the candidates: `features`, or names of scores.
        folds: parts of the queries (of the rows, without queries); each is predicted by what was learnt from the
            others.
        learnt: the regressors, once they are fitted to a log.
        slots: of the slates that it was fitted to elsewhere; by default those of the longest slate of the log.

    Raises:
        UsageError: columns or folds that cannot work.

    Examples:
        >>> from sklearn.linear_model import Ridge
        >>> offrank.reward_models.OwnRegression(Ridge()).folds
        5
    """

    name: ClassVar[str] = "regression"
    elsewhere: ClassVar[bool] = True
    regressor: Any
    slots: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.regressor, type) or not hasattr(self.regressor, "predict"):
            raise UsageError(
                f"{self.regressor!r} is not a reward model",
                "give lasso, tree, boosted, a click model, its file, or an object with fit and predict",
            )
        if not hasattr(self.regressor, "fit"):
            object.__setattr__(self, "folds", 0)
        super().__post_init__()

    def __repr__(self) -> str:
        return " ".join(super().__repr__().split())

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnRegression) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """What makes two of them equal: the regressor by identity, since it may not be hashable."""
        return id(self.regressor), self.by, self.folds, self.slots

    def grid(self) -> list[tuple[str, Any]]:
        return [("", self.regressor)]


def _positive(name: str, value: float | None, least: float = 0, *, whole: bool = False) -> None:
    known = value is None or (isinstance(value, int | (int if whole else float)) and math.isfinite(value))
    if not known or (value is not None and not (value > 0 and value >= least)):
        number = f"a whole number of at least {max(least, 1)}" if whole else "a number above 0"
        raise UsageError(f"{name} is {value!r}", f"give {number}, or omit it to have it chosen")
