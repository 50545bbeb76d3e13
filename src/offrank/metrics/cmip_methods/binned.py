"""Mutual information from counts in quantile bins, whose number is doubled while that adds information.

Within a grade, relevance and logging are cut into 2, 4, 8, ... bins of equal counts. Information grows with
the bins, and so do bias and noise. The bias is taken out by Grassberger's correction (2003), which holds down
to a handful of documents per cell. The noise is reduced in the increments, not in the sum: each increment
is shrunk towards the one predicted from the increment before it, and more so the smaller it is relative to its noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ...errors import UsageError
from ...log.batch import Floats, Integers
from ._kernels import PER_CELL, informations
from .base import CmiMethod, GradedDocuments, Information, Progress, no_progress, permutation

_AT_ONCE = 1 << 20
"""Documents that are permuted at once."""


@dataclass(frozen=True)
class Binned:
    """I(relevance; logging | grade) by quantile bins within grades, without optional libraries.

    The standard error is that of `replicates` random halves around the value: their spread is the sampling
    error of the whole, and their mean difference to it is the bias that more documents would still change. Of several
    draws of the relevance it is the mean's, from half as many halves, with the error of having no more draws.
    """

    replicates: int = 50
    name: ClassVar[str] = "binned"
    least: ClassVar[int] = 1_000
    smallest: ClassVar[int] = 4 * PER_CELL
    permutations: ClassVar[int] = 200
    worlds: ClassVar[int] = 20
    bias: ClassVar[str] = ""

    def value(self, documents: GradedDocuments, rng: np.random.Generator) -> float:
        """The information alone."""
        return _value(_ranked(documents))

    def measure(
        self, documents: GradedDocuments, rng: np.random.Generator, permutations: int, progress: Progress | None
    ) -> Information:
        draws, shares, report = documents.relevance.shape[1], _shares(documents), progress or no_progress
        count, ranked = self.replicates if draws == 1 else -(-self.replicates // 2), _ranked(documents)
        found = np.empty((draws, 1 + permutations, len(shares)))
        for place, (own, blocks) in enumerate(zip(ranked.members, ranked.blocks(), strict=True)):
            found[:, :1, place] = _informations(ranked, own)
            most = max(_AT_ONCE // len(own), 1)
            for first in range(1, 1 + permutations, most):
                rows = range(first, min(first + most, 1 + permutations))
                orders = np.stack([permutation(len(own), blocks, rng) for _ in rows])  # the same ones for all draws
                found[:, rows, place] = _informations(ranked, own, orders)
            report(place + 1, len(shares) + count)
        values = found.mean(axis=0)
        totals, halves = values @ shares, np.empty(count)
        for place, half in enumerate(ranked.halves(rng, count)):
            halves[place] = _value(half)
            report(len(shares) + place + 1, len(shares) + count)
        value = float(totals[0])
        of_draws = (found[:, 0] @ shares).var(ddof=1) / draws if draws > 1 else 0.0
        error = float(np.sqrt(np.mean((halves - value) ** 2) + of_draws))
        return Information(value, error, values[0], totals[1:], value)


def cmi_method(method: str | CmiMethod) -> CmiMethod:
    """The estimator that is meant.

    Raises:
        UsageError: there is none of this name.
    """
    if not isinstance(method, str):
        return method
    if method != "binned":
        raise UsageError(f"method is {method!r}", "use binned, or an estimator: offrank_papers.cmip_methods.Paper()")
    return Binned()


def _ranked(documents: GradedDocuments) -> GradedDocuments:
    """The documents with ranks from 0 within their grade for values, so that parts of them need not be sorted."""
    relevance, logging = np.empty(documents.relevance.shape), np.empty(len(documents))
    for own in documents.members:
        logging[own] = np.unique(documents.logging[own], return_inverse=True)[1]
        for draw, values in enumerate(documents.relevance[own].T):
            relevance[own, draw] = np.unique(values, return_inverse=True)[1]
    return replace(documents, relevance=relevance, logging=logging)


def _value(ranked: GradedDocuments) -> float:
    return float(_shares(ranked) @ [_informations(ranked, own).mean() for own in ranked.members])


def _shares(documents: GradedDocuments) -> Floats:
    return np.array([len(own) for own in documents.members]) / len(documents)


def _informations(ranked: GradedDocuments, own: Integers, orders: Integers | None = None) -> Floats:
    """[draws, orders] the information within one grade, with its logging relevance in each order, or as it is."""
    relevance, logging = ranked.relevance[own].T.astype(np.int64, order="C"), ranked.logging[own].astype(np.int64)
    orders = np.arange(len(own))[None] if orders is None else orders
    return np.asarray(informations(relevance, logging, orders, _logs_up_to(1 << max(len(own), 1024).bit_length())))


@lru_cache(maxsize=2)
def _logs_up_to(size: int) -> Floats:
    """Grassberger's G at 0, ..., size: sum of c G(c) estimates sum of n p log(n p) with little bias."""
    from scipy.special import digamma

    counts = np.arange(1, size + 1, dtype=np.float64)
    swing = (digamma((counts + 1) / 2) - digamma(counts / 2)) / 2
    logs = digamma(counts) + np.where(counts % 2 == 0, swing, -swing)
    return np.concatenate([[0.0], logs])
