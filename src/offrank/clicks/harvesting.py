"""Intervention harvesting: how likely each rank is examined, from documents that were shown at several ranks.

No model of the documents is learnt; it is only assumed that P(click) is examination of the rank x relevance of
the document (Agarwal, Zaitsev, Wang, Li, Najork and Joachims 2019, Estimating position bias without intrusive
interventions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import SupportError, UsageError
from ..findings import cautions_for
from ..findings.evidence_clicks import OfHarvest
from ..folds.counts import join
from ..folds.estimate import Caution
from ..log.batch import Floats, Integers
from ..log.source import Source
from ..options import option
from ..running.executors import Executor, Progress, run
from ._kernels_pairs import add_pairs
from .counts import Counts, CountsFold
from .documents import grouping
from .pairs import Pairs
from .sessions import Tally

Method = Literal["all_pairs", "adjacent_chain", "pivot_one"]
Weigh = Literal["views", "equal"]

_USED: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]] = {
    "all_pairs": lambda a, b: a != b,
    "adjacent_chain": lambda a, b: abs(a - b) == 1,
    "pivot_one": lambda a, b: (a != b) & ((a == 0) | (b == 0)),
}
"""Which pairs of ranks each method compares."""
_CLUSTERS = 256
"""Number of groups in which documents are resampled."""
_UNBOUNDED = 1e300
"""Stands for infinity in quantiles, where interpolation would turn infinity into NaN."""


@dataclass(frozen=True)
class Harvested:
    """How likely each rank is examined, relative to the first.

    - curve, low, high: [k], with the ends of its interval; NaN where nothing links a rank to the first. high is
      infinite where the log sets no upper bound (caution `open-intervals`). Of a rank without clicks it is the
      examination that would leave as many views without a click in (1 - confidence) / 2 of all logs.
    - documents: [k, k] number that were shown at both ranks.
    - clicks: [k] at each rank, on documents that were shown at another rank too.
    - impressions: number read. tally: what was left out.
    """

    curve: Floats
    low: Floats
    high: Floats
    documents: Integers
    clicks: Floats
    impressions: int
    method: str
    cautions: tuple[Caution, ...]
    tally: Tally


def harvest(
    source: Source,
    method: Method = "all_pairs",
    *,
    by: str | None = "auto",
    weigh: Weigh = "views",
    confidence: float = 0.95,
    replicates: int = 200,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Harvested:
    """The examination curve of a log; see `offrank.harvest_clicks`.

    Raises:
        UsageError: an unknown method, or clicks that are not whole numbers.
        SupportError: no document was shown at the first and at another rank.
        LogError: the log breaks a rule, or is empty.
    """
    if method not in _USED or weigh not in ("views", "equal"):
        raise UsageError(f"method is {method!r}, weigh {weigh!r}", f"say {', '.join(_USED)}; and views or equal")
    if not 0 < confidence < 1 or replicates < 20:
        raise UsageError(f"confidence is {confidence}, replicates {replicates}", "say 0.95 or so, and at least 20")
    selected, column = grouping(source, by)
    gathered = run(selected, CountsFold(column), executor, progress)
    counts: Counts = gathered.data
    parts, documents, clicks = _grouped(counts, gathered.documents.keys, method, weigh)
    whole = Pairs(parts.clicked.sum(axis=0), parts.shown.sum(axis=0))
    linked = whole.reaches()[0]
    if linked.sum() < 2:
        raise _nothing(counts.ranks)
    tail = (1 - confidence) / 2
    low, high = _ends(_resampled(parts, replicates, seed), tail)
    high = np.maximum(high, _without_clicks(counts, whole, clicks, tail))
    curve, low, high = (np.where(linked, values, np.nan) for values in (whole.curve(), low, high))
    evidence = OfHarvest(linked=tuple(linked.tolist()), clicks=tuple(clicks.tolist()), high=tuple(high.tolist()))
    tally = gathered.tally
    return Harvested(curve, low, high, documents, clicks, tally.impressions, method, cautions_for(evidence), tally)


def _ends(pairs: Pairs, tail: float) -> tuple[Floats, Floats]:
    """[k] quantiles of the curves of resampled logs [replicates, k, k]: 0 and infinity where the log sets no bound."""
    draws, reaches = pairs.curve(), pairs.reaches()
    most = np.where(reaches[:, 0, :], draws, _UNBOUNDED)
    least = np.where(reaches[:, :, 0], draws, 0.0)
    low = np.quantile(least, tail, axis=0, method="weibull")
    high = np.quantile(most, 1 - tail, axis=0, method="weibull")
    return low, np.where(high > _UNBOUNDED / 1e100, np.inf, high)


def _without_clicks(counts: Counts, whole: Pairs, clicks: Floats, tail: float) -> Floats:
    """[k] upper ends of ranks without any click, which resampling would take for certainly unread; 0 for others.

    The examination at which no click at all has the probability `tail`: that of so many expected clicks, -log(tail).
    """
    several = np.bincount(counts.document)[counts.document] > 1
    views = np.bincount(counts.cell[several], counts.shown[several], counts.ranks)
    rate = np.where(clicks == 0, -np.log(tail) / np.maximum(views, 1.0), 0.0)
    if not rate.any():
        return rate
    expected = Pairs(whole.clicked + np.minimum(rate, 1.0)[:, None] * whole.shown, whole.shown)
    return np.where(rate > 0, expected.curve(), 0.0)


def _grouped(counts: Counts, keys: Integers, method: Method, weigh: Weigh) -> tuple[Pairs, Integers, Floats]:
    """[g, k, k] pairs by group of documents; [k, k] documents shown at both ranks; [k] clicks at each rank on them."""
    k = counts.ranks
    group = (join(keys).view(np.uint64) % np.uint64(_CLUSTERS)).astype(np.int64)
    rate, weight = np.zeros((_CLUSTERS, k, k)), np.zeros((_CLUSTERS, k, k))
    documents, clicks = np.zeros((k, k), np.int64), np.zeros(k)
    used = _USED[method](*np.indices((k, k)))
    add_pairs(
        counts.document,
        counts.cell,
        counts.shown,
        counts.clicked,
        group,
        used,
        weigh == "views",
        rate,
        weight,
        documents,
        clicks,
    )
    return Pairs(rate, weight), documents, clicks


def _resampled(parts: Pairs, replicates: int, seed: int) -> Pairs:
    """[replicates, k, k] sums over groups drawn with replacement."""
    filled = np.flatnonzero(parts.shown.any(axis=(1, 2)))
    rng = np.random.default_rng(seed)
    times = rng.multinomial(len(filled), np.full(len(filled), 1 / len(filled)), size=replicates)
    clicked, shown = (np.tensordot(times, part[filled], axes=1) for part in (parts.clicked, parts.shown))
    return Pairs(clicked, shown)


def _nothing(ranks: int) -> SupportError:
    return SupportError(
        f"ranks 1 to {ranks} cannot be compared: no clicked document links the first rank to another",
        "log rankings that vary (the same item of a query at several ranks), or know items by themselves "
        f"({option('by', None)})",
    )
