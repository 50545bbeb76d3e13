"""Users who read results one after the other: top down, or some of them from the bottom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from offrank.clicks.laws import ClickLaw, Mixed, Upward
from offrank.log.batch import Contexts, Floats, Integers
from offrank.simulation.users import GradeReader, check_settings, gain, reader, seen

from .fading import LOWEST, Fading
from .preset import PresetUser

NOISE = 0.1
"""Standard deviation of the attraction in the published code."""


@dataclass(frozen=True, repr=False)
class PublishedDBNUser(GradeReader):
    """The user `dbn` of the published code: attraction max(g / highest, .1), satisfaction g / (2 highest).

    Nobody leaves: each rank has gamma times the attention of the one above, times 1 - satisfaction after a click.

    Parameters:
        highest: the highest possible grade.
        gamma: how the attention falls from rank to rank.
    """

    name: ClassVar[str] = "published_dbn"
    gamma: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.highest, gamma=self.gamma)

    def law(self, contexts: Contexts, slates: Integers) -> Fading:
        on = seen(contexts, slates)
        return Fading(self.relevance_of(on.grade), on.grade / (2 * self.highest), on.shown, self.gamma)

    def relevance_of(self, grade: Floats) -> Floats:
        return np.maximum(grade / self.highest, LOWEST)


@dataclass(frozen=True, repr=False)
class MixtureDBNUser(PresetUser):
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
        >>> MixtureDBNUser().highest
        4.0
    """

    name: ClassVar[str] = "mixture_dbn"
    downward: float = field(default=0.7, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.check(gamma=self.going_on, downward=self.downward)

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
