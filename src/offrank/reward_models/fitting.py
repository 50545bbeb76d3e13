"""Fitting of the models inside estimators, before a log is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..log.source import Needs, Source, refuse_once
from ..policies.base import Fits
from ..policies.fit import parts_of, replaced
from ..running.executors import Executor, Progress
from . import cross_fitting
from .click_halves import ClickHalves
from .regression import SlateRegression

E = TypeVar("E")


def fit_models(
    estimators: Sequence[E],
    source: Source,
    executor: Executor | None = None,
    progress: Progress | None = None,
    clusters: Sequence[str] = (),
    told: Needs | None = None,
) -> list[E]:
    """The estimators with the models in them, at any depth, learnt from a log, equal ones once.

    Regressions are learnt in one pass, a click model in three. clusters: the columns that mark dependent rows. told:
    those that tell rows apart, of the logging policy.

    Raises:
        UsageError: no features, too few queries, or a regressor that predicts no finite numbers.
    """
    every = parts_of(tuple(estimators), Fits)
    models = list(dict.fromkeys(one for one in every if isinstance(one, SlateRegression | ClickHalves)))
    if not models:
        return list(estimators)
    refuse_once(source, "the models of its estimators are learnt from it first")
    regressions = [one for one in models if isinstance(one, SlateRegression)]
    found = cross_fitting.learnt(regressions, source, executor, progress) if regressions else []
    ready: dict[Fits, Any] = {one: replace(one, learnt=each) for one, each in zip(regressions, found, strict=True)}
    halves = [one for one in models if isinstance(one, ClickHalves)]
    ready |= {one: one.by_halves(source, clusters, executor, progress, told) for one in halves}
    return [replaced(estimator, lambda one: ready.get(one, one)) for estimator in estimators]
