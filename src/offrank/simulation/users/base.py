"""Common parts of the simulated users: they use grades, and define the law of a slate's clicks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol, get_args, runtime_checkable

import numpy as np

from ...clicks.laws import ClickLaw
from ...errors import UsageError
from ...language.spelling import Spelled
from ...log.batch import Booleans, Contexts, Floats, Integers
from ...log.source import Needs
from ..judged_queries import Preset

GRADE = "grade"
"""The score column with the grade of each candidate."""


class User(Protocol):
    """A user who examines a slate and clicks: a simulated user, or a fitted click model."""

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        """Return the joint law of the clicks on these slates [n, k]."""

    def relevance(self, contexts: Contexts) -> Floats:
        """Return the relevance of each candidate to this user [n, m]."""

    def needs(self) -> Needs:
        """Return the columns that the law reads."""


@runtime_checkable
class Places(Protocol):
    """A user whose page shows a ranking in another order."""

    def placement(self, slots: int) -> Integers | None:
        """Return which place of the ranking each rank shows, counted from 0 [slots]; None: its own."""


@dataclass(frozen=True, repr=False)
class GradeReader(Spelled, ABC):
    """A user for whom relevance is a function of the grade; a frozen dataclass, with settings by keyword."""

    highest: float = field(default=4.0, kw_only=True)
    preset: Preset = field(default="paper", kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.preset, self.highest)

    @abstractmethod
    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        """Return the joint law of the clicks on these slates [n, k]."""

    def relevance_of(self, grade: Floats) -> Floats:
        """Return the relevance of documents with these grades to this user."""
        return probability_of_relevance(grade, self.highest, 0.1 if self.preset == "paper" else 0.0)

    def relevance(self, contexts: Contexts) -> Floats:
        """Return the relevance of each candidate to this user [n, m]."""
        return self.relevance_of(contexts.scores[GRADE])

    def needs(self) -> Needs:
        """Return the column of the grades."""
        return Needs(frozenset(["candidates"]), scores=frozenset([GRADE]))


@dataclass(frozen=True)
class Seen:
    """What a user sees of slates: grade [n, k], 0 if nothing is shown, and shown [n, k]."""

    grade: Floats
    shown: Booleans

    def of(self, values: Floats, elsewhere: float = 0.0) -> Floats:
        """Return values where an item is shown, and `elsewhere` otherwise [n, k]."""
        return np.where(self.shown, values, elsewhere)


def seen(contexts: Contexts, slates: Integers) -> Seen:
    """Return the grades of the items on these slates."""
    shown = slates >= 0
    grade = np.take_along_axis(contexts.scores[GRADE], np.maximum(slates, 0), axis=1)
    return Seen(np.where(shown, grade, 0.0), shown)


def gain(grade: Floats, highest: float) -> Floats:
    """(2^g - 1) / (2^highest - 1): from 0 to 1."""
    return (2.0**grade - 1) / (2.0**highest - 1)


def probability_of_relevance(grade: Floats, highest: float, noise: float = 0.1) -> Floats:
    """R = noise + (1 - noise) (2^g - 1) / (2^highest - 1); paper cmip-debiasedness, section 5.1.4."""
    return noise + (1 - noise) * gain(grade, highest)


def check_settings(preset: str, highest: float, **chances: float) -> None:
    """Raise for invalid settings of a user.

    Raises:
        UsageError: an unknown preset, a highest grade that is not above 0, a probability outside [0, 1].
    """
    if preset not in get_args(Preset):
        raise UsageError(f"there is no preset {preset!r}", f"presets are {', '.join(get_args(Preset))}")
    if not 0 < highest < 1000:
        raise UsageError(
            f"the highest grade is {highest!r}", "give the largest grade that judges could give, such as 4"
        )
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise UsageError(f"{name} is {chance!r}", "give a probability, from 0 to 1")
