"""Click rates of ranks and of their cells, each drawn to those of its likes as far as these are alike.

How biased they may be is told by how far documents keep their rank.
Where each session draws its order at random, ranks say nothing of documents. In general worth goes with that part of a
rank alone which a document keeps from session to session, so that its correlation with the rank is the root of that
part's share of the variance, at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...log.batch import Floats, Integers
from ..click_counts import ClickCounts

_SLOPE = -0.5
"""Mean of the prior of the power of the rank by which click rates fall: between the same everywhere, and 1 / rank."""
_INFORMATION = 1.0, 0.5
"""Of the weak normal priors of that power, and of the logarithm of a context's level."""
_LIKENESS = np.geomspace(0.25, 64.0, 17)
"""Shapes over which is integrated: clicks that the rates of its likes count for."""
_ROUNDS = 50
_FAR = 1.0
"""The largest step, in logarithms."""
_CLOSE = 1e-10
_UNKNOWN = 20.0
"""Views of documents that keep their rank, which are added: a log that shows documents once does not tell."""


@dataclass(frozen=True)
class ClickRates:
    """Estimated click rates of cells, and how far they may be wrong.

    - value: [cells].
    - influence: [cells, cells] how the logarithm of each moves with the clicks of every cell.
    - own: [cells, cells] covariance of these logarithms that no count tells: how cells differ from their likes.
    """

    value: Floats
    influence: Floats
    own: Floats

    def over(self, cell: int) -> tuple[Floats, Floats]:
        """`influence` and `own` of the logarithms relative to that of a cell."""
        own = self.own - self.own[cell] - self.own[:, [cell]] + self.own[cell, cell]
        return self.influence - self.influence[cell], own


def rates_by_rank(data: ClickCounts) -> ClickRates:
    """The click rates of ranks, drawn to a power of the rank; those of a context's values have a level each."""
    (shown, clicked), (value, rank) = data.by_cell(), np.divmod(np.arange(data.cells), data.ranks)
    values = value[:, None] == np.arange(value[-1] + 1)
    columns = np.column_stack([values, np.log1p(rank)])
    power, level = _INFORMATION
    weak = np.diag(np.append(np.full(values.shape[1], level), power))
    start = np.append(np.full(values.shape[1], np.log((clicked.sum() + 1) / (shown.sum() + 2))), _SLOPE)
    at = start
    for _ in range(_ROUNDS):
        expected = shown * np.exp(columns @ at)
        information = columns.T @ (expected[:, None] * columns) + weak
        step = np.linalg.solve(information, columns.T @ (clicked - expected) - weak @ (at - start))
        at = at + step * min(1.0, _FAR / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < _CLOSE:
            break
    found = np.exp(columns @ at)
    likes = ClickRates(found, columns @ np.linalg.solve(information, columns.T), np.zeros((data.cells, data.cells)))
    return shrunk_rates(clicked, shown, likes, np.arange(data.cells))


def shrunk_rates(
    clicked: Floats, shown: Floats, likes: ClickRates, place: Integers, shapes: Floats = _LIKENESS
) -> ClickRates:
    """The click rates of cells, drawn to those of their likes.

    place: [cells] which entry of likes is that of a cell; cells of the same entry are like each other. shapes: by
    which they may differ, see `likeness`.
    """
    expected = likes.value[place]
    earlier = likeness(clicked, shown * expected, shapes)
    clicks = clicked + earlier
    share = earlier / clicks
    influence = np.diag(1 / clicks) + share[:, None] * likes.influence[np.ix_(place, place)]
    own = np.diag(earlier / clicks**2) + np.outer(share, share) * likes.own[np.ix_(place, place)]
    return ClickRates(clicks / (shown + earlier / expected), influence, own)


def likeness(clicked: Floats, expected: Floats, shapes: Floats = _LIKENESS) -> float:
    """The shape k of the Gamma(k, k) by whose draws click rates of cells differ, by its likelihood; among shapes."""
    from scipy.special import gammaln  # slow to import

    k = shapes[:, None]
    logs = gammaln(clicked + k) - gammaln(k) + k * np.log(k) - (clicked + k) * np.log(expected + k)
    share = np.exp(logs.sum(axis=1) - logs.sum(axis=1).max())
    return float(np.exp(share @ np.log(shapes) / share.sum()))


def intraclass(data: ClickCounts) -> float:
    """The correlation of the ranks of two views of a document: 0 in random orders, 1 where nothing changes places.

    By all pairs of views, where documents count by their views (Fisher 1925, section 39).
    """
    (shown, _), ranks = data.by_position(), np.arange(data.ranks)
    mean = float(shown @ ranks / shown.sum())
    variance = float(shown @ (ranks - mean) ** 2 / shown.sum())
    if variance <= 0:
        return 1.0
    products = pairs = 0.0
    for part in data.parts():
        (views, _), off = part.by_document(), data.rank(part.cell) - mean
        total = np.bincount(part.document, part.shown * off, part.documents)
        squares = np.bincount(part.document, part.shown * off**2, part.documents)
        again = views > 1
        products += float(((total**2 - squares)[again] / (views[again] - 1)).sum())
        pairs += float(views[again].sum())
    return (float(np.clip(products / variance, 0.0, pairs)) + _UNKNOWN) / (pairs + _UNKNOWN)


def of_mean_ranks(data: ClickCounts) -> float:
    """The share of the variance of documents' mean ranks that they keep (Spearman 1910, Brown 1910)."""
    kept, found = intraclass(data), 0.0
    for part in data.parts():
        views, _ = part.by_document()
        each = views * kept / (1 + np.maximum(views - 1, 0.0) * kept)
        found += float(np.minimum(each, 1.0).sum())
    return found / data.documents
