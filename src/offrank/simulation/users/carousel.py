"""A page of rows: the user picks one, and reads it from left to right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...clicks.laws import Cascading, ClickLaw
from ...errors import UsageError
from ...log.batch import Contexts, Floats, Integers
from ...log.source import Needs
from ...spelling import Spelled
from ..judged import Preset
from .base import GRADE, Seen, check, gain, needs, probability_of_relevance, seen
from .dbn import NOISE, reader
from .fading import Fading
from .rows import AllRows, Grid, OneRow


@dataclass(frozen=True, repr=False)
class CarouselUser(Spelled):
    """Results stand in rows of `columns`, the first ranks in the first row; clicks come from within a row.

    paper: of r rows exactly one is read, row i with probability proportional to (mean R in row i) / i; in it the
    user behaves as `dbn`, with gamma .8. The paper shows 25 documents in five rows.
    published-code: every row is read by itself, with gamma .75. Attraction has noise as for `mixture_dbn`, and a
    result satisfies with the attraction that was drawn. The code multiplies clicks in row i by i^-.5; clicks are
    whole numbers here, so that each is written down with that probability, which has the same expectation.
    gamma: None for the preset's own, .8 or .75.
    """

    name: ClassVar[str] = "carousel"
    columns: int = field(default=5, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)
    highest: float = field(default=4.0, kw_only=True)
    preset: Preset = field(default="paper", kw_only=True)

    def __post_init__(self) -> None:
        if self.columns < 1:
            raise UsageError(f"columns is {self.columns!r}", "give at least 1 result per row")
        check(self.preset, self.highest, gamma=self.going_on)

    @property
    def going_on(self) -> float:
        """Probability to go on to the next result of a row."""
        if self.gamma is not None:
            return self.gamma
        return 0.8 if self.preset == "paper" else 0.75

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        on, grid = seen(contexts, slates), Grid(slates.shape[1], self.columns)
        grade, shown = (grid.split(values).reshape(-1, self.columns) for values in (on.grade, on.shown))
        if self.preset == "paper":
            within = reader(Seen(grade, shown), self.highest, self.going_on)
            return OneRow(within, _chosen(within, shown, grid), grid)
        kept = np.tile(np.arange(1, grid.rows + 1) ** -0.5, len(slates))
        everywhere = np.repeat(kept[:, None], self.columns, axis=1)
        return AllRows(Fading(gain(grade, self.highest), None, shown, self.going_on, NOISE, everywhere), grid)

    def relevance(self, contexts: Contexts) -> Floats:
        least = 0.1 if self.preset == "paper" else 0.0
        return probability_of_relevance(contexts.scores[GRADE], self.highest, least)

    def placement(self, slots: int) -> Integers | None:
        """As for `mixture_dbn`: in the published code by gamma^column row^-.5, read the wrong way round too."""
        if self.preset == "paper":
            return None
        place = np.arange(slots)
        exposure = self.going_on ** (place % self.columns) / np.sqrt(place // self.columns + 1)
        return np.argsort(-exposure, kind="stable")

    def needs(self) -> Needs:
        return needs()


def _chosen(within: Cascading, shown: NDArray[np.bool_], grid: Grid) -> Floats:
    """[n, rows] P(row is read): a position-based law times the mean relevance of what the row shows."""
    mean = (within.attraction.sum(axis=1) / np.maximum(shown.sum(axis=1), 1)).reshape(-1, grid.rows)
    share = mean / np.arange(1, grid.rows + 1)
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0)
