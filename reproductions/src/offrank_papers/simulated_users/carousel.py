"""A carousel page of rows: the user picks one, and reads it from left to right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offrank.clicks.laws import Cascading, ClickLaw, chance_of
from offrank.errors import UsageError
from offrank.log.batch import Contexts, Floats, Integers
from offrank.simulation.users import Seen, gain, reader, seen

from .dbn import NOISE
from .fading import Fading
from .preset import PresetUser


@dataclass(frozen=True, repr=False)
class CarouselUser(PresetUser):
    """Results are in rows of `columns`, the first ranks in the first row; clicks come from within a row.

    paper: exactly one of r rows is read, row i with probability proportional to (mean R in row i) / i; within it
    the user behaves as `dbn`, with gamma .8. The paper shows 25 documents in five rows. published-code: every row
    is read independently, with gamma .75. Attraction has noise as for `mixture_dbn`, and a result satisfies with
    its drawn attraction as probability. The code multiplies clicks in row i by i^-.5; clicks are integers here, so
    that each is logged with that probability, which has the same expectation.

    Parameters:
        highest: the highest possible grade.
        preset: "paper", or "published-code": as the code that was published with it.
        columns: results in a row of the carousel.
        gamma: None for the preset's own, .8 or .75.

    Raises:
        UsageError: fewer than 1 column, or settings that cannot be.

    Examples:
        >>> CarouselUser().highest
        4.0
    """

    name: ClassVar[str] = "carousel"
    columns: int = field(default=5, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.columns < 1:
            raise UsageError(f"columns is {self.columns!r}", "give at least 1 result per row")
        self.check(gamma=self.going_on)

    @property
    def going_on(self) -> float:
        """Return the probability of continuing to the next result of a row."""
        if self.gamma is not None:
            return self.gamma
        return 0.8 if self.preset == "paper" else 0.75

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        on, grid = seen(contexts, slates), ResultRows(slates.shape[1], self.columns)
        grade, shown = (grid.split(values).reshape(-1, self.columns) for values in (on.grade, on.shown))
        if self.preset == "paper":
            within = reader(Seen(grade, shown), self.highest, self.going_on)
            return OneRow(within, _chosen(within, shown, grid), grid)
        kept = np.tile(np.arange(1, grid.rows + 1) ** -0.5, len(slates))
        everywhere = np.repeat(kept[:, None], self.columns, axis=1)
        return AllRows(Fading(gain(grade, self.highest), None, shown, self.going_on, NOISE, everywhere), grid)

    def placement(self, slots: int) -> Integers | None:
        """Return places as for `mixture_dbn`: in the published code by gamma^column row^-.5, inverted there too."""
        if self.preset == "paper":
            return None
        place = np.arange(slots)
        exposure = self.going_on ** (place % self.columns) / np.sqrt(place // self.columns + 1)
        return np.argsort(-exposure, kind="stable")


def _chosen(within: Cascading, shown: NDArray[np.bool_], grid: ResultRows) -> Floats:
    """Return P(row is read) [n, rows]: proportional to a position weight times the mean relevance of the row."""
    mean = (within.attraction.sum(axis=1) / np.maximum(shown.sum(axis=1), 1)).reshape(-1, grid.rows)
    share = mean / np.arange(1, grid.rows + 1)
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0)


@dataclass(frozen=True)
class ResultRows:
    """Slates of `slots` ranks as rows of `columns`, the last one padded."""

    slots: int
    columns: int

    @property
    def rows(self) -> int:
        """Return the number of rows of a slate."""
        return -(-self.slots // self.columns)

    def split(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reshape [n, slots] to [n, rows, columns]; zeros (False) pad the last row."""
        missing = self.rows * self.columns - values.shape[1]
        return np.pad(values, ((0, 0), (0, missing))).reshape(len(values), self.rows, self.columns)

    def flat(self, values: Floats) -> Floats:
        """Reshape [n * rows, columns], or [n, rows, columns], to [n, slots]."""
        return np.ascontiguousarray(values.reshape(-1, self.rows * self.columns)[:, : self.slots])


@dataclass(frozen=True)
class AllRows:
    """Law of pages whose rows are all read, independently. within: law of [n * rows, columns]."""

    within: ClickLaw
    grid: ResultRows

    def marginal(self) -> Floats:
        return self.grid.flat(self.within.marginal())

    def conditional(self, clicks: Floats) -> Floats:
        inside = self.grid.split(clicks).reshape(-1, self.grid.columns)
        return self.grid.flat(self.within.conditional(inside))

    def sample(self, rng: np.random.Generator) -> Floats:
        return self.grid.flat(self.within.sample(rng))


@dataclass(frozen=True)
class OneRow:
    """Law of pages of which one row is read, with probability chosen [n, rows]. within: law of [n * rows, columns]."""

    within: Cascading
    chosen: Floats
    grid: ResultRows

    def marginal(self) -> Floats:
        each = self.within.marginal().reshape(*self.chosen.shape, -1)
        return self.grid.flat(each * self.chosen[:, :, None])

    def conditional(self, clicks: Floats) -> Floats:
        """Return P(click | row is read) times the posterior that it is, given the clicks above and to the left."""
        inside = self.grid.split(clicks)
        each = self.within.conditional(inside.reshape(-1, self.grid.columns)).reshape(inside.shape)
        here = self.chosen[:, :, None] * _before(np.cumprod(chance_of(each, inside), axis=2), 1.0)
        whole = self.chosen * chance_of(each, inside).prod(axis=2)
        clicked = (inside > 0).any(axis=2)
        # No click above: another row is read, an earlier one without a click or a later one.
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
    """Return an exclusive running sum or product along the last axis."""
    return np.concatenate([np.full_like(running[..., :1], first), running[..., :-1]], axis=-1)
