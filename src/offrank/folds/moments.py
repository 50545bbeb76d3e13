"""Mean and centred co-moments of the columns of a sample, merged by Chan's rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..log.batch import Floats
from . import _kernels
from .base import Sample, widened


@dataclass(frozen=True)
class Moments:
    """n rows of d columns: mean [d], comoment [d, d] (sums of centred products), least and largest [d]."""

    n: int
    mean: Floats
    comoment: Floats
    least: Floats
    largest: Floats

    @property
    def sums(self) -> Floats:
        """[d] column sums."""
        return self.n * self.mean

    @property
    def squares(self) -> Floats:
        """[d] sums of squares."""
        return np.diagonal(self.comoment) + self.n * self.mean**2


@dataclass(frozen=True)
class MomentsFold:
    """Reduces samples of `columns` columns, or more, to `Moments`."""

    columns: int

    def empty(self) -> Moments:
        d = self.columns
        return Moments(0, np.zeros(d), np.zeros((d, d)), np.full(d, np.inf), np.full(d, -np.inf))

    def add(self, state: Moments, batch: Sample) -> Moments:
        if not len(batch):
            return state
        return self.merge(state, Moments(len(batch), *_kernels.moments(batch.values)))

    def merge(self, left: Moments, right: Moments) -> Moments:
        n = left.n + right.n
        if not left.n or not right.n:
            return right if not left.n else left
        columns = max(len(left.mean), len(right.mean))
        left, right = _widened(left, columns), _widened(right, columns)
        shift = right.mean - left.mean
        return Moments(
            n,
            left.mean + shift * (right.n / n),
            left.comoment + right.comoment + np.outer(shift, shift) * (left.n * right.n / n),
            np.minimum(left.least, right.least),
            np.maximum(left.largest, right.largest),
        )

    def finish(self, state: Moments) -> Moments:
        return state


def _widened(state: Moments, columns: int) -> Moments:
    """The same rows with zeros in further columns."""
    if len(state.mean) == columns:
        return state
    comoment = widened(widened(state.comoment, columns).T, columns)
    mean, least, largest = (widened(each, columns) for each in (state.mean, state.least, state.largest))
    return Moments(state.n, mean, comoment, least, largest)
