"""Judged queries for a simulated world: generated to resemble MSLR, and cut to equal numbers of documents."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import EmptyLogError, UsageError
from ..language.from_text import GENERATED
from ..log.batch import Floats, Integers
from ..log.graded_queries import Judged
from ..readers.svmlight import read_svmlight
from ..readers.trec import read_trec
from ..running.executors import Progress

_QUERIES = 1000

Places = Callable[[Integers, Integers, int], Integers]
"""(counts of each grade [q, grades], documents [q, 1], places) -> places of each grade [q, grades]."""

_SHARES = (0.52, 0.323, 0.13, 0.018, 0.009)  # of the grades 0 to 4
_ASPECTS = 8
_NOISE = 1.6
_APPEAL = 0.7  # of queries: some have many relevant documents, some none

_FAMILIES: dict[str, tuple[int, Callable[[Floats, Floats], NDArray[Any]]]] = {
    "covered query terms": (5, lambda signal, terms: np.round(terms * _squashed(signal))),
    "covered query terms, share": (10, lambda signal, terms: np.round(terms * _squashed(signal)) / terms),
    "lengths": (10, lambda signal, _: np.exp(5 + 1.5 * signal) // 1),
    "rarity of the query": (5, lambda signal, terms: terms * np.exp(1 + 0.3 * signal)),
    "term counts": (30, lambda signal, terms: terms * np.exp(1 + signal) // 1),
    "term frequencies": (30, lambda signal, _: np.exp(1.5 * signal - 4)),
    "language models": (15, lambda signal, terms: -terms * np.log1p(np.exp(2 - signal)) * 3),
    "matching scores": (10, lambda signal, terms: np.maximum(0.0, 4 * signal + terms)),
    "flags": (5, lambda signal, _: (signal > 0.8) * 1.0),
    "mostly zero": (10, lambda signal, _: np.exp(2 * np.maximum(0.0, signal - 1.2)) // 1 - 1),
    "links, visits and dwell time": (4, lambda signal, _: np.minimum(1e8, np.exp(7 + 4 * signal) // 1)),
    "constants": (2, lambda signal, _: np.ones(len(signal))),
}
"""136 features by their generation: (how many, [rows] values of a normal signal and the number of query terms)."""


def stratified(
    judged: Judged, documents: int = 10, seed: int = 0, *, places: Places | None = None
) -> tuple[Judged, int]:
    """Sample by grade; return (queries with `documents` documents each, number of dropped queries).

    Paper cmip-debiasedness, section 5.1.2. A query keeps the proportions of its grades as well as whole numbers can;
    the documents of a grade that stay, and their order, are random, and the same for the same seed.

    Parameters:
        judged: the judged queries.
        documents: how many each query keeps.
        seed: of the sample.
        places: how many of each grade [q, grades] stay, from their counts [q, grades], all documents [q, 1] and the
            places; a query whose sum differs is dropped. By default largest remainders, with ties to the higher grade.

    Returns:
        The queries with so many documents each, and the number of queries that were dropped.

    Raises:
        UsageError: fewer than 1 document.
        EmptyLogError: no query is left.

    Examples:
        >>> judged, left_out = offrank.simulation.stratified(offrank.simulation.mslr_like(20, (20, 30)), 10)
        >>> set(judged.sizes.tolist())
        {10}
    """
    if documents < 1:
        raise UsageError(f"documents is {documents!r}", "give at least 1")
    rng = np.random.default_rng(seed)
    _, grade = np.unique(judged.grade, return_inverse=True)
    owner, grades = judged.owner, int(grade.max(initial=0)) + 1
    counts = np.bincount(owner * grades + grade, minlength=len(judged) * grades).reshape(len(judged), grades)
    share = (places or _largest_remainders)(counts, judged.sizes[:, None], documents)
    kept = np.flatnonzero((judged.sizes >= documents) & (share.sum(axis=1) == documents))
    if not len(kept):
        raise EmptyLogError(f"no query has {documents} documents", "use fewer documents per query")
    order = np.lexsort((rng.random(judged.rows), grade, owner))
    before = np.cumsum(counts) - counts.ravel()
    rank = np.arange(judged.rows) - before[(owner * grades + grade)[order]]
    rows = order[rank < share[owner[order], grade[order]]]
    rows = rows[np.lexsort((rng.random(len(rows)), owner[rows]))]
    rows = rows[np.isin(owner[rows], kept)]
    return judged.pick(kept, np.full(len(kept), documents), rows), len(judged) - len(kept)


def _largest_remainders(counts: Integers, sizes: Integers, documents: int) -> Integers:
    """Round the grades' shares of `documents` by largest remainders, keeping the sum [q, grades]."""
    places, rest = np.divmod(documents * counts, np.maximum(sizes, 1))
    missing = documents - places.sum(axis=1, keepdims=True)
    order = np.argsort(-rest[:, ::-1], axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")[:, ::-1]
    return np.asarray(places + (rank < missing))


def mslr_like(queries: int = 1000, documents: tuple[int, int] | None = None, seed: int = 0) -> Judged:
    """Generate judged documents with 136 features of different scales and grades 0 to 4 in about MSLR's proportions.

    The shares of the grades are 52, 32.3, 13, 1.8 and .9 %, up to rounding.

    A document has latent aspects, in part those of its query; its relevance depends on them, on their interactions
    and on factors in no feature (noise, and the query's supply of relevant documents); each feature depends on two of
    the aspects and on noise. So a ranker can learn much but not all: LambdaMART trained on 1,000 queries has
    an nDCG@10 near .5 on others, a random order .23. Other seeds give other queries of the
    same distribution, so that models trained on one set apply to the others.

    Parameters:
        queries: how many.
        documents: the minimum and the maximum per query, with uniform sizes; by default MSLR's sizes, about 120 on
            average, few below 10, up to 1,000.
        seed: of everything.

    Returns:
        The judged documents.

    Raises:
        UsageError: no queries, or invalid sizes.

    Examples:
        >>> offrank.simulation.mslr_like(10, (5, 5)).grade.size
        50
    """
    low, high = (1, 1000) if documents is None else documents
    if queries < 1 or not 1 <= low <= high:
        raise UsageError(
            f"{queries} queries of {low} to {high} documents", "give at least 1 of each, the smaller number first"
        )
    rng = np.random.default_rng([seed, 136])
    if documents is None:
        sizes = np.clip(np.exp(rng.normal(4.34, 0.95, queries)), low, high).astype(np.int64)
    else:
        sizes = rng.integers(low, high, queries, endpoint=True)
    first = np.concatenate([[0], np.cumsum(sizes)])
    of_query = rng.normal(size=(queries, _ASPECTS))
    aspects = 0.8 * rng.normal(size=(first[-1], _ASPECTS)) + 0.6 * np.repeat(of_query, sizes, axis=0)
    terms = np.repeat(1.0 + rng.poisson(2.0, queries), sizes)
    appeal, rows = np.repeat(rng.normal(size=queries), sizes), np.arange(first[-1])
    return Judged(np.arange(1, queries + 1), first, _grades(aspects, appeal, rng), _features(aspects, terms, rng), rows)


def _squashed(signal: Floats) -> Floats:
    return 1 / (1 + np.exp(-1.5 * signal))


def _grades(aspects: Floats, appeal: Floats, rng: np.random.Generator) -> Floats:
    """Return grades 0 to 4 [rows]: the highest relevance has the highest grade."""
    match, name, fame, trust, fresh = aspects.T[:5]
    relevance = match + 0.6 * name + 0.5 * match * fame + 0.5 * np.maximum(trust, 0) - 0.3 * fresh**2
    noise = _APPEAL * appeal + _NOISE * rng.normal(size=len(match))
    rank = np.argsort(np.argsort(relevance + noise, kind="stable"), kind="stable")
    return np.searchsorted(np.cumsum(_SHARES)[:-1], (rank + 0.5) / len(rank)).astype(np.float64)


def _features(aspects: Floats, terms: Floats, rng: np.random.Generator) -> Floats:
    """Return features with six decimals [rows, 136]; the aspects of each feature are the same for every seed."""
    law = np.random.default_rng(136)
    total = sum(count for count, _ in _FAMILIES.values())
    out, column = np.empty((len(terms), total)), 0
    for count, transform in _FAMILIES.values():
        for _ in range(count):
            weights = _weights(law)
            noise = np.sqrt(1 - weights @ weights) * rng.normal(size=len(terms))
            out[:, column] = np.round(transform(aspects @ weights + noise, terms), 6)
            column += 1
    return out


def _weights(law: np.random.Generator) -> Floats:
    """Return the loadings of a feature's signal on the aspects [aspects]: one large, another small."""
    weights, (main, other) = np.zeros(_ASPECTS), law.choice(_ASPECTS, 2, replace=False)
    weights[main], weights[other] = law.uniform(0.3, 0.8), law.uniform(-0.3, 0.3)
    return weights


def judged_queries(
    data: str | os.PathLike[str] | Judged,
    queries: int | None,
    seed: int,
    progress: Progress | None,
    qrels: str | os.PathLike[str] | None = None,
) -> Judged:
    """Return judged queries: of SVMlight files, of a run of TREC with its judgments, given, or generated.

    Raises:
        UsageError: fewer than one, or judgments without a run. LogError: the files cannot be read.
    """
    if qrels is not None and (isinstance(data, Judged) or data == GENERATED):
        raise UsageError("judgments are given without a run of TREC", "name it as the data")
    if queries is not None and queries < 1:
        raise UsageError(f"queries is {queries!r}", "give at least 1")
    if data == GENERATED:
        return mslr_like(queries or _QUERIES, seed=seed)
    if isinstance(data, Judged):
        found = data
    else:
        found = read_svmlight(Path(data), progress=progress) if qrels is None else read_trec(Path(data), Path(qrels))
    return found if queries is None else found.take(np.arange(min(queries, len(found))))
