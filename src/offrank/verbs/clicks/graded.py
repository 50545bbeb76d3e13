"""One pass over a log: its graded documents, their relevance by each click model, their expected rank, and nDCG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from statistics import NormalDist
from typing import Any

import numpy as np

from ...clicks.fitted import Fitted
from ...errors import EmptyLogError, LogError
from ...folds.base import MappedFold, PlusFold
from ...folds.counts import join
from ...folds.estimate import Interval
from ...frames import plain
from ...log.batch import Contexts, Floats, Integers, LogBatch
from ...log.source import Needs, Source, needs
from ...metrics.ranking import ndcg
from ...policies.base import Policy, all_items
from ...running.executors import Executor, Progress, run

_ROUNDING = 1e-9
"""Relevances that differ by less than this relative amount are rounding errors of the same sum."""


@dataclass(frozen=True)
class Graded:
    """Graded documents of a log: distinct pairs of a query and a candidate, sorted by key [d].

    - query: [d]. least, most: [d] lowest and highest grade; they differ where the log contradicts itself.
    - relevance: [d, models] by each model; it is the same for every occurrence of a document.
    - sums: [d, 2] impressions, and sum of ranks. A candidate that is not shown ranks one below the slate.
    - drawn: [d, draws] relevance by draws of the models. code: [d, models] index into the tables of each model.
    """

    key: Integers
    query: Integers
    least: Floats
    most: Floats
    relevance: Floats
    sums: Floats
    drawn: Floats
    code: Integers

    def __len__(self) -> int:
        return len(self.key)

    def __add__(self, other: Graded) -> Graded:
        if not len(self) or not len(other):
            return self if len(self) else other
        names = [one.name for one in fields(self)]
        return Graded(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names)).once()

    def once(self) -> Graded:
        """Return every document once, merging repeated ones."""
        order = np.argsort(self.key, kind="stable")
        key, first = np.unique(self.key[order], return_index=True)
        least, most = np.minimum.reduceat(self.least[order], first), np.maximum.reduceat(self.most[order], first)
        sums, rows = np.add.reduceat(self.sums[order], first), order[first]
        same = (self.drawn[rows], self.code[rows])
        return Graded(key, self.query[rows], least, most, self.relevance[rows], sums, *same)

    @property
    def grade(self) -> Floats:
        """Return the grade of each document [d].

        Raises:
            LogError: a document has several grades.
        """
        several = int((self.least != self.most).sum())
        if several:
            raise LogError(f"{several:,} documents have more than one grade", "give a document one grade per query")
        return self.least

    @property
    def rank(self) -> Floats:
        """Return the expected rank of each document [d], counted from 1 and rounded so that equal ranks tie."""
        return np.asarray(np.round(self.sums[:, 1] / self.sums[:, 0], 9))

    def ndcg(self, confidence: float) -> Ranked:
        """Return the nDCG of each model."""
        return ndcg_by_query(self.query, self.grade, list(self.relevance.T), confidence)


@dataclass(frozen=True)
class GradedFold(MappedFold):
    """Fold of a log to `Graded`. grades: the column beside the candidates; by: the column of the queries.

    policy: gives the rank of each candidate; None: use the mean of the logged ranks. draws: of the models, whose
    relevance is gathered too. Memory grows with the distinct documents. Rows of the same context are processed once.
    """

    models: Mapping[str, Fitted]
    grades: str
    by: str
    policy: Policy | None = None
    draws: Sequence[Fitted] = ()

    def needs(self) -> Needs:
        """Return the columns to read: grades, queries, and those that the models and the policy need."""
        wanted = [needs("candidates", scores=self.grades, keys=self.by)]
        wanted += [model.needs() for model in self.models.values()]
        if self.policy is not None:
            wanted.append(self.policy.needs("rank_probs"))
        return reduce(Needs.__or__, wanted)

    @property
    def reducer(self) -> PlusFold:
        none, no = np.empty(0, np.int64), np.empty(0)
        models = np.empty((0, len(self.models)))
        drawn, code = np.empty((0, len(self.draws))), models.astype(np.int64)
        return PlusFold(Graded(none, none, no, no, models, np.empty((0, 2)), drawn, code))

    def mapped(self, batch: LogBatch) -> Graded:
        contexts, place = _distinct(batch.contexts)
        items = all_items(contexts)
        inside = items >= 0
        weight: Floats = np.bincount(place, 1 / batch.inclusion).astype(np.float64, copy=False)
        models = tuple(self.models.values())
        seen = np.stack([model.relevance(contexts)[inside] for model in (*models, *self.draws)], axis=-1)
        code = np.stack([model.documents.codes(contexts)[inside] for model in models], axis=-1)
        ranks = np.stack([np.ones(inside.shape), self._ranks(contexts, items, batch, place)], axis=-1)
        query: Integers = np.broadcast_to(contexts.keys[self.by][:, None], inside.shape)
        key = join(query, contexts.candidates)
        grade: Floats = contexts.scores[self.grades]
        sums: Floats = ranks * weight[:, None, None]
        own, relevance, drawn = grade[inside], seen[:, : len(models)], seen[:, len(models) :]
        return Graded(key[inside], query[inside], own, own, relevance, sums[inside], drawn, code).once()

    def read(self, source: Source, executor: Executor | None, progress: Progress | None) -> Graded:
        """Read the documents of a log.

        Raises:
            LogError: a column is missing, there are no documents, or grades are below 0.
        """
        found = run(source.select(self.needs()), self, executor, progress)
        if not len(found):
            raise EmptyLogError(f"{source.describe()} has no documents", "give a log with at least one impression")
        if found.least.min() < 0:
            raise LogError(f"a grade in {self.grades!r} is below 0", "write grades from 0, the least relevant, upwards")
        return found

    def _ranks(self, contexts: Contexts, items: Integers, batch: LogBatch, place: Integers) -> Floats:
        """Return the mean rank of each candidate of the distinct contexts [n, m]."""
        below = contexts.length[:, None] + 1.0
        if self.policy is not None:
            probs = self.policy.rank_probs(contexts, items)
            return np.asarray(probs @ np.arange(1.0, probs.shape[2] + 1) + (1 - probs.sum(axis=2)) * below)
        weight, ranks = 1 / batch.inclusion, np.arange(1.0, batch.slates.shape[1] + 1)
        row, rank = np.nonzero(batch.slates >= 0)
        cell = (place[row], batch.slates[row, rank])
        shown, total = np.zeros((2, *items.shape))
        np.add.at(shown, cell, weight[row])
        np.add.at(total, cell, (weight[row] * ranks[rank]))
        often = np.bincount(place, weight)[:, None]
        return np.asarray((total + (often - shown) * below) / often)


def _distinct(contexts: Contexts) -> tuple[Contexts, Integers]:
    """Return the distinct contexts, and the index of each row's context."""
    if contexts.features is not None:
        return contexts, np.arange(len(contexts))
    key = join(contexts.size, contexts.length, *contexts.keys.values(), *contexts.candidates.T)
    for ranking in contexts.rankings.values():
        key = join(key, *ranking.T)
    for score in contexts.scores.values():
        key = join(key, *np.ascontiguousarray(score.T).view(np.int64))
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return contexts.take(first), place


@dataclass(frozen=True)
class Ranked:
    """nDCG of each model on each query: values [models, q]."""

    values: Floats
    confidence: float

    def of(self, model: int) -> Interval:
        """Return the mean over queries; each query counts once, whatever its frequency."""
        return _mean(self.values[model], self.confidence)

    def difference(self, left: int, right: int) -> Interval:
        """Return the paired difference left - right over the same queries."""
        return _mean(self.values[left] - self.values[right], self.confidence)

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return plain dicts and numbers, keyed by model name; differences are to the first."""
        found = {name: plain(self.of(index)) for index, name in enumerate(names)}
        away = {name: plain(self.difference(index, 0)) for index, name in enumerate(names) if index}
        return {"queries": self.values.shape[1], "models": found, "differences": away}


def ndcg_by_query(query: Integers, grade: Floats, relevance: list[Floats], confidence: float) -> Ranked:
    """Compute nDCG by query from documents [d] and each model's relevance of them.

    Documents of equal relevance, up to rounding, are ordered in all ways equally often: each gets their mean gain. A
    query without a document of grade above 0 counts as 0, as in paper cmip-debiasedness.
    """
    return Ranked(np.stack([_by_query(query, grade, one) for one in relevance]), confidence)


def _by_query(query: Integers, grade: Floats, relevance: Floats) -> Floats:
    order = np.lexsort((-relevance, query))
    query, grade, relevance = query[order], grade[order], relevance[order]
    starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]]))
    size = np.diff(np.append(starts, len(query)))
    apart = ~np.isclose(relevance[1:], relevance[:-1], rtol=_ROUNDING, atol=0.0)
    tied = np.concatenate([[True], (query[1:] != query[:-1]) | apart]).cumsum() - 1
    gain = np.exp2(grade) - 1
    shared = np.bincount(tied, gain)[tied] / np.bincount(tied)[tied]
    row, rank = np.repeat(np.arange(len(size)), size), np.arange(len(query)) - np.repeat(starts, size)
    # The padded queries are treated as grades, with the mean gain of tied documents.
    found, judged = np.zeros((2, len(size), size.max()))
    found[row, rank], judged[row, rank] = np.log2(shared + 1), grade
    return ndcg(found, judged=judged)


def _mean(values: Floats, confidence: float) -> Interval:
    value, n = float(values.mean()), len(values)
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Interval(value, value - half, value + half, error)
