"""How well click models predict the clicks of a log: scores with intervals, and differences between models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyLogError, UsageError
from ..findings import cautions_for
from ..findings.clicks import PredictionEvidence
from ..findings.rows import TrainingEvidence
from ..frames import plain
from ..inference.clusters_and_level import IntervalSpec
from ..inference.mean_intervals import Inference
from ..language.formatting import with_half
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs, Source, SourceOver, engine_of, is_read_once
from ..running.executors import Executor, Progress, run
from ..sums.base import Fold, Sample, Tee
from ..sums.estimate import Caution, Interval
from ..sums.fingerprint import FingerprintFold
from ..sums.mean import Mean, Name, ratio
from ..sums.named_sums import ByName, NamedColumns, Sums
from ..sums.outcome_shape import OutcomeShapeFold
from ..sums.same_log import share_learnt
from ..wording import Attributed
from .base import refuse_sorted
from .fitted import Fitted
from .laws import ClickLaw, chance_of
from .model import of_ranks
from .sessions import Tally, TallyFold, whole_clicks

PERPLEXITY_CLIP = 1e-10
"""Perplexity clips probabilities this far from 0 and 1, as the code published with paper cmip-debiasedness does."""

Quantity = Literal["log_likelihood", "perplexity", "conditional_perplexity"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
AT_RANK = {quantity: f"{quantity}_at_rank" for quantity in QUANTITIES[1:]}
"""The names of the quantities reported for each rank."""

_NOWHERE = Interval(math.nan, math.nan, math.nan, math.nan)
"""The interval at a rank that is empty in every session."""


class Predictor(Protocol):
    """Anything that predicts clicks: a fitted click model, or a simulated user."""

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw: ...

    def needs(self) -> Needs: ...


@dataclass(frozen=True, repr=False)
class Evaluated(Attributed):
    """How well a click model, or a simulated user, predicts the clicks of a log, each number with an interval.

    Parameters:
        log_likelihood: mean per session, in nats, of the log-probability of all its clicks together; -inf where the
            model rules some session out.
        perplexity: mean over ranks of 2^(mean loss in bits at the rank), each click predicted without knowing any
            other of its session (Eq. 2 and 3 of paper cmip-debiasedness). 1 is perfect, 2 is a coin toss.
        conditional_perplexity: the same, each click predicted given the clicks above it.
        perplexity_at_rank: [k] of each rank, over the sessions that have it.
        conditional_perplexity_at_rank: [k] of each rank, over the sessions that have it.
        sessions: read.
        sessions_at_rank: [k] that have this rank, each divided by its inclusion probability.
        unseen: share of the shown documents that the training log lacked; None where the model learns no documents.
        impossible: sessions to which the model gives probability 0.
        tally: what was left out, counted.
        cautions: reasons to doubt the numbers.
        confidence: level of the intervals.

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}, {"query": "q", "slate": ["b", "a"],
        ...          "clicks": [0, 1]}]
        >>> found = offrank.evaluate_clicks(rows, {"all": offrank.clicks.GCTR().fit(rows)}).here
        >>> round(found["all"].perplexity.value, 3)
        2.0
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
    """Several models on the same sessions, by name; `difference` compares two of them.

    Parameters:
        found: what was measured, by model.
        spread: the sums that differences are made of.

    Examples:
        >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}, {"query": "q", "slate": ["b", "a"],
        ...          "clicks": [0, 1]}]
        >>> found = offrank.evaluate_clicks(rows, {"all": offrank.clicks.GCTR().fit(rows)}).here
        >>> list(found)
        ['all']
    """

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
            raise UsageError(f"{quantity!r} is not compared", "use " + ", ".join(QUANTITIES))
        for name in (left, right):
            if name not in self.found:
                raise UsageError(f"no model is called {name!r}", "the models are " + ", ".join(self.found))
        value = getattr(self[left], quantity).value - getattr(self[right], quantity).value
        if not math.isfinite(value):
            return Interval(value, -math.inf, math.inf, math.inf)
        names, ranks = list(self.found), used_ranks(self.spread.sums)
        return self.spread.difference(*(statistic(names.index(name), quantity, ranks) for name in (left, right)))

    def records(self) -> list[dict[str, Any]]:
        """A row per model and quantity, then those at each rank; differences are to the first model."""
        first, rows = next(iter(self.found)), []
        for name, one in self.found.items():
            for quantity in QUANTITIES:
                away = None if name == first else self.difference(name, first, quantity).to_dict()
                rows.append(_row(name, quantity, None, getattr(one, quantity)) | {"difference": away})
        for name, one in self.found.items():
            for ranked in AT_RANK.values():
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


def evaluate_models(
    models: Mapping[str, Predictor],
    source: Source,
    *,
    confidence: float = 0.95,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    ordered: bool = False,
) -> Evaluations:
    """Log-likelihood and perplexity of models by name, in one pass; see `offrank.evaluate_clicks`.

    ordered: whether the lists must be in the order in which they were shown, if a model has learnt from it.

    Raises:
        UsageError: arguments that cannot work, or clicks that are not whole numbers.
        LogError: the log breaks a rule, has no clicks, or lacks a column that a model reads.
        SupportError: the lists must be in their order, and are sorted by their clicks.
    """
    fold = PredictionFold(tuple(models.values()), IntervalSpec("normal", confidence, cluster))
    learnt = {name: one.training for name, one in models.items() if isinstance(one, Fitted) and one.training}
    rows = Tee({name: FingerprintFold.beside(one) for name, one in learnt.items()})
    folds = Tee({"sums": fold, "tally": TallyFold(), "rows": rows, "shape": OutcomeShapeFold()})
    found = run(source.select(fold.needs()), folds, executor, progress)
    if ordered and any(isinstance(one, Fitted) and one.model.learns_examination for one in models.values()):
        refuse_sorted(found["shape"])
    if not found["tally"].impressions:
        raise EmptyLogError(f"{source.describe()} has no sessions", "give a log with at least one impression")
    spread = fold.inference.inference(fold.columns, found["sums"])
    each = {name: _evaluated(index, one, spread, found["tally"]) for index, (name, one) in enumerate(models.items())}
    for name, judged in found["rows"].items():
        seen = cautions_for(TrainingEvidence(share=share_learnt(learnt[name], judged), policy=False))
        each[name] = replace(each[name], cautions=(*seen, *each[name].cautions))
    return Evaluations(each, spread)


OF_FIT = 65_536
"""Sessions from which it is told how well a model fits: reading all again would take as long as learning."""


@dataclass(frozen=True)
class Fit:
    """How well a model fits sessions that it was learnt from: the first `OF_FIT` of the log, or all if it has fewer.

    log_likelihood: mean per session, in nats. by_rank: that of click rates by rank alone; ahead: the difference. All
    three, and the perplexity, are better than on other sessions. impossible: sessions to which it gives probability 0.
    """

    sessions: int
    log_likelihood: Interval
    by_rank: Interval
    ahead: Interval
    perplexity: Interval
    perplexity_at_rank: tuple[Interval, ...]
    impossible: int


@dataclass(frozen=True)
class _First(SourceOver):
    """The first `OF_FIT` sessions of a source, the same however it is cut into parts and batches."""

    def describe(self) -> str:
        return self.source.describe()

    def parts(self) -> int:
        return 1

    def batches(self, part: int) -> Iterator[LogBatch]:
        left = OF_FIT
        for batch in (batch for one in range(self.source.parts()) for batch in self.source.batches(one)):
            yield batch if len(batch) <= left else batch.take(np.arange(left))
            if (left := left - len(batch)) <= 0:
                return


def fit_to(model: Fitted, source: Source, confidence: float) -> Fit | None:
    """How well a model fits the log that it was learnt from; None where that cannot be read again in this process."""
    if is_read_once(source) or engine_of(source) is not None or model.rank_rates is None:
        return None
    judged = evaluate_models({"": model}, _First(source), confidence=confidence)
    one, spread = judged[""], judged.spread
    likely, by_rank = (ratio(sum_of_model(name, 0), SESSIONS) for name in (LIKELIHOOD, BY_RANK))
    numbers = one.log_likelihood, spread.interval(by_rank), spread.difference(likely, by_rank), one.perplexity
    return Fit(one.sessions, *numbers, one.perplexity_at_rank, one.impossible)


def _evaluated(index: int, model: Predictor, spread: Inference, tally: Tally) -> Evaluated:
    """The results of a model, with cautions."""
    total, used = spread.sums.total, used_ranks(spread.sums)
    ranks = range(max(used, default=-1) + 1)
    likely, before, given = (spread.interval(statistic(index, quantity, used)) for quantity in QUANTITIES)
    before_at_rank, given_at_rank = (
        tuple(spread.interval(statistic(index, quantity, [at])) if at in used else _NOWHERE for at in ranks)
        for quantity in AT_RANK
    )
    refuted, fitted = round(float(total[sum_of_model(IMPOSSIBLE, index)])), model if isinstance(model, Fitted) else None
    missing = float(total[sum_of_model(UNSEEN, index)]) / float(total[SHOWN]) if fitted and total[SHOWN] else None
    ahead = spread.difference(*(ratio(sum_of_model(name, index), SESSIONS) for name in (LIKELIHOOD, BY_RANK)))
    known = not refuted and fitted is not None and fitted.rank_rates is not None
    evidence = PredictionEvidence(
        sessions=tally.impressions,
        unseen=missing or 0.0,
        learnt=fitted.tally.ranks if fitted else 0,
        slots=len(total[WITH_RANK]),
        impossible=refuted,
        features=fitted is not None and fitted.model.columns is not None,
        ahead=ahead if known else None,
    )
    likely = Interval(-math.inf, -math.inf, -math.inf, math.inf) if refuted else likely
    seen = tally.impressions, tuple(total[WITH_RANK][: len(ranks)].tolist()), missing, refuted, tally
    found = (likely, before, given, before_at_rank, given_at_rank)
    return Evaluated(*found, *seen, cautions_for(evidence), spread.confidence)


def _row(model: str, quantity: str, rank: int | None, found: Interval) -> dict[str, Any]:
    return {"model": model, "quantity": quantity, "rank": rank, **found.to_dict(), "difference": None}


SESSIONS, SHOWN, WITH_RANK = "sessions", "shown", "sessions with the rank"
"""Columns of the sums, one per session and the documents shown; and by rank the sessions that have it."""
LIKELIHOOD, UNSEEN, IMPOSSIBLE, BY_RANK = "log_likelihood", "unseen", "impossible", "log_likelihood by rank"
"""Of each model: the log-likelihood, the documents unseen in training, the sessions to which it gives probability 0
(the only ones that are not divided by the inclusion), and the log-likelihood by the click rates of its training log's
ranks."""
BEFORE, GIVEN = "perplexity", "conditional_perplexity"
"""Of each model by rank: the loss of its click, in bits, without knowing other clicks, and given the clicks above."""


def sum_of_model(name: str, model: int) -> Name:
    """The name of a column of a model."""
    return f"{name} of model {model}"


def prediction_columns(models: int) -> NamedColumns:
    """The columns of the sums for so many models; ranks come last."""
    once = [sum_of_model(name, one) for one in range(models) for name in (LIKELIHOOD, UNSEEN, IMPOSSIBLE, BY_RANK)]
    losses = [sum_of_model(name, one) for name in (BEFORE, GIVEN) for one in range(models)]
    return NamedColumns((SESSIONS, SHOWN, *once), (WITH_RANK, *losses))


def used_ranks(sums: Sums) -> list[int]:
    """The ranks that occur in any session."""
    return np.flatnonzero(sums.total[WITH_RANK] > 0).tolist()


def statistic(model: int, quantity: Quantity, ranks: Sequence[int]) -> Mean:
    """A quantity of a model as a function of the sums.

    Perplexity is the mean over these ranks, each over its sessions, of 2^loss: Eq. 2 and 3 of paper cmip-debiasedness.
    """
    if quantity == LIKELIHOOD:
        return ratio(sum_of_model(LIKELIHOOD, model), SESSIONS)
    loss, at = sum_of_model(quantity, model), list(ranks)
    reads = loss, WITH_RANK
    return Mean(lambda s: np.exp(math.log(2) * (s[loss] / s[WITH_RANK])[..., at]).mean(axis=-1), reads, (SESSIONS,))


@dataclass(frozen=True)
class PredictionFold(Fold):
    """Reduces batches to sums in `prediction_columns`, with more columns where a later slate is longer."""

    models: tuple[Predictor, ...]
    inference: IntervalSpec

    def needs(self) -> Needs:
        """The columns needed: clicks, and those of the models and clusters."""
        wanted = [Needs(frozenset(["clicks"]), holes=True), *(model.needs() for model in self.models)]
        return reduce(Needs.__or__, [*wanted, self.inference.needs()])

    @cached_property
    def columns(self) -> NamedColumns:
        """The names of the sums."""
        return prediction_columns(len(self.models))

    def of(self, batch: LogBatch) -> dict[str, Any]:
        clicks, shown = whole_clicks(batch), batch.slates >= 0
        named = ByName(self.columns, np.zeros((len(batch), self.columns.width(shown.shape[1]))))
        named[SESSIONS], named[SHOWN], named[WITH_RANK] = 1.0, shown.sum(axis=1), shown
        for index, model in enumerate(self.models):
            before, given, likelihood, possible = _losses(model, batch, clicks, shown)
            named[sum_of_model(BEFORE, index)], named[sum_of_model(GIVEN, index)] = before, given
            named[sum_of_model(LIKELIHOOD, index)] = likelihood
            if isinstance(model, Fitted):
                document = model.documents.slots(batch.contexts, batch.slates).document
                named[sum_of_model(UNSEEN, index)] = ((document < 0) & shown).sum(axis=1)
                if model.rank_rates is not None:
                    chance = np.broadcast_to(of_ranks(model.rank_rates, shown.shape[1]), shown.shape)
                    logs = np.log(np.where(shown, chance_of(chance, clicks), 1.0)).sum(axis=1)
                    named[sum_of_model(BY_RANK, index)] = logs
            named[sum_of_model(IMPOSSIBLE, index)] = ~possible * batch.inclusion  # of sessions read, without weights
        values = named.array / batch.inclusion[:, None]
        sums = Tee(self.inference.folds(self.columns))  # later samples have more columns
        return sums.of(Sample.of(values, batch.row, self.inference.codes(batch)))


def _losses(
    model: Predictor, batch: LogBatch, clicks: Floats, shown: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """A model's predictions for n sessions: (before, given, log-likelihood, possible).

    before, given: [n, k] -log2 P of the outcome at each rank, without and with the clicks above, 0 where nothing is
    shown. log-likelihood: [n] in nats, 0 where impossible. possible: [n] whether P > 0.
    """
    law = model.law(batch.contexts, batch.slates)
    before, given = law.marginal(), law.conditional(clicks)
    happened = np.where(shown, chance_of(given, clicks), 1.0)
    possible = np.asarray((happened > 0).all(axis=1))
    logs = np.log(np.where(happened > 0, happened, 1.0)).sum(axis=1)
    clipped = (chance_of(np.clip(chance, PERPLEXITY_CLIP, 1 - PERPLEXITY_CLIP), clicks) for chance in (before, given))
    left, right = (np.where(shown, -np.log2(chance), 0.0) for chance in clipped)
    return left, right, np.where(possible, logs, 0.0), possible
