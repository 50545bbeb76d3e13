"""Fitting of the reward models inside estimators, before a log is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..log.source import Source, refuse_once
from ..policies.base import Fits
from ..policies.fit import replaced
from ..running.executors import Executor, Progress
from . import cross_fitting
from .regression import SlateRegression

E = TypeVar("E")


def fit_models(
    estimators: Sequence[E], source: Source, executor: Executor | None = None, progress: Progress | None = None
) -> list[E]:
    """The estimators with the regressions in them, at any depth, learnt from a log: all in one pass, equal ones once.

    Raises:
        UsageError: no features, too few queries, or a regressor that predicts no finite numbers.
    """
    models: dict[SlateRegression, None] = {}

    def seen(one: Fits) -> Any:
        if isinstance(one, SlateRegression):  # one that was fitted elsewhere too: it is learnt from the log it judges
            models[one] = None
        return one

    for estimator in estimators:
        replaced(estimator, seen)
    if not models:
        return list(estimators)
    refuse_once(source, "regressions are learnt from it first")
    found = cross_fitting.learnt(list(models), source, executor, progress)
    ready: dict[Fits, Any] = {one: replace(one, learnt=each) for one, each in zip(models, found, strict=True)}
    return [replaced(estimator, lambda one: ready.get(one, one)) for estimator in estimators]
