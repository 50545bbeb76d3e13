"""One pass over a log: its graded documents, their relevance by each click model, their expected rank, and nDCG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np

from ..clicks.fitted import Fitted
from ..errors import EmptyLogError, LogError, UsageError
from ..frames import plain
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.source import Needs, Source, needs
from ..policies.base import Policy, all_items
from ..running.executors import Executor, Progress, run
from ..sums.base import Fold
from ..sums.counts import join
from ..sums.estimate import Interval
from ..wording import Option, Wording
from .ranking import ndcg

GradesBy = Literal["error", "median", "majority"]
"""Which of several grades of a document counts: none, the lower median, or the most frequent (of equals the lowest)."""
_ROUNDING = 1e-9
"""Relevances that differ by less than this relative amount are rounding errors of the same sum."""


@dataclass(frozen=True)
class Graded:
    """Graded documents of a log: distinct pairs of a query and a candidate, sorted by key and grade [d].

    - query, grade: [d]; until it is `settled`, a document has an entry per grade that it was given.
    - relevance: [d, models] by each model; it is the same for every occurrence of a document.
    - sums: [d, 2] impressions, and sum of ranks. A candidate that is not shown ranks one below the slate.
    - drawn: [d, draws] relevance by draws of the models. code: [d, models] index into the tables of each model.
    - disputed: how many documents had several grades before they were settled.
    """

    key: Integers
    query: Integers
    grade: Floats
    relevance: Floats
    sums: Floats
    drawn: Floats
    code: Integers
    disputed: int = 0

    def __len__(self) -> int:
        return len(self.key)

    def __add__(self, other: Graded) -> Graded:
        if not len(self) or not len(other):
            return self if len(self) else other
        names = ("key", "query", "grade", "relevance", "sums", "drawn", "code")
        both: dict[str, Any] = {one: np.concatenate([getattr(self, one), getattr(other, one)]) for one in names}
        return Graded(**both).once()

    def once(self) -> Graded:
        """Return every document with each of its grades once, merging repeated ones."""
        if not len(self):
            return self
        order = np.lexsort((self.grade, self.key))
        new = (np.diff(self.key[order]) != 0) | (np.diff(self.grade[order]) != 0)
        first = np.flatnonzero(np.append(True, new))
        return self._merged(order[first], np.add.reduceat(self.sums[order], first))

    def settled(self, by: GradesBy) -> Graded:
        """Return every document once, with one grade; of several that `by` says. A grade weighs as its impressions.

        Raises:
            LogError: a document has several grades, and by is "error".
        """
        first = np.flatnonzero(np.append(True, np.diff(self.key) != 0))
        several = int((np.diff(np.append(first, len(self))) > 1).sum())
        if several and by == "error":
            raise LogError(
                f"{several:,} documents have more than one grade",
                Wording(
                    "give a document one grade per query, or choose which counts: {}", Option("grades_by", "median")
                ),
            )
        weight, document = self.sums[:, 0], np.cumsum(np.append(True, np.diff(self.key) != 0)) - 1
        if by == "majority":  # of equals the lowest, which stands first
            chosen = np.lexsort((self.grade, -weight, document))[first]
        else:  # the lowest grade that half of the weight reaches
            total = np.add.reduceat(weight, first)
            below = np.cumsum(weight) - (np.cumsum(total) - total)[document]
            reached = np.flatnonzero(below >= (0.5 - _ROUNDING) * total[document])
            chosen = reached[np.unique(document[reached], return_index=True)[1]]
        return replace(self._merged(chosen, np.add.reduceat(self.sums, first)), disputed=several)

    def counted(self, by: GradesBy) -> dict[str, Any]:
        """Return the numbers of documents and queries, and what is to be said of documents with several grades."""
        found: dict[str, Any] = {"documents": len(self), "queries": len(np.unique(self.query))}
        if self.disputed:
            found["grades"] = f"{self.disputed:,} of {len(self):,} documents have several grades; their {by} is used"
        return found

    def _merged(self, rows: Integers, sums: Floats) -> Graded:
        found = (self.key[rows], self.query[rows], self.grade[rows], self.relevance[rows])
        return Graded(*found, sums, self.drawn[rows], self.code[rows])

    @property
    def rank(self) -> Floats:
        """Return the expected rank of each document [d], counted from 1 and rounded so that equal ranks tie."""
        return np.asarray(np.round(self.sums[:, 1] / self.sums[:, 0], 9))

    def ndcg(self, confidence: float) -> Ranked:
        """Return the nDCG of each model."""
        return ndcg_by_query(self.query, self.grade, list(self.relevance.T), confidence)


@dataclass(frozen=True)
class GradedFold(Fold):
    """Fold of a log to `Graded`. grades: the column beside the candidates; by: the column of the queries.

    policy: gives the rank of each candidate; None: use the mean of the logged ranks. draws: of the models, whose
    relevance is gathered too. grades_by: the grade of a document that was given several. Memory grows with the distinct
    documents. Rows of the same context are processed once.

    Raises:
        UsageError: there is no such rule for grades.
    """

    models: Mapping[str, Fitted]
    grades: str
    by: str
    policy: Policy | None = None
    grades_by: GradesBy = "error"
    draws: Sequence[Fitted] = ()

    def __post_init__(self) -> None:
        if self.grades_by not in get_args(GradesBy):
            raise UsageError(f"grades_by is {self.grades_by!r}", 'use "median", "majority" or "error"')

    def needs(self) -> Needs:
        """Return the columns to read: grades, queries, and those that the models and the policy need."""
        wanted = [needs("candidates", scores=self.grades, keys=self.by)]
        wanted += [model.needs() for model in self.models.values()]
        if self.policy is not None:
            wanted.append(self.policy.reads("rank_probs"))
        return reduce(Needs.__or__, wanted)

    def of(self, batch: LogBatch) -> Graded:
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
        relevance, drawn = seen[:, : len(models)], seen[:, len(models) :]
        return Graded(key[inside], query[inside], grade[inside], relevance, sums[inside], drawn, code).once()

    def read(self, source: Source, executor: Executor | None, progress: Progress | None) -> Graded:
        """Read the documents of a log.

        Raises:
            LogError: a column is missing, there are no documents, grades are below 0, or a document has several.
        """
        found = run(source.select(self.needs()), self, executor, progress)
        if not len(found):
            raise EmptyLogError(f"{source.describe()} has no documents", "give a log with at least one impression")
        if found.grade.min() < 0:
            raise LogError(f"a grade in {self.grades!r} is below 0", "use grades from 0, the least relevant, upwards")
        return found.settled(self.grades_by)

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
