"""Laws of clicks on rows of results, made of the law within a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...clicks.laws import Cascading, ClickLaw, chance_of
from ...log.batch import Floats


@dataclass(frozen=True)
class Grid:
    """Slates of `slots` ranks as rows of `columns`, the last one filled up."""

    slots: int
    columns: int

    @property
    def rows(self) -> int:
        """How many rows a slate has."""
        return -(-self.slots // self.columns)

    def split(self, values: NDArray[Any]) -> NDArray[Any]:
        """[n, rows, columns] of [n, slots]; zeros (False) fill the last row up."""
        missing = self.rows * self.columns - values.shape[1]
        return np.pad(values, ((0, 0), (0, missing))).reshape(len(values), self.rows, self.columns)

    def flat(self, values: Floats) -> Floats:
        """[n, slots] of [n * rows, columns], or of [n, rows, columns]."""
        return np.ascontiguousarray(values.reshape(-1, self.rows * self.columns)[:, : self.slots])


@dataclass(frozen=True)
class AllRows:
    """Each row is read, independently of the others. within: law of [n * rows, columns]."""

    within: ClickLaw
    grid: Grid

    def marginal(self) -> Floats:
        return self.grid.flat(self.within.marginal())

    def conditional(self, clicks: Floats) -> Floats:
        inside = self.grid.split(clicks).reshape(-1, self.grid.columns)
        return self.grid.flat(self.within.conditional(inside))

    def sample(self, rng: np.random.Generator) -> Floats:
        return self.grid.flat(self.within.sample(rng))


@dataclass(frozen=True)
class OneRow:
    """One row is read, with probability chosen [n, rows]. within: law of [n * rows, columns]."""

    within: Cascading
    chosen: Floats
    grid: Grid

    def marginal(self) -> Floats:
        each = self.within.marginal().reshape(*self.chosen.shape, -1)
        return self.grid.flat(each * self.chosen[:, :, None])

    def conditional(self, clicks: Floats) -> Floats:
        """P(click | row is read) times the posterior that it is, given the clicks above and to the left."""
        inside = self.grid.split(clicks)
        each = self.within.conditional(inside.reshape(-1, self.grid.columns)).reshape(inside.shape)
        here = self.chosen[:, :, None] * _before(np.cumprod(chance_of(each, inside), axis=2), 1.0)
        whole = self.chosen * chance_of(each, inside).prod(axis=2)
        clicked = (inside > 0).any(axis=2)
        # No click above: another row is read, an earlier one without a click or one of those to come.
        others = _before(np.cumsum(whole, axis=1), 0.0) + self.chosen[:, ::-1].cumsum(axis=1)[:, ::-1] - self.chosen
        any_above = _before(np.cumsum(clicked, axis=1), 0) > 0
        any_left = _before(np.cumsum(inside > 0, axis=2), 0) > 0
        here = np.where(any_above[:, :, None], 0.0, here)
        total = here + np.where(any_left, 0.0, others[:, :, None])
        return self.grid.flat(each * np.divide(here, total, out=np.zeros_like(total), where=here > 0))

    def sample(self, rng: np.random.Generator) -> Floats:
        n, rows = self.chosen.shape
        drawn = rng.random((n, 1)) * self.chosen.sum(axis=1, keepdims=True)
        row = np.minimum((drawn >= self.chosen.cumsum(axis=1)).sum(axis=1), rows - 1)
        read = np.arange(n) * rows + row
        all_of = self.within.attraction, self.within.after_click, self.within.after_skip
        out = np.zeros((n, rows, self.grid.columns))
        out[np.arange(n), row] = Cascading(*(values[read] for values in all_of)).sample(rng)
        return self.grid.flat(out)


def _before(running: NDArray[Any], first: float) -> NDArray[Any]:
    """A running sum or product of what came before each place, along the last axis."""
    return np.concatenate([np.full_like(running[..., :1], first), running[..., :-1]], axis=-1)
