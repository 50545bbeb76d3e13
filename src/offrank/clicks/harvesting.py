"""Intervention harvesting: how likely each rank is examined, from documents that were shown at several ranks.

No model of the documents is learnt; it is only assumed that P(click) is examination of the rank x relevance of
the document (Agarwal, Zaitsev, Wang, Li, Najork and Joachims 2019, Estimating position bias without intrusive
interventions). Their AllPairs, by maximum likelihood: each pair (a, b) of ranks has a relevance r_ab of its own; clicks
at a have chance p_a r_ab, at b p_b r_ab. Only ratios of the p are identified, so p is 1 at the first rank.

With x_ab = p_a r_ab, c clicks and s skips, the log-likelihood is c log x + s log(1 - x), which is concave in log p and
log r. The best r_ab is a root of a quadratic; what is left for log p has gradient c - s x / (1 - x), summed over pairs,
and an information that is the Laplacian of the graph of ranks with weights h_ab h_ba / (h_ab + h_ba), where
h = s x / (1 - x)^2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import SupportError, UsageError
from ..findings import cautions_for
from ..findings.clicks import HarvestEvidence
from ..language.argument import interval_level
from ..log.batch import Floats, Integers
from ..log.source import Source
from ..running.executors import Executor, Progress, run
from ..sums.base import Tee
from ..sums.counts import join
from ..sums.estimate import Caution
from ..sums.outcome_shape import OutcomeShapeFold
from ..wording import Option, Wording
from .base import refuse_sorted
from .click_counts import ClickCounts, CountsFold
from .documents import grouping
from .sessions import Tally

Method = Literal["all_pairs", "adjacent_chain", "pivot_one"]
Weigh = Literal["views", "equal"]

_USED: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]] = {
    "all_pairs": lambda a, b: a != b,
    "adjacent_chain": lambda a, b: abs(a - b) == 1,
    "pivot_one": lambda a, b: (a != b) & ((a == 0) | (b == 0)),
}
"""Which pairs of ranks each method compares."""
_MOST_RANKS = 200  # pairs of so many take 1.5 GiB with their replicates, and of 400 ranks 5 GiB
_TOGETHER = 1 << 20
"""Entries that are compared with others at a time."""
_CLUSTERS = 256
"""Number of groups in which documents are resampled."""
_UNBOUNDED = 1e300
"""Stands for infinity in quantiles, where interpolation would turn infinity into NaN."""
_STEPS = 100
_TOLERANCE = 1e-8
_FARTHEST = 15.0
"""Largest absolute logarithm of p: a rank without clicks has no maximum."""


@dataclass(frozen=True)
class Harvested:
    """How likely each rank is examined, relative to the first.

    Parameters:
        curve: [k], with the ends of its interval; NaN where nothing links a rank to the first. high is infinite
            where the log sets no upper bound (caution `open-intervals`). Of a rank without clicks it is the
            examination that would leave as many views without a click in (1 - confidence) / 2 of all logs.
        low: [k] lower end of its interval.
        high: [k] upper end.
        documents: [k, k] number that were shown at both ranks.
        clicks: [k] at each rank, on documents that were shown at another rank too.
        impressions: number read.
        method: how it was estimated.
        cautions: reasons to doubt the numbers.
        tally: what was left out.

    Examples:
        >>> float(offrank.harvest_clicks("offrank-demo/log.parquet").found.curve[0])
        1.0
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


@dataclass(frozen=True)
class Pairs:
    """Statistics of documents shown at two ranks, all [..., k, k], 0 on the diagonal and for pairs not compared.

    clicked: [..., a, b] weighted click rate at rank a of the documents that were shown at ranks a and b. shown: their
    weight.
    """

    clicked: Floats
    shown: Floats

    def reaches(self) -> NDArray[np.bool_]:
        """[..., a, b] whether clicks bound p_b / p_a from above.

        They do where documents shown at both were clicked at a, directly or by way of other ranks (as in Ford 1957).
        """
        ranks = self.clicked.shape[-1]
        found = ((self.clicked > 0) | np.eye(ranks, dtype=np.bool_)).astype(np.float32)
        for _ in range(max(ranks - 1, 1).bit_length()):
            found = (found @ found > 0).astype(np.float32)
        return found > 0

    def curve(self) -> Floats:
        """[..., k] p, 1 at the first rank, for all logs at once by Newton's method, which never goes downhill."""
        theta = np.zeros(self.shown.shape[:-1])
        log_likelihood, slope, weight = self._at(theta)
        for _ in range(_STEPS):
            step = _newton(slope, weight)
            for _ in range(30):
                after = np.clip(theta + step, -_FARTHEST, _FARTHEST)
                reached, new_slope, new_weight = self._at(after)
                worse = reached < log_likelihood - 1e-10 * np.abs(log_likelihood)
                if not worse.any():
                    break
                step = np.where(worse[..., None], step / 2, step)
            moved = float(np.abs(after - theta).max())
            theta, log_likelihood, slope, weight = after, reached, new_slope, new_weight
            if moved < _TOLERANCE:
                break
        return np.asarray(np.exp(theta))

    def _at(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """([...] log-likelihood with the best relevances, [..., k] gradient, [..., k, k] weights of the Laplacian)."""
        p, q = np.exp(theta)[..., :, None], np.exp(theta)[..., None, :]
        clicks, skips = self.clicked, np.maximum(self.shown - self.clicked, 0.0)
        others, skipped = np.swapaxes(clicks, -1, -2), np.swapaxes(skips, -1, -2)
        both = clicks + others
        square, linear = (both + skips + skipped) * p * q, both * (p + q) + skips * p + skipped * q
        root = linear + np.sqrt(np.maximum(linear**2 - 4 * square * both, 0.0))
        r = np.divide(2 * both, root, out=np.zeros_like(root), where=root > 0)
        x = np.minimum(p * r, 1 - 1e-12)
        odds = x / (1 - x)
        log_likelihood = clicks * np.log(np.where(clicks > 0, x, 1.0)) + skips * np.log1p(-x)
        curved = skips * odds / (1 - x)
        beside = np.swapaxes(curved, -1, -2)
        total = curved + beside
        weight = np.divide(curved * beside, total, out=np.zeros_like(total), where=total > 0)
        return log_likelihood.sum(axis=(-1, -2)), (clicks - skips * odds).sum(axis=-1), weight


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
    """The examination curve of a log; see `offrank.harvest_clicks`."""
    if method not in _USED or weigh not in ("views", "equal"):
        raise UsageError(f"method is {method!r}, weigh is {weigh!r}", f"use {', '.join(_USED)}; and views or equal")
    tail = (1 - interval_level(confidence)) / 2
    if replicates < 20:
        raise UsageError(f"replicates is {replicates}", "give at least 20, or better 200")
    selected, column = grouping(source, by)
    found = run(selected, Tee({"counts": CountsFold(column), "shape": OutcomeShapeFold()}), executor, progress)
    refuse_sorted(found["shape"])
    gathered = found["counts"]
    counts: ClickCounts = gathered.data.scaled(1.0)
    if counts.ranks > _MOST_RANKS:
        remedy = Wording("set {} when reading the log, to keep the first slots", Option("top_k", _MOST_RANKS))
        raise UsageError(f"up to {counts.ranks:,} ranks are too many to compare each with each", remedy)
    parts, documents = _grouped(counts, gathered.documents.keys, method, weigh)
    several = np.bincount(counts.document)[counts.document] > 1
    each = (np.bincount(counts.cell, several * one, counts.ranks) for one in (counts.shown, counts.clicked))
    views, clicks = (one.astype(np.float64) for one in each)
    whole = Pairs(parts.clicked.sum(axis=0), parts.shown.sum(axis=0))
    linked = whole.reaches()[0]
    if linked.sum() < 2:
        raise SupportError(
            f"ranks 1 to {counts.ranks} cannot be compared: no clicked document connects rank 1 to another rank",
            Wording(
                "log rankings that vary (the same item of a query at several ranks), or identify documents by item "
                "alone ({})",
                Option("by", None),
            ),
        )
    low, high = _ends(_resampled(parts, replicates, seed), tail)
    high = np.maximum(high, _without_clicks(whole, views, clicks, tail))
    curve, low, high = (np.where(linked, values, np.nan) for values in (whole.curve(), low, high))
    evidence = HarvestEvidence(linked=tuple(linked.tolist()), clicks=tuple(clicks.tolist()), high=tuple(high.tolist()))
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


def _without_clicks(whole: Pairs, views: Floats, clicks: Floats, tail: float) -> Floats:
    """[k] upper ends of ranks without any click, which resampling would take for certainly unread; 0 for others.

    The examination at which no click at all has the probability `tail`: that of so many expected clicks, -log(tail).
    """
    rate = np.where(clicks == 0, -np.log(tail) / np.maximum(views, 1.0), 0.0)
    if not rate.any():
        return rate
    expected = Pairs(whole.clicked + np.minimum(rate, 1.0)[:, None] * whole.shown, whole.shown)
    return np.where(rate > 0, expected.curve(), 0.0)


def _grouped(counts: ClickCounts, keys: Integers, method: Method, weigh: Weigh) -> tuple[Pairs, Integers]:
    """[g, k, k] pairs by group of documents; [k, k] number of documents that were shown at both ranks."""
    k = counts.ranks
    group = (join(keys).view(np.uint64) % np.uint64(_CLUSTERS)).astype(np.int64)
    used = _USED[method](*np.indices((k, k)))
    (rate, weight), documents = np.zeros((2, _CLUSTERS * k * k)), np.zeros(k * k, np.int64)
    for apart, at in product(range(1, k), range(0, len(counts.document), _TOGETHER)):
        there = counts.document[at + apart : at + apart + _TOGETHER]
        one = at + np.flatnonzero(there == counts.document[at : at + len(there)])
        other = one + apart  # entries are sorted by document, and one has at most k of them
        (a, shown, _), (b, beside, _) = counts.numbers(one), counts.numbers(other)
        worth = used[a, b] * (shown * beside / (shown + beside) if weigh == "views" else 1.0)
        first = group[counts.document[one]] * k * k
        rate += np.bincount(first + a * k + b, worth * counts.clicked[one] / shown, len(rate))
        rate += np.bincount(first + b * k + a, worth * counts.clicked[other] / beside, len(rate))
        weight += np.bincount(first + a * k + b, worth, len(weight))
        documents += np.bincount(a * k + b, minlength=k * k)
    half, often = weight.reshape(-1, k, k), documents.reshape(k, k)
    return Pairs(rate.reshape(-1, k, k), half + half.swapaxes(1, 2)), often + often.T


def _resampled(parts: Pairs, replicates: int, seed: int) -> Pairs:
    """[replicates, k, k] sums over groups drawn with replacement."""
    filled = np.flatnonzero(parts.shown.any(axis=(1, 2)))
    rng = np.random.default_rng(seed)
    times = rng.multinomial(len(filled), np.full(len(filled), 1 / len(filled)), size=replicates)
    clicked, shown = (np.tensordot(times, part[filled], axes=1) for part in (parts.clicked, parts.shown))
    return Pairs(clicked, shown)


def _newton(slope: Floats, weight: Floats) -> Floats:
    """[..., k] a Newton step of at most 2; 0 at the first rank."""
    ranks = slope.shape[-1]
    laplacian = weight.sum(axis=-1)[..., None] * np.eye(ranks) - weight
    scale = np.maximum(laplacian.max(axis=(-1, -2), initial=0.0), 1e-12)[..., None, None]
    inner = laplacian[..., 1:, 1:] + 1e-9 * scale * np.eye(ranks - 1)
    step = np.linalg.solve(inner, slope[..., 1:, None])[..., 0]
    largest = np.abs(step).max(axis=-1, keepdims=True, initial=0.0)
    step = step * np.minimum(1.0, 2.0 / np.maximum(largest, 1e-300))
    return np.concatenate([np.zeros((*step.shape[:-1], 1)), step], axis=-1)
