"""How far documents keep their rank: what ranks may say of their worth, and how biased click rates may be.

Where each session draws its order at random, ranks say nothing of documents. In general worth goes with that part of a
rank alone which a document keeps from session to session, so that its correlation with the rank is the root of that
part's share of the variance, at most.
"""

from __future__ import annotations

import numpy as np

from ...log.batch import Floats
from ..click_counts import ClickCounts

_UNKNOWN = 20.0
"""Views of documents that keep their rank, which are added: a log that shows documents once does not tell."""


def intraclass(data: ClickCounts) -> float:
    """The correlation of the ranks of two views of a document: 0 in random orders, 1 where nothing changes places.

    By all pairs of views, where documents count by their views (Fisher 1925, section 39).
    """
    (shown, _), ranks = data.by_position(), np.arange(data.ranks)
    mean = float(shown @ ranks / shown.sum())
    variance = float(shown @ (ranks - mean) ** 2 / shown.sum())
    if variance <= 0:
        return 1.0
    (views, _), off = data.by_document(), data.rank(data.cell) - mean
    total = np.bincount(data.document, data.shown * off, data.documents)
    off *= off
    squares = np.bincount(data.document, data.shown * off, data.documents)
    again = views > 1
    products = float(((total**2 - squares)[again] / (views[again] - 1)).sum()) / variance
    pairs = float(views[again].sum())
    return (float(np.clip(products, 0.0, pairs)) + _UNKNOWN) / (pairs + _UNKNOWN)


def of_mean_ranks(data: ClickCounts) -> float:
    """The share of the variance of documents' mean ranks that they keep (Spearman 1910, Brown 1910)."""
    (views, _), kept = data.by_document(), intraclass(data)
    each: Floats = views * kept / (1 + np.maximum(views - 1, 0.0) * kept)
    return float(np.minimum(each, 1.0).mean())
