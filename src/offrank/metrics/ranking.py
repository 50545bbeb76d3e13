"""Metrics of ranked lists: they turn relevance grades into one value per list.

Everywhere: `relevance` [..., k] holds the grades in ranked order, top first, and the last axis is
reduced. `where` [..., k] marks which of them are items; padding takes no rank, wherever it is.
`cutoff`: only this many items at the top count.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ..log.batch import Booleans, Floats, Integers

Gains = Literal["exponential", "linear"]
"""The gain of a grade: 2^grade - 1, or the grade itself."""

Discounts = Literal["log2", "log2-flat"]
"""The discount of rank j = 1, 2, ...: 1 / log2(j + 1), or 1 / log2(max(2, j)), which treats ranks 1 and 2 alike."""

Truths = Booleans


def dcg(
    relevance: ArrayLike,
    *,
    cutoff: int | None = None,
    gains: Gains = "exponential",
    discounts: Discounts = "log2",
    where: ArrayLike | None = None,
) -> Floats:
    """Discounted cumulative gain [...]: the sum of gain(grade) * discount(rank).

    Paper slate-pseudoinverse prints `log2`; the code that was published with it computes `log2-flat`.

    Parameters:
        relevance: [..., k] grades in ranked order, top first.
        cutoff: only this many items at the top count; all by default.
        gains: "exponential", 2^grade - 1, or "linear".
        discounts: "log2" or "log2-flat", which treats ranks 1 and 2 alike.
        where: [..., k] which are items; padding takes no rank.

    Returns:
        [...] a value per list.

    Raises:
        UsageError: no such gains or discounts, grades that are not finite, a cut-off below 1.

    Examples:
        >>> float(offrank.metrics.dcg([1, 0, 1]))  # 1 / log2 2 + 1 / log2 4
        1.5
    """
    grades, ranks, counted = _ranked(relevance, where, cutoff)
    worth = _gains(grades, gains) * discount(ranks, discounts)
    return np.asarray(np.where(counted, worth, 0.0).sum(axis=-1))


def ndcg(
    relevance: ArrayLike,
    *,
    cutoff: int | None = None,
    gains: Gains = "exponential",
    discounts: Discounts = "log2",
    where: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    empty: float = 0.0,
) -> Floats:
    """DCG as a share of the DCG of the best order [...], in 0 to 1.

    Parameters:
        relevance: [..., k] grades in ranked order, top first.
        cutoff: as of `dcg`.
        gains: as of `dcg`.
        discounts: as of `dcg`.
        where: as of `dcg`.
        judged: [..., q] grades of all items that could be ranked, in any order, padded with 0; by default the ranked
            items themselves.
        empty: the value of a list in which no item has a gain.

    Returns:
        [...] a value per list.

    Raises:
        UsageError: as `dcg`.

    Examples:
        >>> round(float(offrank.metrics.ndcg([0, 1])), 3)  # 1 / log2 3
        0.631
    """
    found = dcg(relevance, cutoff=cutoff, gains=gains, discounts=discounts, where=where)
    grades, _, counted = _ranked(relevance if judged is None else judged, where if judged is None else None, None)
    best = -np.sort(-np.where(counted, grades, 0.0), axis=-1)
    ideal = dcg(best, cutoff=cutoff, gains=gains, discounts=discounts)
    return _share(found, ideal, empty)


def err(relevance: ArrayLike, *, highest: int = 4, cutoff: int | None = None, where: ArrayLike | None = None) -> Floats:
    """Expected reciprocal rank [...]: sum_r R_r / r prod_{i < r} (1 - R_i), R = (2^grade - 1) / 2^highest.

    A reader goes down the list and stops at an item with probability R (Chapelle and others, 2009).

    Parameters:
        relevance: [..., k] grades in ranked order, top first.
        highest: the largest grade there is, 4 for five grades.
        cutoff: as of `dcg`.
        where: as of `dcg`.

    Returns:
        [...] a value per list.

    Raises:
        UsageError: a grade below 0 or above `highest`; as `dcg`.

    Examples:
        >>> float(offrank.metrics.err([0, 4]))  # 15 / 16 / 2
        0.46875
    """
    grades, ranks, counted = _ranked(relevance, where, cutoff)
    if (grades < 0).any() or (grades > highest).any():
        raise UsageError(
            f"a relevance grade is not in 0 to {highest}", "give the largest possible grade: err(..., highest=...)"
        )
    stops = np.where(counted, (np.exp2(grades) - 1) / 2.0**highest, 0.0)
    arrives = np.cumprod(1 - stops, axis=-1)
    arrives = np.concatenate([np.ones_like(arrives[..., :1]), arrives[..., :-1]], axis=-1)
    return np.asarray((arrives * stops / ranks).sum(axis=-1))


def mrr(
    relevance: ArrayLike, *, relevant: float = 1.0, cutoff: int | None = None, where: ArrayLike | None = None
) -> Floats:
    """Reciprocal rank of the first item of grade `relevant` or better [...]; 0 where there is none.

    Its mean over lists is the mean reciprocal rank.

    Parameters:
        relevance: [..., k] grades in ranked order, top first.
        relevant: the least grade that is relevant.
        cutoff: as of `dcg`.
        where: as of `dcg`.

    Returns:
        [...] a value per list.

    Raises:
        UsageError: as `dcg`.

    Examples:
        >>> float(offrank.metrics.mrr([0, 1, 1]))
        0.5
    """
    grades, ranks, counted = _ranked(relevance, where, cutoff)
    hits = counted & (grades >= relevant)
    return np.asarray(np.where(hits, 1 / ranks, 0.0).max(axis=-1, initial=0.0))


def average_precision(
    relevance: ArrayLike,
    *,
    relevant: float = 1.0,
    cutoff: int | None = None,
    where: ArrayLike | None = None,
    total: ArrayLike | None = None,
    empty: float = 0.0,
) -> Floats:
    """Mean of the precision at the rank of each relevant item [...]; an unranked one counts as 0.

    Parameters:
        relevance: [..., k] grades in ranked order, top first.
        relevant: the least grade that is relevant.
        cutoff: as of `dcg`.
        where: as of `dcg`.
        total: [...] how many relevant items there are, by default those in the list.
        empty: the value of a list without any.

    Returns:
        [...] a value per list.

    Raises:
        UsageError: as `dcg`.

    Examples:
        >>> float(offrank.metrics.average_precision([0, 1, 0, 1]))  # (1 / 2 + 2 / 4) / 2
        0.5
    """
    grades, ranks, counted = _ranked(relevance, where, cutoff)
    hits = counted & (grades >= relevant)
    precision = np.where(hits, np.cumsum(hits, axis=-1) / ranks, 0.0).sum(axis=-1)
    if total is None:
        everywhere, _, inside = _ranked(relevance, where, None)
        total = (inside & (everywhere >= relevant)).sum(axis=-1)
    return _share(precision, np.asarray(total, dtype=np.float64), empty)


def ranked(relevance: ArrayLike, by: ArrayLike, *, where: ArrayLike | None = None) -> Floats:
    """Grades [..., k] sorted by score, best first; ties keep their order, padding goes last as grade 0.

    Parameters:
        relevance: [..., k] grades in any order.
        by: [..., k] the scores.
        where: as of `dcg`.

    Returns:
        [..., k] the grades as the other metrics take them.

    Examples:
        >>> offrank.metrics.ranked([0, 2, 1], [0.1, 0.2, 0.9]).tolist()
        [1.0, 2.0, 0.0]
    """
    grades = np.asarray(relevance, dtype=np.float64)
    scores = np.asarray(by, dtype=np.float64)
    inside = _mask(where, grades)
    order = np.argsort(np.where(inside, -scores, np.inf), axis=-1, kind="stable")
    return np.take_along_axis(np.where(inside, grades, 0.0), order, axis=-1)


def mean(values: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Weighted mean of per-list values [n]; lists whose value is not a number are left out.

    Parameters:
        values: [n] what a metric gave.
        weights: [n] of the lists; alike by default.

    Returns:
        The mean; not a number where nothing is left.

    Examples:
        >>> offrank.metrics.mean([1.0, 0.0, float("nan")])
        0.5
    """
    found = np.asarray(values, dtype=np.float64)
    weight = np.ones_like(found) if weights is None else np.broadcast_to(np.asarray(weights, float), found.shape)
    known = ~np.isnan(found)
    total = float(weight[known].sum())
    return float((found[known] * weight[known]).sum() / total) if total else float("nan")


def discount(ranks: ArrayLike, name: Discounts = "log2") -> Floats:
    """The discounts of ranks 1, 2, ....

    Parameters:
        ranks: from 1.
        name: "log2" or "log2-flat", see `dcg`.

    Returns:
        A discount per rank, 1 at the top.

    Raises:
        UsageError: no such discounts.

    Examples:
        >>> offrank.metrics.discount([1, 3]).tolist()
        [1.0, 0.5]
    """
    places = np.asarray(ranks, dtype=np.float64)
    if name == "log2":
        return np.asarray(1 / np.log2(places + 1))
    if name == "log2-flat":
        return np.asarray(1 / np.log2(np.maximum(places, 2)))
    raise UsageError(f"discounts is {name!r}", "use " + " or ".join(get_args(Discounts)))


def _gains(grades: Floats, name: Gains) -> Floats:
    if name == "exponential":
        return np.asarray(np.exp2(grades) - 1)
    if name == "linear":
        return grades
    raise UsageError(f"gains is {name!r}", "use " + " or ".join(get_args(Gains)))


def _ranked(relevance: ArrayLike, where: ArrayLike | None, cutoff: int | None) -> tuple[Floats, Integers, Truths]:
    """Grades, their ranks from 1 (1 on leading pads), and whether they count."""
    grades = np.asarray(relevance, dtype=np.float64)
    if cutoff is not None and cutoff < 1:
        raise UsageError(f"cutoff is {cutoff}", "use a cutoff of at least one rank")
    inside = _mask(where, grades)
    grades = np.where(inside, grades, 0.0)
    if not np.isfinite(grades).all():
        raise UsageError("a relevance grade is not a finite number", "mask what is not an item with `where`")
    ranks = np.maximum(np.cumsum(inside, axis=-1), 1)
    return grades, ranks, inside if cutoff is None else inside & (ranks <= cutoff)


def _mask(where: ArrayLike | None, grades: Floats) -> Truths:
    if where is None:
        return np.ones(grades.shape, dtype=np.bool_)
    return np.broadcast_to(np.asarray(where, dtype=np.bool_), grades.shape)


def _share(part: Floats, whole: Floats, empty: float) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), float(empty)), where=whole > 0))
