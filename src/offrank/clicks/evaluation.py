"""How well click models predict the clicks of a log: scores with intervals, and differences between models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import EmptyLogError, UsageError
from ..findings import cautions_for
from ..findings.evidence import OfTraining
from ..findings.evidence_clicks import OfPrediction
from ..folds.base import Tee
from ..folds.estimate import Caution, Interval
from ..folds.fingerprint import FingerprintFold
from ..folds.same_log import share_learnt
from ..formatting import with_half
from ..frames import plain
from ..inference.spec import IntervalSpec
from ..inference.spread import Inference
from ..log.source import Source
from ..running.executors import Executor, Progress, run
from .fitted import Fitted
from .predictions import QUANTITIES, PredictionColumns, PredictionFold, Predictor, Quantity
from .sessions import Tally, TallyFold

RANKED = ("perplexity_at_rank", "conditional_perplexity_at_rank")
"""Quantities reported for each rank."""

_NOWHERE = Interval(math.nan, math.nan, math.nan, math.nan)
"""The interval at a rank that is empty in every session."""


@dataclass(frozen=True, repr=False)
class Evaluated:
    """How well a click model, or a simulated user, predicts the clicks of a log, each number with an interval.

    - log_likelihood: mean per session, in nats, of the log-probability of all its clicks together; -inf where the model
      rules some session out.
    - perplexity: mean over ranks of 2^(mean loss in bits at the rank), each click predicted without knowing any other
      of its session (Eq. 2 and 3 of paper cmip-debiasedness). 1 is perfect, 2 is a coin toss.
    - conditional_perplexity: the same, each click predicted given the clicks above it.
    - perplexity_at_rank, conditional_perplexity_at_rank: [k] of each rank, over the sessions that have it.
    - sessions: read; sessions_at_rank: [k] that have this rank, each divided by its inclusion probability.
    - unseen: share of the shown documents that the training log lacked; None where the model learns no documents.
    - impossible: sessions to which the model gives probability 0. confidence: level of the intervals.
    """

    log_likelihood: Interval
    perplexity: Interval
    conditional_perplexity: Interval
    perplexity_at_rank: tuple[Interval, ...]
    conditional_perplexity_at_rank: tuple[Interval, ...]
    sessions: int
    sessions_at_rank: tuple[float, ...]
    unseen: float | None
    impossible: int
    tally: Tally
    cautions: tuple[Caution, ...] = ()
    confidence: float = 0.95

    def __repr__(self) -> str:
        return f"Evaluated(perplexity {with_half(self.perplexity)}, {self.sessions:,} sessions)"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not finite)."""
        return {name: plain(value) for name, value in vars(self).items() if name != "confidence"}


@dataclass(frozen=True, repr=False)
class Evaluations(Mapping[str, Evaluated]):
    """Several models on the same sessions, by name; `difference` compares two of them."""

    found: Mapping[str, Evaluated]
    spread: Inference = field(repr=False)

    def __getitem__(self, name: str) -> Evaluated:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return f"Evaluations({', '.join(self.found)})"

    def difference(self, left: str, right: str, quantity: Quantity = "perplexity") -> Interval:
        """The paired difference left - right of a quantity on the same sessions.

        Raises:
            UsageError: no such model or quantity.
        """
        if quantity not in QUANTITIES:
            raise UsageError(f"{quantity!r} is not compared", "say " + ", ".join(QUANTITIES))
        for name in (left, right):
            if name not in self.found:
                raise UsageError(f"no model is called {name!r}", "the models are " + ", ".join(self.found))
        value = getattr(self[left], quantity).value - getattr(self[right], quantity).value
        if not math.isfinite(value):
            return Interval(value, -math.inf, math.inf, math.inf)
        names, columns, sums = list(self.found), PredictionColumns(len(self.found)), self.spread.moments.sums
        both = [columns.statistic(names.index(name), quantity, sums) for name in (left, right)]
        return self.spread.difference(*both)

    def records(self) -> list[dict[str, Any]]:
        """A row per model and quantity, then those at each rank; differences are to the first model."""
        first, rows = next(iter(self.found)), []
        for name, one in self.found.items():
            for quantity in QUANTITIES:
                away = None if name == first else self.difference(name, first, quantity).to_dict()
                rows.append(_row(name, quantity, None, getattr(one, quantity)) | {"difference": away})
        for name, one in self.found.items():
            for ranked in RANKED:
                rows += [_row(name, ranked, rank, at) for rank, at in enumerate(getattr(one, ranked), 1)]
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers; differences are to the first model."""
        first, *others = self.found
        return {
            "models": {name: one.to_dict() for name, one in self.found.items()},
            "differences": {
                name: {quantity: self.difference(name, first, quantity).to_dict() for quantity in QUANTITIES}
                for name in others
            },
        }


def evaluate(
    models: Mapping[str, Predictor],
    source: Source,
    *,
    confidence: float = 0.95,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Evaluations:
    """Log-likelihood and perplexity of models by name, in one pass; see `offrank.evaluate_clicks`.

    Raises:
        UsageError: arguments that cannot work, or clicks that are not whole numbers.
        LogError: the log breaks a rule, has no clicks, or lacks a column that a model reads.
    """
    fold = PredictionFold(tuple(models.values()), IntervalSpec("normal", confidence, cluster))
    learnt = {name: one.training for name, one in models.items() if isinstance(one, Fitted) and one.training}
    rows = Tee({name: FingerprintFold.beside(one) for name, one in learnt.items()})
    folds = Tee({"sums": fold, "tally": TallyFold(), "rows": rows})
    found = run(source.select(fold.needs()), folds, executor, progress)
    if not found["tally"].impressions:
        raise EmptyLogError(f"{source.describe()} has no sessions", "give a log with at least one impression")
    spread = fold.inference.spread(found["sums"])
    each = {
        name: _evaluated(index, one, fold.columns, spread, found["tally"])
        for index, (name, one) in enumerate(models.items())
    }
    for name, judged in found["rows"].items():
        seen = cautions_for(OfTraining(share=share_learnt(learnt[name], judged), policy=False))
        each[name] = replace(each[name], cautions=(*seen, *each[name].cautions))
    return Evaluations(each, spread)


def _evaluated(index: int, model: Predictor, columns: PredictionColumns, spread: Inference, tally: Tally) -> Evaluated:
    """The results of a model, with cautions."""
    sums = spread.moments.sums
    used = columns.used(sums)
    places = range(max(used, default=-1) + 1)

    def at(rank: int, *, conditional: bool) -> Interval:
        if rank not in used:
            return _NOWHERE
        return spread.ratio(columns.perplexity(index, [rank], conditional=conditional))

    _, unseen, impossible = columns.of_model(index)
    likely, before, given = (spread.ratio(columns.statistic(index, name, sums)) for name in QUANTITIES)
    refuted, fitted = round(sums[impossible]), model if isinstance(model, Fitted) else None
    missing = float(sums[unseen]) / float(sums[columns.shown]) if fitted and sums[columns.shown] else None
    evidence = OfPrediction(
        sessions=tally.impressions,
        unseen=missing or 0.0,
        learnt=fitted.tally.ranks if fitted else 0,
        slots=columns.ranks(sums),
        impossible=refuted,
        features=fitted is not None and fitted.model.columns is not None,
    )
    return Evaluated(
        Interval(-math.inf, -math.inf, -math.inf, math.inf) if refuted else likely,
        before,
        given,
        tuple(at(rank, conditional=False) for rank in places),
        tuple(at(rank, conditional=True) for rank in places),
        tally.impressions,
        tuple(float(sums[columns.width(rank)]) for rank in places),
        missing,
        refuted,
        tally,
        cautions_for(evidence),
        spread.confidence,
    )


def _row(model: str, quantity: str, rank: int | None, found: Interval) -> dict[str, Any]:
    return {"model": model, "quantity": quantity, "rank": rank, **found.to_dict(), "difference": None}
