"""The direction of dependence: Spearman's rank correlation of relevance with the logging policy, within grades."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from ...log.batch import Floats
from ...sums.estimate import Interval
from .base import GradedDocuments

_Ranked = tuple[Floats, Callable[[Floats], Floats]]


def direction(documents: GradedDocuments, confidence: float) -> Interval:
    """The mean over draws and, weighted by their documents, over grades; + where documents shown high are relevant.

    `logging` is small where the policy shows a document high, as ranks are. The standard error is that of the
    documents, or of clusters, by the influence of each on the correlations; it takes draws together, so that a
    document counts once. A grade in which one of the two is constant counts as 0.
    """
    value, influence = float(correlations(documents).mean()), np.zeros(len(documents))
    for own in documents.members:
        logging = _ranks(-documents.logging[own])
        influence[own] = np.mean([_influence(_ranks(one), logging) for one in documents.relevance[own].T], axis=0)
    sums = influence if documents.cluster is None else np.bincount(documents.cluster, influence)
    error = math.sqrt(float(sums @ sums)) / len(documents)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Interval(value, value - half, value + half, error)


def correlations(documents: GradedDocuments) -> Floats:
    """[draws] the direction of each draw."""
    found = np.zeros(documents.relevance.shape[1])
    for own in documents.members:
        g, _ = _ranks(-documents.logging[own])
        for draw, relevance in enumerate(documents.relevance[own].T):
            f, _ = _ranks(relevance)
            scale = math.sqrt(float((f @ f) * (g @ g)))
            found[draw] += len(own) * float(f @ g) / scale if scale else 0.0
    return found / len(documents)


def _influence(x: _Ranked, y: _Ranked) -> Floats:
    """[n] the influence of each document on Spearman's correlation (its first-order projection).

    With mid-ranks F and G from -1/2 to 1/2, that is E[F G] / sqrt(E[F^2] E[G^2]). A document adds its own product, and
    moves the ranks of all others: hence the two sums over those above it.
    """
    (f, above_x), (g, above_y) = x, y
    scale = math.sqrt(float((f @ f) * (g @ g)))
    if scale == 0:
        return np.zeros(len(f))
    product = f * g + above_x(g) + above_y(f)
    return np.asarray((product - product.mean()) * len(f) / scale)


def _ranks(values: Floats) -> _Ranked:
    """Mid-ranks [n] from -1/2 to 1/2, and the function to the mean, for each, of others' numbers at values above it."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values) - 0.5

    def above(numbers: Floats) -> Floats:
        sums = np.bincount(place, numbers)
        after = np.cumsum(sums[::-1])[::-1]
        return np.asarray((after - sums / 2)[place] / len(values))

    return middle[place], above
