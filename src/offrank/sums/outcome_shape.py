"""What the outcome of a log looks like, whatever drew its slates: patterns of clicks, and sizes of rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..log.batch import PRICED, Floats, LogBatch
from . import _kernels
from .base import Fold

MOST = 32
"""Slots of the longest list that is looked at."""
_BINS, _BIN, _FIRST = 768, 1 / 32, -9.0
"""Number, width and begin of the bins of amounts, in powers of ten."""
_SMOOTH = 8
"""Bins that are averaged before humps are looked for: a quarter of a power of ten."""
_NEARLY = 0.9
"""Share of a list's items of which nearly all were clicked."""
_VALLEY = 0.4
"""Lists that are usual at each number of clicks from nearly all on, over the fewest at a number below."""
_LEAST = 200
"""Lists of one length, or amounts, below which nothing is said of them."""


@dataclass(frozen=True, kw_only=True)
class OutcomeShape:
    """The shape of a log's outcome, in plain numbers; the defaults are those of a log without faults.

    - below, jumps: clicks below the first rank, and those of them below an item that was not clicked. partial, all_of:
      lists of which some items were clicked, and those of which all were.
    - rank, likely, shown: the rank (from 1) that was never clicked, how many clicks it should have by the rate of the
      rank above it (of the first, below it), and how often it was shown; 0 if there is none.
    - whole, usual, lists: lists of three items or more, of which nearly all were clicked; how many the other lists make
      likely; and all lists. carried: the share of the outcome that these lists have.
    - factor: ratio of the medians of two humps of the amounts; 1 if there is one. smaller: the share of the smaller
      one. valley: the density between them, over that of the lower peak. alike: the area that both
      share once their medians are laid on each other, 1 for equal shapes.
      values: different amounts (to 7 %) in the hump that has fewer.
    """

    below: float = 0.0
    jumps: float = 0.0
    partial: float = 0.0
    all_of: float = 0.0
    rank: int = 0
    likely: float = 0.0
    shown: float = 0.0
    whole: float = 0.0
    usual: float = 0.0
    lists: float = 0.0
    carried: float = 0.0
    factor: float = 1.0
    smaller: float = 0.0
    valley: float = 1.0
    alike: float = 0.0
    values: int = 0


USUAL = OutcomeShape()


class OutcomeShapeFold(Fold):
    """Reduces batches to the `OutcomeShape`."""

    def of(self, batch: LogBatch) -> Floats:
        """Return sums by rank, lists by slots and clicks, their outcome, and amounts in bins of their logarithm."""
        found = np.zeros((4, MOST + 1, MOST + 1))
        if batch.clicks is not None:
            ranks, *of_lists = found[:3]
            _kernels.shape_sums(batch.clicks, batch.contexts.length, batch.reward, MOST, ranks[1:3], *of_lists)
            ranks[0, :MOST] = found[1].sum(axis=1)[:0:-1].cumsum()[::-1]  # a list reaches each rank up to its length
        amounts = batch.outcome
        if amounts is None and batch.clicks is not None:
            amounts = batch.clicks[batch.click_sums.kind == PRICED]
        if amounts is not None and (positive := amounts[amounts > 0]).size:
            bins = np.clip((np.log10(positive) - _FIRST) / _BIN, 0, _BINS - 1).astype(np.int64)
            found[3].ravel()[:_BINS] = np.bincount(bins, minlength=_BINS)
        return found

    def result(self, found: Floats) -> OutcomeShape:
        """Return what the sums say."""
        ranks, lists, carried, bins = found
        shown, clicked, jumps = ranks[:3, :MOST]
        slots, came = np.indices(lists.shape)
        return OutcomeShape(
            below=float(clicked[1:].sum()),
            jumps=float(jumps.sum()),
            partial=float(lists[(came > 0) & (came < slots)].sum()),
            all_of=float(lists[(came > 0) & (came == slots)].sum()),
            **_never_clicked(shown, clicked),
            **_whole(lists, carried),
            **(_humps(bins.ravel()[:_BINS]) if bins.sum() >= _LEAST else {}),
        )


def _never_clicked(shown: Floats, clicked: Floats) -> dict[str, Any]:
    """Return the rank without clicks that should have most, by the rate of the one above (of the first, below)."""
    beside = np.append(1, np.arange(MOST - 1))
    rate = clicked[beside] / np.maximum(shown[beside], 1.0)
    likely = np.where(clicked == 0, shown * rate, 0.0)
    rank = int(np.argmax(likely))
    if not likely[rank] > 0:
        return {}
    return {"rank": rank + 1, "likely": float(likely[rank]), "shown": float(shown[rank])}


def _whole(lists: Floats, carried: Floats) -> dict[str, Any]:
    """Return the lists of which nearly all was clicked, how many are usual, and their share of the outcome.

    With k slots and a chance with odds o of each click, lists with c + 1 clicks are (k - c) / (c + 1) o times as many
    as those with c. The odds are told by the three numbers of clicks from the most frequent on; further ones rise as
    from the first to the second, as among users who click unlike much. Without a valley nothing is unusual either.
    """
    whole = usual = share = 0.0
    for k in np.flatnonzero(lists.sum(axis=1) >= _LEAST).tolist():
        top = int(np.ceil(_NEARLY * k))
        begin = int(np.argmax(lists[k, : k // 2 + 1]))
        if k < 3 or begin + 2 >= top:
            continue
        c = np.arange(k)
        odds = (lists[k, c + 1] + 1) / (lists[k, c] + 1) * (c + 1) / (k - c)
        rise = max(float(odds[begin + 1] - odds[begin]), 0.0)
        odds = odds[begin + 1] + rise * (c - begin - 1)
        steps = np.where(c < begin + 2, 1.0, odds * (k - c) / (c + 1))
        whole += float(lists[k, top:].sum())
        further = float((lists[k, begin + 2] + 1) * np.cumprod(steps)[top - 1 :].sum())
        usual += max(further, float(lists[k, begin:top].min()) * (k + 1 - top) * _VALLEY)
        share += float(carried[k, top:].sum())
    total = float(carried.sum())
    return {"whole": whole, "usual": usual, "lists": float(lists.sum()), "carried": share / total if total > 0 else 0.0}


def _humps(bins: Floats) -> dict[str, Any]:
    """Return how two humps of amounts, parted at the deepest valley, differ and are alike."""
    total = float(bins.sum())
    smooth = np.convolve(bins, np.ones(_SMOOTH), "same")
    left, right = np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1]
    lower = np.minimum(left, right)
    below = np.cumsum(bins) / total
    parted = (below >= _SMALL) & (below <= 1 - _SMALL) & (lower >= _PEAK)
    depth = np.where(parted, smooth / np.maximum(lower, 1.0), 1.0)
    deepest = np.flatnonzero(depth <= depth.min())
    at = int(deepest[len(deepest) // 2])
    if not depth[at] < 1:
        return {}
    low, high = bins[: at + 1], bins[at + 1 :]
    middle = [int(np.searchsorted(np.cumsum(one), one.sum() / 2)) for one in (low, high)]
    apart = middle[1] + at + 1 - middle[0]
    return {
        "factor": float(10 ** (apart * _BIN)),
        "smaller": float(min(below[at], 1 - below[at])),
        "valley": float(depth[at]),
        "alike": max(_common(low, high, middle, by) for by in (-1, 0, 1)),
        "values": int(min(np.count_nonzero(one) for one in (low, high))),
    }


def _common(low: Floats, high: Floats, middle: list[int], by: int) -> float:
    """Return the area that two humps share after their medians were laid on each other, but for some bins."""
    shape = np.zeros((2, 2 * _BINS))
    for one, part, at in zip(shape, (low, high), (middle[0], middle[1] + by), strict=True):
        one[_BINS - at : _BINS - at + len(part)] = np.convolve(part / part.sum(), np.ones(4) / 4, "same")
    return float(np.minimum(*shape).sum())


_SMALL = 0.01
"""Smallest share of the amounts that is looked at as a hump."""
_PEAK = 20
"""Amounts within a quarter of a power of ten at the peak of a hump: fewer are too few to see a valley beside it."""
