"""nDCG of click models on graded documents, with its doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ...folds.estimate import Interval
from ...log.batch import Floats, Integers
from ...metrics.ranking import ndcg
from .. import document

_ROUNDING = 1e-9
"""Relevances that differ by less, relatively, are the same sum of weights in another order."""


@dataclass(frozen=True)
class Ranked:
    """nDCG of each model on each query: values [models, q]."""

    values: Floats
    confidence: float

    def of(self, model: int) -> Interval:
        """The mean over queries: each counts once, however often it was asked."""
        return _mean(self.values[model], self.confidence)

    def difference(self, left: int, right: int) -> Interval:
        """left - right on the same queries."""
        return _mean(self.values[left] - self.values[right], self.confidence)

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain dicts and numbers, by the names of the models; differences are to the first."""
        numbered = dict(enumerate(names))
        return {
            "queries": self.values.shape[1],
            "models": {name: document.interval(self.of(index)) for index, name in numbered.items()},
            "differences": {
                name: document.interval(self.difference(index, 0)) for index, name in numbered.items() if index
            },
        }


def ndcg_by_query(query: Integers, grade: Floats, relevance: list[Floats], confidence: float) -> Ranked:
    """Of documents [d], by each model's relevance of them.

    Documents of equal relevance, but for rounding, stand in every order equally often: each gets their mean gain. A
    query of which no document has a grade above 0 counts 0, as in paper cmip-debiasedness.
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
    # As grades: padded queries, with the mean gain of what is tied.
    found, judged = np.zeros((2, len(size), size.max()))
    found[row, rank], judged[row, rank] = np.log2(shared + 1), grade
    return ndcg(found, judged=judged)


def _mean(values: Floats, confidence: float) -> Interval:
    value, n = float(values.mean()), len(values)
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Interval(value, value - half, value + half, error)
