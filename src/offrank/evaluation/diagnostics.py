"""Diagnostics of an estimate from the same pass: clips, heaviest rows, overlap by rank, and ranking similarity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import starmap
from typing import Any

import numpy as np

from ..checks.ranking_overlap import RankingOverlapFold
from ..estimators.base import Estimator, Weights, rewarded, terms_of
from ..estimators.bounded import cut_to
from ..estimators.family import Family
from ..estimators.layout import ROWS
from ..findings.row import Row
from ..inference.clusters_and_level import IntervalSpec
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs
from ..policies.base import Policy
from ..running.quantities import Quantity
from ..sums.base import Fold, Sample, total
from ..sums.estimate import Estimate, Interval
from ..sums.mean import ratio, with_control
from ..sums.moments import Moments, MomentsFold, without
from ..sums.named_sums import NamedColumns
from .counts import Counts
from .metadata import Clipped, Diagnoses, Heavy, Path, RankingsCompared, RankOverlap, TopOverlap, Windowed

VALUE, WEIGHT = "value", "weight"
_COLUMNS = NamedColumns((ROWS, VALUE, WEIGHT))
"""The columns whose moments a clip needs, as the rows have them for one estimator."""
CLIPS = tuple(digit * 10.0**power for power in range(1, 6) for digit in (1, 3))
"""The largest weights that are tried: 10, 30, 100, ... 300,000. Smaller ones clip many rows, which is slow."""
HEAVIEST = 10
_TERMS = MomentsFold(((0, 1, 2),))
_HEAVY = ("weight", "value", "reward", "base", "place")

Pairs = tuple[tuple[Policy, Estimator], ...]
"""Targets, and the quantities that weight the log for them."""
Clips = dict[tuple[int, int, bool], Moments]
"""By the number of a pair, an index into CLIPS, and whether rows are clipped there."""


@dataclass(frozen=True)
class ClipsFold(Fold):
    """For each pair, the moments of the terms of the rows that a clip changes, both unclipped and clipped.

    State: moments of (1, value, weight) / inclusion. A row with a weight beyond the first clip is added unclipped at
    the first clip that does not change it, and separately under each clip that does. The moments of all rows, which
    the estimate has anyway, give the rest.
    """

    pairs: Pairs
    logging: Policy

    def of(self, batch: LogBatch) -> Clips:
        found = {}
        for number, (target, estimator) in enumerate(self.pairs if len(batch) else ()):
            terms = terms_of(estimator, batch, self.logging, target)
            weights = terms.weights
            if weights is None or estimator.kind.predicts:
                continue
            size = np.abs(weights.weight)
            size = size if size.ndim == 1 else reduce(np.maximum, size.T, np.zeros(len(batch)))
            high = np.flatnonzero(size > CLIPS[0])
            place = np.searchsorted(CLIPS, size[high])
            for at in np.unique(place).tolist():
                rows = high[place == at]
                found[number, at, False] = _moments(batch, terms.value[rows], terms.weight[rows], rows)
            for at in range(min(int(place.max(initial=0)), len(CLIPS))):
                rows = high[place > at]
                found[number, at, True] = _moments(batch, *_clipped(CLIPS[at], weights, batch, rows), rows)
        return found

    def result(self, part: Clips) -> Clips:
        """Return the moments without third ones of the size of rounding errors, as of rows that a clip made alike."""
        found = {}
        for key, one in part.items():
            size = np.maximum(np.abs(one.least), np.abs(one.largest))
            with np.errstate(over="ignore"):
                error = 1e-12 * one.n * (size[:, None, None] * size[:, None] * size)
            third = {block: np.where(np.abs(each) <= error, 0.0, each) for block, each in one.third.items()}
            found[key] = replace(one, third=third)
        return found


def _clip_path(state: Clips, number: int, whole: Moments) -> list[tuple[float, int, Moments]]:
    """The clips that change any row of a pair: the largest weight, the number of rows that have more, and the moments.

    whole: the moments of its terms of all rows.
    """
    path, beyond = [], None
    for at in reversed(range(len(CLIPS))):
        beyond = total(beyond, state.get((number, at + 1, False)))
        if (clipped := state.get((number, at, True))) is not None:
            rest = whole if beyond is None else without(whole, beyond)
            path.append((CLIPS[at], clipped.n, rest + clipped))
    return path[::-1]


def _clipped(maximum: float, free: Weights, batch: LogBatch, rows: Integers) -> tuple[Floats, Floats]:
    """Return value and weight of some rows under `clip(e, maximum)`."""
    weight = free.weight[rows]
    control = weight if free.control is free.weight else free.control[rows]
    bound = cut_to(np.clip(weight, -maximum, maximum), Weights(weight, control))
    slots = None if weight.ndim == 1 or batch.clicks is None else batch.clicks[rows]
    reward = batch.reward[rows] if weight.ndim == 1 else weight[:, 0]
    found = rewarded(bound, reward, slots, batch.contexts.length[rows])
    return found.value, found.weight


def _moments(batch: LogBatch, value: Floats, weight: Floats, rows: Integers) -> Moments:
    columns, inclusion = np.column_stack([np.ones(len(rows)), value, weight]), batch.inclusion[rows]
    if (inclusion != 1).any():
        columns /= inclusion[:, None]
    return _TERMS.of(Sample.of(columns, batch.row[rows]))


@dataclass(frozen=True)
class Heaviest:
    """The rows of largest weight of each pair: their weight, value, reward, and row number as the sum of two.

    keep: how many there are at most.
    """

    rows: list[Floats]
    keep: int

    def __add__(self, other: Heaviest) -> Heaviest:
        both = map(np.concatenate, zip(self.rows, other.rows, strict=True))
        return replace(self, rows=[_heaviest(rows, self.keep) for rows in both])


def _heaviest(rows: Floats, keep: int) -> Floats:
    """Return the heaviest of some rows, the heaviest first.

    Among equal weights the largest values come first, then the largest rewards, so that the order of the rows does not
    matter.
    """
    left, kept = rows, [rows[:0]]
    for number in range(len(_HEAVY)):
        more = keep - sum(map(len, kept))
        if len(left) <= more or not more:
            break
        key = _keys(left)[number]
        least = np.partition(key, -more)[-more]
        kept.append(left[key > least])
        left = left[key == least]
    found = np.concatenate([*kept, left[: keep - sum(map(len, kept))]])
    return found[np.lexsort(_keys(found)[::-1])[::-1]]


@dataclass(frozen=True)
class HeaviestFold(Fold):
    """For each pair, the rows of largest weight, as in `Heaviest`.

    Weight and value are divided by the inclusion probability, as in every sum.
    """

    pairs: Pairs
    logging: Policy
    keep: int = HEAVIEST

    def add(self, part: Heaviest | None, batch: LogBatch) -> Heaviest:
        found = [np.empty((0, len(_HEAVY)))] * len(self.pairs) if part is None else list(part.rows)
        for number, (target, estimator) in enumerate(self.pairs if len(batch) else ()):
            terms = terms_of(estimator, batch, self.logging, target)
            with np.errstate(over="ignore"):
                size = np.abs((terms.weight / batch.inclusion).astype(np.float32))
                known = np.abs(found[number][:, 0].astype(np.float32))
            if len(known) == self.keep:  # few rows of the batch are as heavy as these
                least = known.min()
            else:
                least = np.partition(size, -self.keep)[-self.keep] if len(size) > self.keep else np.float32(0)
            at = np.flatnonzero(size >= least)
            value, weight = (one[at] / batch.inclusion[at] for one in (terms.value, terms.weight))
            base = np.full(len(at), float(batch.base))  # beyond 2^53 a float holds both numbers, and not their sum
            place = batch.row[at] - np.uint64(batch.base)
            rows = np.stack([weight, value, batch.reward[at], base, place], axis=1)
            found[number] = _heaviest(np.concatenate([found[number], rows]), self.keep)
        return Heaviest(found, self.keep)


def _keys(rows: Floats) -> tuple[Floats, ...]:
    """Return the sort keys of rows, rounded so that numbers that differ only by rounding tie."""
    with np.errstate(over="ignore"):
        weight, value, reward = rows[:, :3].astype(np.float32).T
    return np.abs(weight), np.abs(value), reward, -rows[:, 3], -rows[:, 4]


@dataclass(frozen=True)
class Diagnostics:
    """The diagnostics of the estimates of some targets.

    - weighed: the weighting for each target. clipped: those whose weights may be clipped.
    - read: the columns that are read anyway. bases: rows before the file whose rows begin with a number.
    """

    targets: Mapping[str, Policy]
    logging: Policy
    weighed: Pairs
    clipped: Pairs
    read: Needs
    bases: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, targets: Mapping[str, Policy], logging: Policy, estimators: Iterable[Family], read: Needs
    ) -> Diagnostics:
        """Build from the estimators that use weights; windows that the data choose from are not clipped."""
        families = list(estimators)
        every = [one for members in families for one in members.values() if _weighs(one)]
        alone = [one for members in families if len(members) == 1 for one in members.values() if _clips(one)]
        unlike = tuple(dict.fromkeys(targets.values()))
        weighed, clipped = (
            tuple(dict.fromkeys((t, e.unnormalised) for t in unlike for e in some)) for some in (every, alone)
        )
        return cls(targets, logging, weighed, clipped, read)

    def quantities(self) -> Iterator[Quantity]:
        """Yield what is counted for the diagnostics."""
        yield Quantity("clips", ClipsFold(self.clipped, self.logging))
        yield Quantity("heaviest", HeaviestFold(self.weighed, self.logging))
        yield Quantity("overlap", RankingOverlapFold((*self.targets.values(), self.logging), self.read))

    def found(
        self, reduced: Mapping[str, Any], rows: Mapping[str, Row], windows: Iterable[Path[Windowed]], counts: Counts
    ) -> Diagnoses:
        """Return the diagnostics of an estimate of each target, and those of the targets."""
        *overlaps, logging = reduced["overlap"]
        drawn = None if logging is None else logging.probability.tolist()
        known = [(name, one) for name, one in zip(self.targets, overlaps, strict=True) if one is not None]
        ranks = [
            RankOverlap(name, rank, probability, None if drawn is None else drawn[rank - 1])
            for name, one in known
            for rank, probability in enumerate(one.probability.tolist(), start=1)
        ]
        compared = [
            RankingsCompared(name, one.rows, one.changed, tuple(starmap(TopOverlap, one.overlap.items())))
            for name, one in known
        ]
        return Diagnoses(
            tuple(one for each in rows.items() for one in self._clip_path(reduced["clips"], *each, counts)),
            tuple(windows),
            tuple(one for each in rows.items() for one in self._heaviest(reduced["heaviest"].rows, *each, counts)),
            tuple(ranks),
            tuple(compared),
        )

    def _clip_path(self, clips: Clips, target: str, row: Row, counts: Counts) -> Iterator[Path[Clipped]]:
        """Return the estimate at every clip that changes it, with intervals that use the estimate's clusters.

        They are of what the log shows; that of the estimate as it is also counts what the log hides.
        """
        pair, estimate = (self.targets[target], row.base), row.estimate
        if row.refusal is not None or not _clips(row.estimator) or pair not in self.clipped:
            return
        at, made_rows = counts.columns(*pair), []
        whole = counts.sums.moments.of(tuple(counts.layout.columns.numbers((ROWS, at.value, at.weight))))
        path = _clip_path(clips, self.clipped.index(pair), whole)
        method = counts.spec.method if counts.spec.method in ("anytime", "studentised") else "normal"
        spec, stretch = IntervalSpec(method, counts.spec.confidence), math.sqrt(estimate.design_effect or 1.0)
        for maximum, beyond, moments in path:
            found = spec.inference(_COLUMNS, {"moments": moments})
            mean = ratio(VALUE, ROWS if row.estimator.kind.normalisation is None else WEIGHT)
            if row.estimator.kind.normalisation == "control":
                mean = with_control(VALUE, WEIGHT, ROWS, found.sums.best_slope(VALUE, WEIGHT, ROWS))
            made = found.interval(mean)
            low, high = (made.value + stretch * (end - made.value) for end in (made.low, made.high))
            ends = replace(made, low=low, high=high, standard_error=stretch * made.standard_error)
            ends = ends.above(0.0) if counts.nonnegative else ends
            made_rows.append(Clipped(maximum, beyond / estimate.n, ends))
        if path:
            yield Path(target, row.name, (*made_rows, Clipped(None, 0.0, _interval(estimate))))

    def _heaviest(self, found: Sequence[Floats], target: str, row: Row, counts: Counts) -> Iterator[Path[Heavy]]:
        pair = self.targets[target], row.base
        if pair in self.weighed:
            total = float(counts.sums.total[counts.columns(*pair).value])
            heavy = []
            for weight, value, reward, base, place in found[self.weighed.index(pair)].tolist():
                number = self.bases.get(int(base), int(base)) + int(place)  # in the whole log
                heavy.append(Heavy(number, weight, reward, value / total if total else None))
            yield Path(target, row.name, tuple(heavy))


def _weighs(estimator: Estimator) -> bool:
    return estimator.kind.weighs in ("slates", "items")


def _clips(estimator: Estimator) -> bool:
    """Whether a clipped estimate is a mean of row terms: not if each slot is divided by a weight of its own."""
    return estimator.kind.normalisation != "slot" and _weighs(estimator) and not estimator.kind.predicts


def window_path(target: str, row: Row) -> Path[Windowed]:
    """Return all windows that the data choose from, the least assuming first."""
    rows = (
        Windowed(name, one.estimator.kind.window, one.estimator == row.estimator, _interval(one.estimate))
        for name, one in row.considered.items()
    )
    return Path(target, row.name, tuple(rows))


def _interval(found: Estimate) -> Interval:
    return Interval(found.value, found.low, found.high, found.standard_error)
