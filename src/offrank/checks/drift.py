"""What moves along a log by more than chance between clusters allows: the outcome, weights, and shares of the arms.

Rows are counted in chunks of equal length by their time or number, and in buckets of their clusters. Each of
some windows of chunks is held against the rest. Its error is the largest of three: between clusters, wherever their
rows stand; between cells of one cluster and one chunk, for logs that are sorted by cluster, where a window may hold
none of the few that earn; and between neighbouring chunks, for logs that are sorted by something unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np

from ..findings.arms import AlongEvidence, Ramp, Window
from ..inference.clusters_and_level import CLUSTERS
from ..log.batch import Booleans, Floats, LogBatch, Naturals
from ..log.source import Needs, Source, has
from ..policies.base import Policy
from ..policies.by import By
from ..readers.log import period_of, time_column
from ..sums._kernels import bucket_of, chunk_sums
from ..sums.base import Fold
from ..sums.estimate import Interval
from .arms import SharedUnitsFold
from .contrasts import deviates
from .placebo import PlaceboFold
from .propensities import UniformWeightsFold
from .robots import RobotsFold
from .rows import DaysFold

BUCKETS, CHUNKS = 128, 128
ARMS_LOOKED_AT = 6
"""With more arms nothing is looked at by arm."""
_LEAST_CHUNKS = 20
"""Chunks with rows; with fewer nothing is tested."""
DATED = 0.99
"""Least share of the rows with a time; with fewer the column is no order of the log."""
_DAY, _LAST = 1 << 17, 1 << 62
"""Places of a day in time, and one behind all that rows have."""
Weights = UniformWeightsFold | None
_SCATTERED = 1000
"""Times the number of rows that their numbers may reach; beyond, they are no order: those of a state are hashes."""
_OVERLAP = 0.1
"""Least share of what the difference of means knows that is left within chunks; else the log is sorted by arm."""


def along_folds(
    source: Source, logging: Policy | None, named: tuple[str, ...], weights: Weights = None, *, compared: bool
) -> Iterator[tuple[str, Any]]:
    """Yield the folds about what moves along a log and between its arms, by name.

    named: columns of clusters. compared: whether the means of arms are compared; else rows that are weighed by the law
    of their own arm may have it at any time. weights: of the log's rows, whose mean is looked at as well.
    """
    found = (name for name in CLUSTERS if has(source, Needs(clusters=frozenset([name]))))
    clusters, arms = tuple(dict.fromkeys((*named, *found))), None if logging is None else logging.rankers
    if arms is not None and (
        len(arms.policies) > ARMS_LOOKED_AT or (not arms.sorts and not compared and logging is arms)
    ):
        arms = None
    dated = (period_of(source) or {}).get("column")
    if dated is None and (unread := time_column(source)) is not None:
        yield "days", DaysFold(unread)
    for name, time in [("along time", dated)] * bool(dated) + [("along", None)]:
        yield name, AlongFold(clusters, arms, time=time)
        if weights is not None:
            yield f"weights {name}", AlongFold(clusters, weights=weights, time=time)
    if arms is not None and arms.any_slate:
        yield "placebo", PlaceboFold(arms, clusters)
        yield "placebo of the first item", PlaceboFold(arms, clusters, first=True)
    units = [name for name in clusters if name != "query" and (arms is None or name != arms.column)]
    for unit in sorted(units, key=lambda name: name != "user")[:1]:
        yield "robots", RobotsFold(unit)
        if arms is not None:
            yield "units", SharedUnitsFold(arms, unit)


@dataclass(frozen=True)
class ChunkSums:
    """Sums along a log: between the first and the last place with rows, in chunks of so many places as hold both.

    sums: [clusters, 2, arms, buckets, chunks]; a chunk has a power of two of places. rows: [3] how many there are, with
    a time, and with a day alone.
    """

    first: int
    last: int
    sums: Floats
    rows: Floats

    def __add__(self, other: ChunkSums) -> ChunkSums:
        first, last = min(self.first, other.first), max(self.last, other.last)
        sums = self._coarser(first, last) + other._coarser(first, last)
        return ChunkSums(first, last, sums, self.rows + other.rows)

    def _coarser(self, first: int, last: int) -> Floats:
        """Return the sums in chunks that hold these places as well."""
        if self.first > self.last:
            return self.sums  # without rows
        own, shift = _shift(self.first, self.last), _shift(first, last)
        chunk = (((self.first >> own) + np.arange(CHUNKS)) >> (shift - own)) - (first >> shift)
        starts = np.flatnonzero((np.diff(chunk, prepend=-1) > 0) & (chunk < CHUNKS))
        if len(starts) == CHUNKS:
            return self.sums
        sums = np.zeros_like(self.sums)
        sums[..., chunk[starts]] = np.add.reduceat(self.sums, starts, axis=-1)
        return sums


@dataclass(frozen=True)
class AlongFold(Fold):
    """Counts rows and sums what is looked at by arm, bucket of clusters and chunk of the log.

    clusters: columns whose equal values mark dependent rows; without any, each row is one. weights: their weights are
    looked at, else their outcome. time: column that orders them, else their numbers do.
    """

    clusters: tuple[str, ...] = ()
    arms: By | None = None
    weights: Weights = None
    time: str | None = None

    def needs(self) -> Needs:
        """Return the columns to read."""
        own = Needs(clusters=frozenset(self.clusters), times=frozenset([self.time] if self.time else []))
        own |= self.arms.column_read if self.arms else own
        return own | (self.weights.needs() if self.weights else own)

    def of(self, batch: LogBatch) -> ChunkSums:
        place, seen, values, first = batch.row, np.zeros(2), 1 / batch.inclusion, 0
        arms = 1 if self.arms is None else len(self.arms.policies)
        sums = np.zeros((max(len(self.clusters), 1), 2, arms, BUCKETS, CHUNKS))
        if self.time:
            place, seen = _placed(batch.times[self.time], batch.row)
            known = place > 0
            values, first = values * known, int(place[known].min(initial=_LAST))
        last = int(place.max(initial=0))
        if not len(batch) or first > last:
            return ChunkSums(_LAST if self.time else 0, 0, sums, np.array([len(batch), *seen], np.float64))
        shift = _shift(first, last)
        arm = np.zeros(0, np.int64)
        if self.arms is not None:
            self.arms.refuse_unknown(batch)
            arm = self.arms.arms(batch.contexts)
        codes = batch.dependent(self.clusters).values() if self.clusters else [batch.row]
        looked = batch.reward if batch.outcome is not None or batch.clicks is not None else np.zeros(len(batch))
        if self.weights is not None:
            looked = self.weights.weighed(batch).values[:, 1] * batch.inclusion
        for one, found in zip(codes, sums, strict=True):
            chunk_sums(place, np.uint64(shift), np.uint64(first >> shift), arm, one, values, looked, found)
        return ChunkSums(first, last, sums, np.array([len(batch), *seen], np.float64))

    def result(self, part: ChunkSums) -> AlongEvidence:
        first, last, sums, (n, dated, days) = part.first, part.last, part.sums, part.rows
        chunks = np.flatnonzero(sums[0, 0].sum(axis=(0, 1)))
        if len(chunks) < _LEAST_CHUNKS:
            return AlongEvidence()
        shift = _shift(first, last)
        begins, sums = ((first >> shift) + chunks) * 2.0**shift, sums[..., chunks]
        if begins[-1] > _SCATTERED * sums[0, 0].sum() if not self.time else dated < DATED * n:
            return AlongEvidence()
        whole = _DAY if days > dated / 2 else 1
        edges = np.diff(begins // whole, prepend=-1, append=-1) != 0
        spans = _spans(begins, 1 << shift, whole) if self.time else None
        rows, earned = sums.sum(axis=(3, 4), keepdims=True).swapaxes(0, 1)
        means = np.divide(earned, rows, out=np.zeros(rows.shape), where=rows > 0)  # of arms, which may move themselves
        away = (sums[:, 1] - means * sums[:, 0]).sum(axis=1)
        moved = _clearest(sums[:, 0].sum(axis=1), away, float(earned[0].sum() / rows[0].sum()), edges, spans)
        found = AlongEvidence(fine=self.time is not None and whole == 1)
        if self.weights is not None:
            return replace(found, weights=moved)
        return replace(found, moved=moved, ramps=tuple(_ramps(sums, self.arms, edges, spans) if self.arms else ()))


def _shift(first: int, last: int) -> int:
    """Return the logarithm of the places of a chunk, to base 2, so that some chunks hold the first and the last."""
    shift = max((last - first).bit_length() - (CHUNKS - 1).bit_length(), 0)
    return shift + ((last >> shift) - (first >> shift) >= CHUNKS)


def _placed(seconds: Floats, row: Naturals) -> tuple[Naturals, Floats]:
    """Return the place of each time [n], and [2] how many rows have one, and a day alone; without it the place is 0.

    The rows of a day get any place of it, in blocks of 64 neighbours: its parts differ as chance makes these differ.
    """
    days = seconds / 86_400 + 719_162  # since the first of year 1
    known = (days >= 0) & (days < 3_600_000)
    place = np.floor(np.where(known, days, 0.0) * _DAY).astype(np.uint64)
    midnight = known & (place % np.uint64(_DAY) == 0)
    place[midnight] += bucket_of(row[midnight] >> np.uint64(6), _DAY)
    return place, np.array([known.sum(), midnight.sum()], np.float64)


def _spans(begins: Any, size: int, whole: int) -> list[tuple[str, ...]]:
    """Return from when to when each chunk of these places goes, in words; until the end of a day that is named."""
    days = whole == _DAY or size >= _DAY
    form, first = "%Y-%m-%d" if days else "%Y-%m-%d %H:%M", datetime(1, 1, 1, tzinfo=UTC)
    ends = ((one, one + size - days) for one in begins.tolist())
    return [tuple(f"{first + timedelta(days=at / _DAY):{form}}" for at in both) for both in ends]


def _clearest(
    rows: Floats, away: Floats, mean: float, edges: Booleans, spans: Sequence[tuple[str, ...]] | None
) -> Window:
    """Return the window with the largest deviate: of what follows each twentieth of the rows, and of each tenth.

    rows, away: [c, b, k] counts and residuals; mean: added to both. edges: [k + 1] where windows may begin and end.
    spans: from when to when each chunk goes.
    """
    counts, residuals = rows[0].sum(axis=0), away[0].sum(axis=0)
    done = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    at = np.abs(np.where(edges, done, math.inf)[:, None] - np.arange(21) / 20).argmin(axis=0)
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
    if not edges.all():  # of a day, of whose parts neither the order nor the clusters are known
        days = np.flatnonzero(edges[:-1])
        counted, earned = (np.add.reduceat(one, days, axis=-1) for one in (rows, away))
        found = np.minimum(found, deviates(counted, earned, contrasts[:, days], in_time=True))
    inside = contrasts[int(found.argmax())] > 0
    mine, rest = (round(mean + float(residuals[part].sum() / counts[part].sum()), 12) for part in (inside, ~inside))
    begin, end = np.flatnonzero(inside)[[0, -1]]
    first, last = (float(counts[:place].sum() / counts.sum()) for place in (begin, end + 1))
    when = (spans[begin][0], spans[end][1]) if spans else None
    return Window(first, last, mine, rest, float(found.max()), when)


def _ramps(sums: Floats, arms: By, *axis: Any) -> Iterator[Ramp]:
    """Yield each pair of arms that share parts of the log, with where the share of the first moves most.

    axis: the edges and spans of `_clearest`.
    """
    rows, names = sums[:, 0], list(map(str, arms.policies))
    every = rows.sum(axis=1)
    for other, one in combinations(range(len(names)), 2):
        share = float(rows[0, one].sum() / every[0].sum())
        differences = _within(sums[:, :, [one, other]])
        if differences:
            window = _clearest(every, rows[:, one] - share * every, share, *axis)
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
