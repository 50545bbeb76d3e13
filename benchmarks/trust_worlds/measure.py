"""What is said of a log, held against what ought to be said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import offrank

from .world import World

USE, CARE, NOT = "use", "use with care", "do not use"
Z = 1.959964
SEVERITIES = ("note", "warning", "serious")


@dataclass(frozen=True)
class Statement:
    """A verdict: the word, codes of findings in order, the value with its interval (if given), whose it is."""

    word: str
    codes: tuple[str, ...]
    value: tuple[float, float, float] | None = None
    estimator: str = ""


@dataclass(frozen=True)
class Outcome:
    """What was said of one log.

    held: the interval holds the truth; off: the error exceeds three standard errors; spared: the answer is from an
    estimator that the fault of the world does not harm.
    """

    word: str
    first: str
    right: bool
    held: bool | None = None
    off: bool | None = None
    spared: bool = False


def said_of(world: World, rows: int, seed: int) -> Statement:
    """The verdict on one log; what is refused is not used."""
    try:
        return verdict_of(world.answer(world.table(rows, seed)))
    except offrank.OffrankError as error:
        return Statement(NOT, (error.code,))


def verdict_of(result: offrank.Result) -> Statement:
    """The verdict of a result: its reasons come first, then the findings of which the verdict says nothing."""
    worst_first = sorted(result.findings, key=lambda one: -SEVERITIES.index(one.severity))
    codes = tuple(dict.fromkeys(one.code for one in worst_first))
    found = result.verdict
    codes = tuple(reason.code for reason in found.reasons) or codes
    if found.value is None:
        return Statement(found.word, codes)
    return Statement(found.word, codes, (found.value.value, found.value.low, found.value.high), str(found.estimator))


def outcome(world: World, rows: int, seed: int) -> Outcome:
    """One log of a world, judged."""
    said = said_of(world, rows, seed)
    first = next(iter(said.codes), "")
    right = first in (world.causes or ())
    if said.value is None:
        return Outcome(said.word, first, right)
    value, low, high = said.value
    off = abs(value - world.truth) > 3 * (high - low) / 2 / Z
    return Outcome(
        said.word, first, right, low <= world.truth <= high, off, said.estimator.partition("(")[0] in world.spared
    )


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    def __str__(self) -> str:
        return f"{100 * self.count / self.of:.0f} %" if self.of else ""

    @classmethod
    def that(cls, judged: Iterable[Any]) -> Share:
        kept = list(map(bool, judged))
        return cls(sum(kept), len(kept))


def most_frequent(outcomes: Iterable[Outcome]) -> str:
    """The code that is named first most often."""
    [(code, _)] = Counter(one.first for one in outcomes).most_common(1)
    return code
