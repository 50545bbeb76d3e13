"""Users who read results one after the other: top down, or some of them from the bottom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...clicks.laws import Cascading, ClickLaw, Mixed, Upward
from ...log.batch import Contexts, Floats, Integers
from .base import GradeReader, Seen, check_settings, gain, probability_of_relevance, seen
from .fading import LOWEST, Fading

NOISE = 0.1
"""Standard deviation of the attraction in the published code."""


@dataclass(frozen=True, repr=False)
class DBNUser(GradeReader):
    """Reads from the top, clicks attractive results, and leaves once satisfied or bored.

    paper: attraction R = .1 + .9 (2^g - 1) / (2^highest - 1), satisfaction R / 2, and after every result but a
    satisfying one the user continues with probability gamma, which the paper leaves open and the code sets to .8.
    published-code: attraction max(g / highest, .1), satisfaction g / (2 highest), and nobody leaves: each rank has
    gamma times the attention of the one above, times 1 - satisfaction after a click.

    Parameters:
        highest: the highest possible grade.
        preset: "paper", or "published-code": as the code that was published with it.
        gamma: probability of going on without satisfaction.

    Examples:
        >>> offrank.simulation.users.DBNUser().highest
        4.0
    """

    name: ClassVar[str] = "dbn"
    gamma: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.preset, self.highest, gamma=self.gamma)

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        on = seen(contexts, slates)
        if self.preset == "paper":
            return reader(on, self.highest, self.gamma)
        return Fading(self.relevance_of(on.grade), on.grade / (2 * self.highest), on.shown, self.gamma)

    def relevance_of(self, grade: Floats) -> Floats:
        if self.preset == "paper":
            return probability_of_relevance(grade, self.highest)
        return np.maximum(grade / self.highest, LOWEST)


@dataclass(frozen=True, repr=False)
class MixtureDBNUser(GradeReader):
    """Reads from the top with probability `downward`, otherwise from the bottom; the rest is as for `dbn`.

    paper: both readers are the DBN user of the paper. published-code: gamma is .7, the attraction (2^g - 1) /
    (2^highest - 1) has normal noise of standard deviation .1, drawn for every document of every session and kept
    within [.1, 1], satisfaction is (2^g - 1) / (2^highest - 1), nobody leaves, and the results are in another
    order, see `placement`.
    gamma: None for the preset's own, .8 or .7.

    Parameters:
        highest: the highest possible grade.
        preset: "paper", or "published-code": as the code that was published with it.
        downward: probability of reading from the top.
        gamma: probability of going on without satisfaction; None: the preset's own, .8 or .7.

    Examples:
        >>> offrank.simulation.users.MixtureDBNUser().highest
        4.0
    """

    name: ClassVar[str] = "mixture_dbn"
    downward: float = field(default=0.7, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.preset, self.highest, gamma=self.going_on, downward=self.downward)

    @property
    def going_on(self) -> float:
        """Return the probability of continuing to the next result."""
        if self.gamma is not None:
            return self.gamma
        return 0.8 if self.preset == "paper" else 0.7

    def law(self, contexts: Contexts, slates: Integers) -> Mixed:
        on = seen(contexts, slates)
        if self.preset == "paper":
            down = reader(on, self.highest, self.going_on)
            laws: list[ClickLaw] = [down, Upward(down.attraction, down.after_click, down.after_skip)]
        else:
            of = gain(on.grade, self.highest)
            laws = [Fading(of, of, on.shown, self.going_on, NOISE, upward=upward) for upward in (False, True)]
        return Mixed(laws, np.array([self.downward, 1 - self.downward]))

    def placement(self, slots: int) -> Integers | None:
        """Return which place of the ranking each rank shows, counted from 0 [slots]; None: its own.

        The published code sorts ranks by how likely they are read, in order to put the best item at the most read one,
        yet inverts that permutation by mistake: of ten, rank 4 shows the last item and rank 10 the seventh.
        """
        if self.preset == "paper":
            return None
        faded = self.going_on ** np.arange(slots)
        return np.argsort(-(self.downward * faded + (1 - self.downward) * faded[::-1]), kind="stable")


def reader(on: Seen, highest: float, gamma: float) -> Cascading:
    """Return the law of the paper's DBN user: attraction R, satisfaction R / 2."""
    relevance = probability_of_relevance(on.grade, highest)
    going_on = on.of(np.full(on.grade.shape, gamma), 1.0)  # an empty place costs nothing
    return Cascading(on.of(relevance), on.of(gamma * (1 - relevance / 2), 1.0), going_on)
