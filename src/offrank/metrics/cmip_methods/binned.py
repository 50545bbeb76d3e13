"""Mutual information from counts in quantile bins, whose number is doubled while that adds information.

Within a grade, relevance and logging are cut into 2, 4, 8, ... bins of equal counts. Information grows with
the bins, and so do bias and noise. The bias is taken out by Grassberger's correction (2003), which holds down
to a handful of documents per cell. The noise is reduced in the increments, not in the sum: each increment
is shrunk towards the one predicted from the increment before it, and more so the smaller it is relative to its noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ...log.batch import Floats, Integers
from .base import GradedDocuments, Information, Progress, permutation, silent

PER_CELL = 6
"""Documents per cell needed by the correction: below 4, it is biased at strong dependence (benchmarks/cmip.py)."""

EXPECTED = (0.9, 0.5)
DECAY = 0.42
"""Ratio of successive increments of information per doubling, for 4, 8 and more bins: that of a Gaussian
copula, nearly the same for any correlation (.41 to .44 beyond 8 bins). Bounded smooth densities have down to 1/4."""

NOISE = 1.7
"""Standard deviation of the corrected increments under independence, in units of sqrt(cells / 2) / documents."""

CLEAR = 12.0
"""An increment this many noise variances from the expected one (3.5 deviations) is not shrunk. There are some
25 increments: at 6, one log in three had one by chance, and twice the spread if the truth is 0."""


@dataclass(frozen=True)
class Binned:
    """I(relevance; logging | grade) by quantile bins within grades, without optional libraries.

    The standard error is that of `replicates` random halves around the value: their spread is the sampling
    error of the whole, and their mean difference to it is the bias that more documents would still change. Of several
    draws of the relevance it is the mean's, from half as many halves, with the error of having no more draws.
    """

    replicates: int = 50
    name: ClassVar[str] = "binned"
    least: ClassVar[int] = 1_000
    smallest: ClassVar[int] = 4 * PER_CELL
    permutations: ClassVar[int] = 200
    worlds: ClassVar[int] = 20

    def value(self, documents: GradedDocuments, rng: np.random.Generator) -> float:
        """The information alone."""
        return float(_shares(documents) @ [_information(documents, own).mean() for own in documents.members])

    def measure(
        self, documents: GradedDocuments, rng: np.random.Generator, permutations: int, progress: Progress | None
    ) -> Information:
        draws, shares, report = documents.relevance.shape[1], _shares(documents), progress or silent
        count = self.replicates if draws == 1 else -(-self.replicates // 2)
        found = np.empty((draws, 1 + permutations, len(shares)))
        for place, (own, blocks) in enumerate(zip(documents.members, documents.blocks(), strict=True)):
            found[:, :, place] = _information(documents, own, permutations, rng, blocks)
            report(place + 1, len(shares) + count)
        values = found.mean(axis=0)
        totals, halves = values @ shares, np.empty(count)
        for place, half in enumerate(documents.halves(rng, count)):
            halves[place] = self.value(half, rng)
            report(len(shares) + place + 1, len(shares) + count)
        value = float(totals[0])
        of_draws = (found[:, 0] @ shares).var(ddof=1) / draws if draws > 1 else 0.0
        error = float(np.sqrt(np.mean((halves - value) ** 2) + of_draws))
        return Information(value, error, values[0], totals[1:], value)


def _shares(documents: GradedDocuments) -> Floats:
    return np.array([len(own) for own in documents.members]) / len(documents)


def _information(
    documents: GradedDocuments,
    own: Integers,
    permutations: int = 0,
    rng: np.random.Generator | None = None,
    blocks: Integers | None = None,
) -> Floats:
    """[draws, 1 + permutations] the information within one grade; all draws have the same permutations."""
    state, found = {} if rng is None else rng.bit_generator.state, []
    for relevance in documents.relevance[own].T:
        if rng is not None:
            rng.bit_generator.state = state
        found.append(Ladder.of(relevance, documents.logging[own]).information(permutations, rng, blocks))
    return np.stack(found)


@dataclass(frozen=True)
class Rung:
    """One number of bins: codes x, y [n], columns of the table, contribution of the margins, degrees of freedom."""

    x: Integers
    y: Integers
    columns: int
    margins: float
    freedom: int

    @classmethod
    def of(cls, x: Integers, y: Integers, columns: int) -> Rung:
        """The rung with the quantities that follow from the codes."""
        log, margins = _corrected_logs(len(x)), (np.bincount(x), np.bincount(y))
        contribution = log[len(x)] - sum(float(counts @ log[counts]) for counts in margins) / len(x)
        return cls(x, y, columns, float(contribution), (len(margins[0]) - 1) * (len(margins[1]) - 1))

    def information(self, y: Integers) -> float:
        """Corrected mutual information of x and y."""
        counts = np.bincount(self.x * self.columns + y)
        return self.margins + float(counts @ _corrected_logs(len(y))[counts]) / len(y)


@dataclass(frozen=True)
class Ladder:
    """The rungs of one grade, coarsest first; exhausted: the last one separates all values."""

    rungs: Sequence[Rung]
    exhausted: bool

    @classmethod
    def of(cls, relevance: Floats, logging: Floats) -> Ladder:
        """As many rungs as the documents can fill."""
        ranks = [_Ranked.of(relevance), _Ranked.of(logging)]
        rungs: list[Rung] = []
        bins = 2
        while True:
            (x, rows), (y, columns) = (ranked.codes(bins) for ranked in ranks)
            if rungs and rows * columns * PER_CELL > len(x):
                return cls(rungs, exhausted=False)
            rungs.append(Rung.of(x, y, columns))
            if all(ranked.distinct <= bins for ranked in ranks):
                return cls(rungs, exhausted=True)
            bins *= 2

    def information(
        self, permutations: int = 0, rng: np.random.Generator | None = None, blocks: Integers | None = None
    ) -> Floats:
        """[1 + permutations] information of the documents, then with logging permuted within blocks."""
        rises = np.empty((1 + permutations, len(self.rungs)))
        rises[0] = [rung.information(rung.y) for rung in self.rungs]
        for row in range(1, 1 + permutations):
            assert rng is not None
            order = permutation(len(self.rungs[0].x), blocks, rng)
            rises[row] = [rung.information(rung.y[order]) for rung in self.rungs]
        return self._climbed(rises)

    def _climbed(self, levels: Floats) -> Floats:
        """[...] the sum of the shrunk increments, extrapolated beyond the last rung; levels [..., rungs]."""
        # The expected ratio of each increment to the one before it, and the degrees of freedom that it adds.
        shares = [EXPECTED[place] if place < len(EXPECTED) else DECAY for place in range(len(self.rungs) - 1)]
        gained = np.maximum(np.diff([rung.freedom for rung in self.rungs]), 0)
        found = step = levels[..., 0]
        for place, (share, freedom) in enumerate(zip(shares, gained, strict=True), 1):
            noise = NOISE * float(np.sqrt(freedom / 2)) / len(self.rungs[0].x)
            step = _shrunk(levels[..., place] - levels[..., place - 1], share * step, noise)
            found = found + step
        if self.exhausted:
            return np.asarray(found)
        beyond = [*EXPECTED[len(shares) :], DECAY]
        return np.asarray(found + step * (np.cumprod(beyond).sum() + np.prod(beyond) * DECAY / (1 - DECAY)))


def _shrunk(increment: Floats, expected: Floats, noise: float) -> Floats:
    """The increment, shrunk towards the expected one as far as noise can explain the difference."""
    if noise == 0:
        return increment
    surprise = (increment - expected) ** 2 - CLEAR * noise**2
    trust = np.maximum((expected / 2) ** 2, surprise)
    return np.asarray(expected + (increment - expected) * trust / (trust + noise**2))


@dataclass(frozen=True)
class _Ranked:
    """Ranked values: place [n] of each among the distinct ones; middle [distinct], the mean quantile of a value."""

    place: Integers
    middle: Floats

    @classmethod
    def of(cls, values: Floats) -> _Ranked:
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        return cls(place, (np.cumsum(counts) - counts / 2) / len(values))

    @property
    def distinct(self) -> int:
        return len(self.middle)

    def codes(self, bins: int) -> tuple[Integers, int]:
        """[n] bins of equal counts and their number; equal values share a bin, and few values get one each."""
        if self.distinct <= bins:
            return self.place, self.distinct
        _, used = np.unique((self.middle * bins).astype(np.int64), return_inverse=True)
        return used[self.place], int(used[-1]) + 1


@lru_cache(maxsize=2)
def _logs_up_to(size: int) -> Floats:
    from scipy.special import digamma

    counts = np.arange(1, size + 1, dtype=np.float64)
    swing = (digamma((counts + 1) / 2) - digamma(counts / 2)) / 2
    logs = digamma(counts) + np.where(counts % 2 == 0, swing, -swing)
    return np.concatenate([[0.0], logs])


def _corrected_logs(n: int) -> Floats:
    """Grassberger's G at 0, ..., at least n: sum of c G(c) estimates sum of n p log(n p) with little bias."""
    return _logs_up_to(1 << max(n, 1024).bit_length())
