"""What is said of a log, held against what ought to be said."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import offrank

from .world import World

SOUND, CARE, NONE = "sound", "with care", "none"
Z = 1.959964
SEVERITIES = ("note", "warning", "serious")


@dataclass(frozen=True)
class Statement:
    """A verdict: its trust, codes of findings in order, the value with its interval (if given), whose it is.

    decision: better, worse, ...; logged: the interval of what the log earned, which it was compared with.
    """

    trust: str
    codes: tuple[str, ...]
    value: tuple[float, float, float] | None = None
    estimator: str = ""
    decision: str = "unknown"
    logged: tuple[float, float] = (-math.inf, math.inf)

    def astray(self, truth: float) -> bool:
        """Whether the decision is wrong: better than the log, and the truth lies below its interval; or above."""
        return (self.decision == "better" and truth < self.logged[0]) or (
            self.decision == "worse" and truth > self.logged[1]
        )


@dataclass(frozen=True)
class Outcome:
    """What was said of one log.

    held: the interval holds the truth; off: the error exceeds three standard errors; spared: the answer is from an
    estimator that the fault of the world does not harm; decided, astray: better or worse, and it is the other one.
    """

    trust: str
    first: str
    right: bool
    held: bool | None = None
    off: bool | None = None
    spared: bool = False
    decided: bool = False
    astray: bool = False


def said_of(world: World, rows: int, seed: int) -> Statement:
    """The verdict on one log; what is refused is not used."""
    try:
        return verdict_of(world.answer(world.table(rows, seed)))
    except offrank.OffrankError as error:
        return Statement(NONE, (error.code,))


def verdict_of(result: offrank.Result) -> Statement:
    """The verdict of a result: its reasons come first, then the findings of which the verdict says nothing."""
    worst_first = sorted(result.findings, key=lambda one: -SEVERITIES.index(one.severity))
    codes = tuple(dict.fromkeys(one.code for one in worst_first))
    found = result.verdict
    codes = tuple(reason.code for reason in found.reasons) or codes
    if found.value is None:
        return Statement(found.trust, codes)
    value = found.value.value, found.value.low, found.value.high
    logged = (-math.inf, math.inf) if found.logged is None else (found.logged.low, found.logged.high)
    return Statement(found.trust, codes, value, str(found.estimator), found.decision, logged)


def outcome(world: World, rows: int, seed: int) -> Outcome:
    """One log of a world, judged."""
    said = said_of(world, rows, seed)
    first = next(iter(said.codes), "")
    right = first in (world.causes or ())
    if said.value is None:
        return Outcome(said.trust, first, right)
    value, low, high = said.value
    off = abs(value - world.truth) > 3 * (high - low) / 2 / Z
    return Outcome(
        said.trust,
        first,
        right,
        low <= world.truth <= high,
        off,
        said.estimator.partition("(")[0] in world.spared,
        said.decision in ("better", "worse"),
        said.astray(world.truth),
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
