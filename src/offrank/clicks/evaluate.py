"""How well do click models predict the clicks of a log?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

from ..errors import EmptyLogError, UsageError
from ..findings import about
from ..findings.evidence import OfTraining
from ..findings.evidence_clicks import OfPrediction
from ..folds.base import Together
from ..folds.estimate import Interval
from ..folds.fingerprint import Fingerprint, FingerprintFold
from ..folds.same_log import share_learnt
from ..inference.spec import IntervalSpec
from ..inference.spread import Spread
from ..log.source import Source
from ..readers.log import read_log
from ..running.executors import Executor, Progress, run
from .evaluated import Evaluated, Evaluations
from .fitted import Fitted
from .layout import Layout, MeanPower, ranks, statistic
from .predictions import PredictionFold, Predictor
from .sessions import Tally, TallyFold

_NOWHERE = Interval(math.nan, math.nan, math.nan, math.nan)
"""At a rank that is empty in every session."""


@overload
def evaluate(
    model: Mapping[str, Predictor],
    log: Any,
    *,
    confidence: float = ...,
    cluster: str | None = ...,
    executor: Executor | None = ...,
    progress: Progress | None = ...,
) -> Evaluations: ...


@overload
def evaluate(
    model: Predictor,
    log: Any,
    *,
    confidence: float = ...,
    cluster: str | None = ...,
    executor: Executor | None = ...,
    progress: Progress | None = ...,
) -> Evaluated: ...


def evaluate(
    model: Predictor | Mapping[str, Predictor],
    log: Any,
    *,
    confidence: float = 0.95,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Evaluated | Evaluations:
    """Log-likelihood and perplexity of a click model on a log; of several by name in one pass, with paired differences.

    - model: a `Fitted`, a simulated user, or a dict of such by name.
    - log: from `read_log`, or anything that it takes, with slates and clicks.
    - cluster: a column whose equal values mark dependent sessions, such as the query.

    Raises:
        UsageError: arguments that cannot work, or clicks that are no whole numbers.
        LogError: the log breaks a rule, has no clicks, or lacks a column that a model reads.
    """
    models = dict(model) if isinstance(model, Mapping) else {"model": model}
    for name, one in models.items():
        if isinstance(one, type) or not (hasattr(one, "law") and hasattr(one, "needs")):
            raise UsageError(f"{name!r} is no model that has learnt: {one!r}", "fit it first: PBM().fit(log)")
    if not models:
        raise UsageError("there is no model", "give a fitted click model, or a dict of them by name")
    source: Source = log if hasattr(log, "batches") else read_log(log)
    fold = PredictionFold(tuple(models.values()), IntervalSpec("normal", confidence, cluster))
    learnt = {name: one.training for name, one in models.items() if isinstance(one, Fitted) and one.training}
    rows = Together({name: FingerprintFold.beside(one) for name, one in learnt.items()})
    folds = Together({"sums": fold, "tally": TallyFold(), "rows": rows})
    found = run(source.select(fold.needs()), folds, executor, progress)
    if not found["tally"].impressions:
        raise EmptyLogError(f"{source.describe()} has no sessions", "give a log with at least one impression")
    results = _told(_evaluations(models, fold.doubt.spread(found["sums"]), found["tally"]), learnt, found["rows"])
    return results if isinstance(model, Mapping) else results["model"]


def _told(results: Evaluations, learnt: Mapping[str, Fingerprint], judged: Mapping[str, Fingerprint]) -> Evaluations:
    """The same, where a model has seen the sessions by which it is judged."""
    each = dict(results)
    for name, rows in judged.items():
        seen = about(OfTraining(share=share_learnt(learnt[name], rows), policy=False))
        each[name] = replace(each[name], cautions=(*seen, *each[name].cautions))
    return replace(results, found=each)


def _evaluations(models: Mapping[str, Predictor], spread: Spread, tally: Tally) -> Evaluations:
    """The numbers of each model, with what to know before they are relied on."""
    layout = Layout(len(models))
    each = {name: _evaluated(index, one, layout, spread, tally) for index, (name, one) in enumerate(models.items())}
    return Evaluations(each, spread)


def _evaluated(index: int, model: Predictor, layout: Layout, spread: Spread, tally: Tally) -> Evaluated:
    present, sums = ranks(layout, spread), spread.moments.sums
    places = range(max(present, default=-1) + 1)
    before, given = (
        tuple(
            spread.ratio(MeanPower((layout.loss(index, rank, conditional=conditional),)))
            if rank in present
            else _NOWHERE
            for rank in places
        )
        for conditional in (False, True)
    )
    shown, missing = float(sums[layout.shown]), float(sums[layout.unseen(index)])
    impossible = round(sums[layout.impossible(index)])
    likelihood = spread.ratio(layout.log_likelihood(index))
    made = Evaluated(
        Interval(-math.inf, -math.inf, -math.inf, math.inf) if impossible else likelihood,
        spread.ratio(statistic(layout, index, "perplexity", spread)),
        spread.ratio(statistic(layout, index, "conditional_perplexity", spread)),
        before,
        given,
        tally.impressions,
        tuple(float(sums[layout.width(rank)]) for rank in places),
        missing / shown if isinstance(model, Fitted) and shown else None,
        impossible,
        tally,
        confidence=spread.confidence,
    )
    told = OfPrediction(
        sessions=made.sessions,
        unseen=made.unseen or 0.0,
        learnt=model.tally.ranks if isinstance(model, Fitted) else 0,
        slots=layout.ranks(len(sums)),
        impossible=made.impossible,
    )
    return replace(made, cautions=about(told))
