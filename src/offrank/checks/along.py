"""What moves along a log by more than chance between clusters allows: the outcome, and the shares of the arms.

Rows are counted in chunks of equal length by their number, and in buckets of the clusters that they belong to. Each of
some windows of chunks is held against the rest. Its error is the largest of three: between clusters, wherever their
rows stand; between cells of one cluster and one chunk, for logs that are sorted by cluster, where a window may hold
none of the few that earn; and between neighbouring chunks, for logs that are sorted by something unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..findings.evidence_rows import AlongEvidence, Ramp, Window
from ..inference.spec import CLUSTERS
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs, Source, has
from ..policies.balanced import arms_of
from ..policies.by import By
from ..policies.propensities import AnyPolicy
from ..policies.ties import sorts
from ..sums._kernels import bucket_of
from ..sums.base import total
from ..sums.clusters import deviates
from ..sums.estimate import Interval
from .arms import SharedUnitsFold
from .placebo import PlaceboFold
from .robots import RobotsFold

BUCKETS, CHUNKS = 128, 128
ARMS_LOOKED_AT = 6
"""With more arms nothing is looked at by arm."""
_LEAST_CHUNKS = 20
"""Chunks with rows; with fewer nothing is tested."""
_SCATTERED = 1000
"""Times the number of rows that their numbers may reach; beyond, they are no order: those of a state are hashes."""
_OVERLAP = 0.1
"""Least share of what the difference of means knows that is left within chunks; else the log is sorted by arm."""


def along_folds(
    source: Source, logging: AnyPolicy | None, named: tuple[str, ...], *, compared: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the folds about what moves along a log and between its arms, by name.

    named: columns of clusters. compared: whether the means of arms are compared; else rows that are weighed by the law
    of their own arm may have it at any time.
    """
    found = (name for name in CLUSTERS if has(source, Needs(clusters=frozenset([name]))))
    clusters, arms = tuple(dict.fromkeys((*named, *found))), None if logging is None else arms_of(logging)
    if arms is not None and (
        len(arms.policies) > ARMS_LOOKED_AT or (arms is logging and not sorts(arms) and not compared)
    ):
        arms = None
    yield "along", AlongFold(clusters, arms)
    if arms is not None and arms.any_slate:
        yield "placebo", PlaceboFold(arms, clusters)
        yield "placebo of the first item", PlaceboFold(arms, clusters, first=True)
    units = [name for name in clusters if name != "query" and (arms is None or name != arms.column)]
    for unit in sorted(units, key=lambda name: name != "user")[:1]:
        yield "robots", RobotsFold(unit)
        if arms is not None:
            yield "units", SharedUnitsFold(arms, unit)


def _sums(batch: LogBatch, outcome: Floats, cell: Integers, shape: tuple[int, ...], rows: Any) -> Floats:
    """Return [2, *shape] the count and the outcome of some rows, each by its inclusion, in cells."""
    each = (batch.inverse_inclusion[rows], batch.inverse_inclusion[rows] * outcome[rows])
    return np.stack([np.bincount(cell, one, math.prod(shape)).reshape(shape) for one in each])


def _outcome(batch: LogBatch) -> Floats:
    """Return [n] the reward of each row, else its clicks, as far as they are read; else zeros."""
    known = batch.outcome is not None or batch.clicks is not None
    return batch.reward if known else np.zeros(len(batch))


@dataclass(frozen=True)
class AlongFold:
    """Counts rows and sums their outcome by arm, bucket of clusters and chunk of rows.

    clusters: columns whose equal values mark dependent rows; without any, each row is one. A state is the number of
    rows of a chunk, a power of two that grows with the log, and the sums [clusters, 2, arms, buckets, chunks].
    """

    clusters: tuple[str, ...] = ()
    arms: By | None = None

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset(self.clusters)) | (Needs() if self.arms is None else self.arms.reads)

    def empty(self) -> tuple[int, Floats]:
        arms = 1 if self.arms is None else len(self.arms.policies)
        return 1, np.zeros((max(len(self.clusters), 1), 2, arms, BUCKETS, CHUNKS))

    def add(self, state: tuple[int, Floats], batch: LogBatch) -> tuple[int, Floats]:
        if not len(batch):
            return state
        size = max(1 << max(int(batch.row.max()).bit_length() - (CHUNKS - 1).bit_length(), 0), state[0])
        cell = (batch.row // np.uint64(size)).astype(np.int64)
        if self.arms is not None:
            self.arms.refuse_unknown(batch)
            cell += self.arms.arms(batch.contexts) * (BUCKETS * CHUNKS)
        codes = batch.dependent(self.clusters).values() if self.clusters else [batch.row]
        places = [cell + bucket_of(one, BUCKETS).astype(np.int64) * CHUNKS for one in codes]
        outcome, shape, every = _outcome(batch), state[1].shape[2:], slice(None)
        found = [_sums(batch, outcome, place, shape, every) for place in places]
        return self.merge(state, (size, np.stack(found)))

    def merge(self, left: tuple[int, Floats], right: tuple[int, Floats]) -> tuple[int, Floats]:
        size = max(left[0], right[0])
        return size, _coarser(left, size) + _coarser(right, size)

    def finish(self, state: tuple[int, Floats]) -> AlongEvidence:
        size, sums = state
        held = sums[0, 0].sum(axis=(0, 1)) > 0
        if held.sum() < _LEAST_CHUNKS or size * float(held.nonzero()[0].max()) > _SCATTERED * sums[0, 0].sum():
            return AlongEvidence()
        sums = sums[..., held]
        rows, earned = sums.sum(axis=(3, 4), keepdims=True).swapaxes(0, 1)
        means = np.divide(earned, rows, out=np.zeros(rows.shape), where=rows > 0)  # of arms, which may move themselves
        away = (sums[:, 1] - means * sums[:, 0]).sum(axis=1)
        moved = _clearest(sums[:, 0].sum(axis=1), away, float(earned[0].sum() / rows[0].sum()))
        return AlongEvidence(moved=moved, ramps=() if self.arms is None else tuple(_ramps(sums, self.arms)))


def _coarser(state: tuple[int, Floats], size: int) -> Floats:
    """Return the sums of a state in chunks of so many rows, a multiple of those before."""
    starts = np.arange(0, CHUNKS, min(size // state[0], CHUNKS))
    return state[1] if len(starts) == CHUNKS else total(0 * state[1], np.add.reduceat(state[1], starts, axis=-1))


def _clearest(rows: Floats, away: Floats, mean: float) -> Window:
    """Return the window with the largest deviate: of what follows each twentieth of the rows, and of each tenth.

    rows, away: [c, b, k] counts and residuals; mean: added to both.
    """
    counts, residuals = rows[0].sum(axis=0), away[0].sum(axis=0)
    done = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    at = np.abs(done[:, None] - np.arange(21) / 20).argmin(axis=0)
    ends = {(at[one], at[20]) for one in range(1, 20)} | {(at[one], at[one + 2]) for one in range(2, 18, 2)}
    places = np.arange(len(counts))
    windows = np.array([(places >= first) & (places < last) for first, last in sorted(ends)])
    within = (windows * counts).sum(axis=1, keepdims=True)
    parted = ((within > 0) & (within < counts.sum()))[:, 0]  # a single chunk may have most rows
    if not parted.any():
        return Window(0.0, 1.0, mean, mean, 0.0)
    windows, within = windows[parted], within[parted]
    contrasts = np.where(windows, 1 / within, -1 / (counts.sum() - within))
    found = deviates(rows, away, contrasts, in_order=True)
    inside = contrasts[int(found.argmax())] > 0
    mine, rest = (mean + float(residuals[part].sum() / counts[part].sum()) for part in (inside, ~inside))
    first, last = (float(counts[:end].sum() / counts.sum()) for end in np.flatnonzero(inside)[[0, -1]] + [0, 1])
    return Window(first, last, mine, rest, float(found.max()))


def _ramps(sums: Floats, arms: By) -> Iterator[Ramp]:
    """Yield each pair of arms that share parts of the log, with where the share of the first moves most."""
    rows, names = sums[:, 0], list(map(str, arms.policies))
    every = rows.sum(axis=1)
    for other, one in combinations(range(len(names)), 2):
        share = float(rows[0, one].sum() / every[0].sum())
        differences = _within(sums[:, :, [one, other]])
        if differences:
            window = _clearest(every, rows[:, one] - share * every, share)
            yield Ramp(arms.column, names[one], names[other], window, *differences)


def _within(sums: Floats) -> list[Interval]:
    """Return the difference of two arms [c, 2, 2, b, k]: in all, within chunks, and the first less the second.

    Nothing where hardly any chunk has rows of both: then the log is sorted by arm, and tells no time.
    """
    rows, earned = sums[0].sum(axis=2)
    arms, weight = rows.sum(axis=1, keepdims=True), rows[0] * rows[1] / np.maximum(rows.sum(axis=0), 1e-300)
    if not arms.all() or weight.sum() < _OVERLAP * arms.prod() / arms.sum():
        return []
    signs = np.array([[1.0], [-1.0]])
    means = [earned.sum(axis=1, keepdims=True) / arms, np.divide(earned, rows, out=0 * rows, where=rows > 0)]
    shares = [signs / arms + 0 * rows, np.divide(signs * weight / weight.sum(), rows, out=0 * rows, where=rows > 0)]
    away = [sums[:, 1] - mean[:, None] * sums[:, 0] for mean in means]
    moves = [(share[:, None] * one).sum(axis=(1, 3)) for share, one in zip(shares, away, strict=True)]
    values = [float((share * rows * mean).sum()) for share, mean in zip(shares, means, strict=True)]
    found, each = [], sums[:, 0].sum(axis=(1, 3))
    freedom = max(float((each.sum(axis=1) ** 2 / (each**2).sum(axis=1)).min()) - 1, 1.0)
    for value, move in ((values[0], moves[0]), (values[1], moves[1]), (values[0] - values[1], moves[0] - moves[1])):
        error = float(np.sqrt((move**2).sum(axis=1).max()))
        found.append(Interval(value, value - 1.96 * error, value + 1.96 * error, error, freedom))
    return found
