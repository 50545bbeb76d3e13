"""Users of simulated worlds: their examination and clicks, by their spelling: `dbn`, `dbn(gamma=0.9)`."""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from ..clicks.laws import Cascading, ClickLaw, Independent
from ..clicks.model import load
from ..errors import UsageError
from ..language.spelling import Spelled, parse
from ..log.batch import Booleans, Contexts, Floats, Integers
from ..log.source import Needs

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


@dataclass(frozen=True, repr=False)
class GradeReader(Spelled, ABC):
    """A user for whom relevance is a function of the grade; a frozen dataclass, with settings by keyword."""

    highest: float = field(default=4.0, kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.highest)

    @abstractmethod
    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        """Return the joint law of the clicks on these slates [n, k]."""

    def relevance_of(self, grade: Floats) -> Floats:
        """Return the relevance of documents with these grades to this user."""
        return probability_of_relevance(grade, self.highest)

    def relevance(self, contexts: Contexts) -> Floats:
        """Return the relevance of each candidate to this user [n, m]."""
        return self.relevance_of(contexts.scores[GRADE])

    def needs(self) -> Needs:
        """Return the column of the grades."""
        return Needs(frozenset(["candidates"]), scores=frozenset([GRADE]))


@dataclass(frozen=True, repr=False)
class PBMUser(GradeReader):
    """Looks at rank k with probability 1 / k, and clicks what is relevant: P(C_k = 1) = R / k.

    R = .1 + .9 (2^g - 1) / (2^highest - 1); paper cmip-debiasedness, section 5.1.4.
    highest: the largest possible grade.

    Parameters:
        highest: the highest possible grade.

    Examples:
        >>> offrank.simulation.users.PBMUser().highest
        4.0
    """

    name: ClassVar[str] = "pbm"

    def law(self, contexts: Contexts, slates: Integers) -> Independent:
        on = seen(contexts, slates)
        return Independent(on.of(self.relevance_of(on.grade) / _ranks(slates)))


@dataclass(frozen=True, repr=False)
class TrustUser(GradeReader):
    """Also clicks irrelevant documents at high ranks: P(C_k = 1) = (e+_k R + e-_k (1 - R)) / k, affine in R.

    e+_k = 1 - (min(k, 20) + 1) / 100 and e-_k = .65 / min(k, 10) are the values in simulations that follow Vardasbi
    et al. (CIKM 2020); paper cmip-debiasedness has no such user. R = .1 + .9 (2^g - 1) / (2^highest - 1).

    Parameters:
        highest: the highest possible grade.

    Examples:
        >>> offrank.simulation.users.TrustUser().highest
        4.0
    """

    name: ClassVar[str] = "trust"

    def law(self, contexts: Contexts, slates: Integers) -> Independent:
        on, rank = seen(contexts, slates), _ranks(slates)
        relevance = self.relevance_of(on.grade)
        relevant, other = 1 - (np.minimum(rank, 20) + 1) / 100, 0.65 / np.minimum(rank, 10)
        return Independent(on.of((relevant * relevance + other * (1 - relevance)) / rank))


def _ranks(slates: Integers) -> Floats:
    """Return the ranks of slates, counted from 1 [k]."""
    return np.arange(1.0, slates.shape[1] + 1)


@dataclass(frozen=True, repr=False)
class DBNUser(GradeReader):
    """Reads from the top, clicks attractive results, and leaves once satisfied or bored.

    Attraction is R = .1 + .9 (2^g - 1) / (2^highest - 1), satisfaction R / 2, and after every result but a satisfying
    one the user continues with probability gamma, which paper cmip-debiasedness leaves open and its code sets to .8.

    Parameters:
        highest: the highest possible grade.
        gamma: probability of going on without satisfaction.

    Examples:
        >>> offrank.simulation.users.DBNUser().highest
        4.0
    """

    name: ClassVar[str] = "dbn"
    gamma: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        check_settings(self.highest, gamma=self.gamma)

    def law(self, contexts: Contexts, slates: Integers) -> Cascading:
        return reader(seen(contexts, slates), self.highest, self.gamma)


def reader(on: Seen, highest: float, gamma: float) -> Cascading:
    """Return the law of the DBN user: attraction R, satisfaction R / 2."""
    relevance = probability_of_relevance(on.grade, highest)
    going_on = on.of(np.full(on.grade.shape, gamma), 1.0)  # an empty place costs nothing
    return Cascading(on.of(relevance), on.of(gamma * (1 - relevance / 2), 1.0), going_on)


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


def probability_of_relevance(grade: Floats, highest: float) -> Floats:
    """R = .1 + .9 (2^g - 1) / (2^highest - 1); paper cmip-debiasedness, section 5.1.4."""
    return 0.1 + 0.9 * gain(grade, highest)


def check_settings(highest: float, **chances: float) -> None:
    """Raise for invalid settings of a user.

    Raises:
        UsageError: a highest grade that is not above 0, a probability outside [0, 1].
    """
    if not 0 < highest < 1000:
        raise UsageError(
            f"the highest grade is {highest!r}", "give the largest grade that judges could give, such as 4"
        )
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise UsageError(f"{name} is {chance!r}", "give a probability, from 0 to 1")


USERS = {user.name: user for user in (DBNUser, PBMUser, TrustUser)}


def user(spelling: str | User, **settings: Any) -> User:
    """Return the user that a spelling names, with these further settings; a user is returned as it is.

    Raises:
        SpellingError: the text is not a user's spelling.
    """
    if not isinstance(spelling, str):
        return spelling
    return cast(User, dataclasses.replace(parse(spelling, USERS, "user"), **settings))


def user_or_model(given: str | os.PathLike[str] | User) -> User:
    """Return the user of a spelling, or of the file of a fitted click model."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith((".json", ".npz"))):
        return load(given)
    return user(given)
