"""Cross-fitting: each row is predicted by what was learnt from the rows of other queries, so by none that has seen it.

Chernozhukov et al. 2018, Double/debiased machine learning.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol, cast

import numpy as np

from ..errors import EmptyLogError, UsageError
from ..findings.row import ModelEvidence
from ..language.formatting import nine_digits, plural, quote
from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs, Source, has
from ..running.executors import Executor, Progress, run
from ..sums.base import Tee
from .features import FEATURES, Dense, SlateColumns, no_features, refuse_wide
from .slates import pieces
from .training import Keys, TrainingFold, TrainingRows, TrainingState, contents, query_keys

BY_QUERY = Needs(clusters=frozenset(["query"]))
_INNER = 3
"""Folds of the cross-validation that chooses the settings, as published with paper slate-pseudoinverse."""


class Regressing(Protocol):
    """A regression as cross-fitting needs it. folds: 0 for a regressor that was fitted elsewhere."""

    @property
    def columns(self) -> SlateColumns: ...

    @property
    def folds(self) -> int: ...

    def grid(self) -> Sequence[tuple[str, Any]]:
        """Settings in words with their unfitted regressor, the most regularised first."""


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Regressors learnt from a log: number i predicts the rows whose group is i modulo their number.

    key: the column of the groups, None if each row is one. slots, width: of the rows of features. evidence: how they
    were learnt, and how well each predicts rows that it has not seen. by_content: as in `TrainingState`.
    """

    spelling: str
    regressors: tuple[Any, ...]
    columns: SlateColumns
    key: str | None
    slots: int
    width: int
    evidence: ModelEvidence
    by_content: bool = False

    def keyed(self, batch: LogBatch) -> LogBatch:
        """The batch, whose rows are told apart as they were when the regressors were learnt."""
        return replace(batch, row=self._groups(batch)) if self.by_content else batch

    def _groups(self, batch: LogBatch) -> Keys:
        """[n] the groups of all rows, as they were when the regressors were learnt."""
        if not self.by_content:
            return query_keys(batch, self.key)
        if ("groups", self) not in batch.known:
            found, how = np.empty(len(batch), np.uint64), (self.slots, self.width)
            for some in pieces(np.arange(len(batch)), self.slots * self.width):
                shown = batch.slates[some, : self.slots]
                found[some] = contents(self.columns.of_slates(batch.contexts, some, shown, *how))
            batch.known["groups", self] = found
        groups: Keys = batch.known["groups", self]
        return groups

    def predict(self, batch: LogBatch, rows: Integers, slates: Integers) -> Floats:
        """[s] the expected reward of slates [s, k] in the contexts of rows [s] of a batch.

        Raises:
            UsageError: a prediction is not a finite number.
        """
        number = (self._groups(batch)[rows] % np.uint64(len(self.regressors))).astype(np.int64)
        found = np.empty(len(rows))
        for some in pieces(np.arange(len(rows)), self.slots * self.width):
            x = self.columns.of_slates(batch.contexts, rows[some], slates[some], self.slots, self.width)
            for one in np.unique(number[some]).tolist():
                here = number[some] == one
                found[some[here]] = _predicted(self.regressors[one], x[here], self.spelling)
        if not np.isfinite(found).all():
            worst = int(np.argmin(np.isfinite(found)))
            place = int(batch.row[rows[worst]]) - batch.base
            _refuse(self.spelling, float(found[worst]), f"a slate in {batch.file}, row {place} (the first is 0)")
        return found


def learnt(
    models: Sequence[Regressing], source: Source, executor: Executor | None = None, progress: Progress | None = None
) -> list[CrossFitted]:
    """Regressions learnt from a log in one pass, each cross-fitted by query, or by row where the log has no query.

    Raises:
        UsageError: no features, too few queries, or a regressor that predicts no finite numbers.
    """
    key = "query" if has(source, BY_QUERY) else None
    folds = {columns: TrainingFold(columns, key) for columns in dict.fromkeys(one.columns for one in models)}
    needed = BY_QUERY if key else Needs()
    for columns in folds:
        if FEATURES in columns.by and not has(source, Needs(frozenset([FEATURES]))):
            raise no_features(source.describe())
        needed |= columns.needs() | Needs(frozenset(["reward"]))
    named = {str(number): fold for number, fold in enumerate(folds.values())}
    states = dict(zip(folds, run(source.select(needed), Tee(named), executor, progress).values(), strict=True))
    with _one_thread():
        return [_cross_fitted(one, states[one.columns], key, source, progress) for one in models]


def _one_thread() -> AbstractContextManager[Any]:
    """Let linear algebra use one thread: several wait for each other by spinning, and are slower where others work."""
    try:
        return cast(AbstractContextManager[Any], importlib.import_module("threadpoolctl").threadpool_limits(1, "blas"))
    except ImportError:  # it comes with scikit-learn, which regressors of one's own may do without
        return nullcontext()


def _cross_fitted(
    model: Regressing, state: TrainingState, key: str | None, source: Source, progress: Progress | None
) -> CrossFitted:
    rows, spelling = state.rows, repr(model)
    if not len(rows):
        raise EmptyLogError(f"{source.describe()} has no impressions", "give a log with some")
    refuse_wide(source.describe(), state.slots, state.width)
    if not np.isfinite(rows.x).all():
        raise UsageError(
            f"{source.describe()} has a feature beyond 3e38, to which {spelling} cannot be fitted",
            "check for a wrong value there, or scale it",
        )
    if not model.folds:
        return _fitted_elsewhere(model, state, spelling)
    slots, width = state.slots, state.width
    found, predicted, fold = [], np.empty(len(rows)), rows.group % np.uint64(model.folds)
    for number in range(model.folds):
        unseen = fold == number
        if unseen.all():
            what, several = "query" if key else "impression", len(np.unique(rows.group)) > 1
            raise UsageError(
                f"{spelling} has no other part of the log to be fitted to: "
                f"{plural(state.read, 'impression', 'impressions')} of "
                + ("few groups, which fall into one part of the log" if several else f"one {what}"),
                ("try other folds (folds=7), or " if several else "")
                + "use a model fitted to another log: OwnRegression(fitted, folds=0)",
            )
        found.append(_chosen(model, rows.take(np.flatnonzero(~unseen)), spelling))
        x = rows.x[unseen].reshape(unseen.sum(), slots * width)
        predicted[unseen] = _predicted(found[-1][1], x, spelling) if unseen.any() else 0.0
        if progress is not None:
            progress(number + 1, model.folds)
    settings = Counter(words for words, _ in found if len(model.grid()) > 1)
    chosen = tuple(words for words, _ in sorted(settings.items(), key=lambda one: (-one[1], one[0])))
    evidence = ModelEvidence(
        name=quote(spelling),
        settings=chosen,
        rows=len(rows),
        read=state.read,
        folds=model.folds,
        explained=_explained(rows, predicted, spelling),
    )
    of = model.columns, key, slots, width, evidence, state.by_content
    return CrossFitted(spelling, tuple(one for _, one in found), *of)


def _fitted_elsewhere(model: Regressing, state: TrainingState, spelling: str) -> CrossFitted:
    """The regressor as it is, and how well it predicts the log."""
    [(_, regressor)], rows = model.grid(), state.rows
    slots, width = _fitted_shape(regressor, getattr(model, "slots", None), state, spelling)
    x = np.pad(rows.x, ((0, 0), (0, slots - state.slots), (0, width - state.width))).reshape(len(rows), -1)
    evidence = ModelEvidence(
        name=quote(spelling), explained=_explained(rows, _predicted(regressor, x, spelling), spelling)
    )
    return CrossFitted(spelling, (regressor,), model.columns, None, slots, width, evidence)


def _chosen(model: Regressing, rows: TrainingRows, spelling: str) -> tuple[str, Any]:
    """The settings with the smallest squared error in a cross-validation by group, learnt from all of the rows."""
    grid, x = model.grid(), rows.x.reshape(len(rows), -1)
    fold, errors = hashed(rows.group) % np.uint64(_INNER), np.zeros(len(grid))
    for number in range(_INNER if len(grid) > 1 else 0):
        test = fold == number
        if test.all() or not test.any():
            continue
        for place, (_, regressor) in enumerate(grid):
            made = _fitted(regressor, x[~test], rows.reward[~test], rows.weight[~test], spelling)
            away = rows.reward[test] - _predicted(made, x[test], spelling)
            errors[place] += rows.weight[test] @ away**2
    words, regressor = grid[int(np.argmin([nine_digits(error) for error in errors.tolist()]))]
    return words, _fitted(regressor, x, rows.reward, rows.weight, spelling)


def _fitted(regressor: Any, x: Dense, reward: Floats, weight: Floats, spelling: str) -> Any:
    """A copy of a regressor, fitted; weights are used where rows differ in them."""
    made, weights = copy.deepcopy(regressor), {}
    if (weight != weight[0]).any():
        if "sample_weight" not in inspect.signature(made.fit).parameters:
            raise UsageError(
                f"{spelling} cannot be fitted to a sub-sampled log: its `fit` takes no sample_weight",
                "use a regressor whose fit takes sample_weight, the inverse of `inclusion`",
            )
        weights = {"sample_weight": weight / weight.mean()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Objective did not converge")  # its error on unseen rows is told
        try:
            made.fit(x.astype(np.float64), reward, **weights)
        except Exception as error:  # of the user's regressor, or of its library
            raise _failed(spelling, "learnt", error) from error
    return made


def _predicted(regressor: Any, x: Dense, spelling: str) -> Floats:
    try:
        found = np.asarray(regressor.predict(x.astype(np.float64)), dtype=np.float64)
    except Exception as error:  # of the user's regressor, or of its library
        raise _failed(spelling, "used", error) from error
    if found.size != len(x):
        raise UsageError(
            f"{spelling} predicts numbers of shape {found.shape} for {len(x)} slates", "return a number per slate"
        )
    return found.reshape(-1)


def _explained(rows: TrainingRows, predicted: Floats, spelling: str) -> float | None:
    """R squared of predictions; None where the reward never differs."""
    if not np.isfinite(predicted).all():
        _refuse(
            spelling, float(predicted[np.argmin(np.isfinite(predicted))]), "a logged slate that it was not fitted to"
        )
    mean = np.average(rows.reward, weights=rows.weight)
    all_of_it = float(rows.weight @ (rows.reward - mean) ** 2)
    return 1 - float(rows.weight @ (rows.reward - predicted) ** 2) / all_of_it if all_of_it > 0 else None


def _refuse(spelling: str, value: float, what: str) -> NoReturn:
    raise UsageError(
        f"{spelling} predicts {value} for {what}", "use a model that predicts a finite number for every slate"
    )


def _failed(spelling: str, what: str, error: Exception) -> UsageError:
    return UsageError(
        f"{spelling} cannot be {what}: {' '.join(str(error).split())} ({type(error).__name__})",
        "give a regressor of numbers; with folds=0, one that was fitted",
    )


def _fitted_shape(regressor: Any, slots: int | None, state: TrainingState, spelling: str) -> tuple[int, int]:
    """The slots, and the features of each, of a regressor that was fitted elsewhere."""
    wanted = int(getattr(regressor, "n_features_in_", (slots or state.slots) * state.width))
    found = slots or max(state.slots, 1)
    width = wanted // found
    if wanted % found or width < state.width or found < state.slots or (slots is None and width > state.width):
        raise UsageError(
            f"{spelling} was fitted to {wanted:,} features per slate, but this log has {state.slots} slots with "
            f"{state.width}",
            "give the number of slots: OwnRegression(regressor, folds=0, slots=5); its features are those of each "
            "slot in turn, at least as many as this log has",
        )
    return found, width
