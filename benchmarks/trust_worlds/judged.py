"""What is said of logs of the worlds and of the battery, held against the truth, as lines of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import offrank
from offrank.findings.verdict import Verdict

from .battery import FAULTS, NO_LOG_SHOWS, Trial
from .world import CARE, NONE, SOUND, WORLDS, Outcome, World

Numbers = tuple[float, float, float]
"""A value with the ends of its interval."""
NULL = 1e-9
"""Lifts smaller than this are none."""
FIRST = 3
"""So many of the assumptions are read."""
UNSEEN = frozenset({
    "assumed", "disagreement", "low-ess", "small-ess-share", "hidden-mass", "few-rewards", "rare-rewards",
    "few-clusters", "heavy-rewards", "large-weight", "heavy-tail", "no-overlap", "support", "known-error",
})  # fmt: skip
"""Codes that say how little the log knows of the question, not that something is wrong with it."""
NOTED = frozenset({"shared-users"})
"""Codes of notes that name a fault."""


@dataclass(frozen=True)
class Said:
    """One log: its world, the truths, and what was said.

    truth: what the target earns, and what the log does. codes: of what is warned of, in the log or of the answer.
    """

    number: int
    kind: str
    fault: str
    rows: int
    truth: tuple[float, float]
    compares: bool
    trust: str
    decision: str = "unknown"
    estimator: str = ""
    value: Numbers | None = None
    difference: Numbers | None = None
    relative: Numbers | None = None
    codes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def away(self) -> float:
        """By how much the target is better."""
        return self.truth[0] - self.truth[1]

    @property
    def null(self) -> bool:
        return abs(self.away) <= NULL * abs(self.truth[1])

    @property
    def answered(self) -> bool:
        return self.trust != NONE and self.difference is not None

    @property
    def sound(self) -> bool:
        return self.trust == SOUND

    @property
    def decided(self) -> bool:
        return self.decision in ("better", "worse")

    @property
    def astray(self) -> bool:
        """Whether the decision is the other one."""
        return not self.null and self.decided and (self.decision == "better") != (self.away > 0)

    @property
    def right(self) -> bool:
        """Whether the decision is that of the truth."""
        return not self.null and self.decided and not self.astray

    @property
    def holds_value(self) -> bool | None:
        return None if self.compares or self.value is None else _holds(self.value, self.truth[0])

    @property
    def holds_difference(self) -> bool | None:
        return None if self.difference is None else _holds(self.difference, self.away)

    @property
    def holds_change(self) -> bool | None:
        return None if self.relative is None else _holds(self.relative, self.away / self.truth[1])

    @property
    def wrong(self) -> bool:
        """Whether a number was given whose interval misses the truth."""
        return self.answered and (self.holds_value is False or self.holds_difference is False)

    @property
    def warned(self) -> bool:
        """Whether anything is said to be wrong with the log; not only that it knows little."""
        return bool(set(self.codes) - UNSEEN)

    @property
    def named(self) -> bool:
        """Whether one of the assumptions that are read is the one that fails."""
        return bool(self.fault and FAULTS[self.fault][1] & set(self.assumptions[:FIRST]))

    @classmethod
    def of(cls, said: Said | dict[str, Any]) -> Said:
        """What was kept as JSON, or was just said."""
        if isinstance(said, Said):
            return said
        return cls(**{name: tuple(one) if isinstance(one, list) else one for name, one in said.items()})


def _holds(numbers: Numbers, truth: float) -> bool:
    slack = NULL * abs(truth)
    return bool(numbers[1] - slack <= truth <= numbers[2] + slack)


def said_of(trial: Trial) -> Said:
    """Ask about one log."""
    table = trial.table()
    about = (trial.number, trial.kind, trial.fault, table.num_rows, trial.truths(table), trial.compares)
    try:
        result = trial.answer(table)
    except offrank.OffrankError as error:
        return Said(*about, trust=NONE, codes=(error.code,))
    verdict = next(iter(result.decisions.values())) if trial.compares else result.verdict
    numbers = {name: _numbers(getattr(verdict, name)) for name in ("value", "difference", "relative")}
    return Said(*about, trust=verdict.trust, decision=verdict.decision, estimator=str(verdict.estimator), **numbers,
                codes=_codes(result, verdict), assumptions=tuple(one.code for one in verdict.assumptions))  # fmt: skip


def _numbers(interval: offrank.Interval | None) -> Numbers | None:
    return None if interval is None else (interval.value, interval.low, interval.high)


def _codes(result: offrank.Result, verdict: Verdict) -> tuple[str, ...]:
    """Of the reasons, of what is said of the log, and of what is said of the answer."""
    of_log = [one.code for one in result.about_log if one.severity != "note" or one.code in NOTED]
    of_answer = [
        caution.code
        for name in result
        if str(name) == verdict.estimator
        for caution in result[name].warnings
        if caution.severity != "note"
    ]
    return tuple(dict.fromkeys([*(one.code for one in verdict.reasons), *of_log, *of_answer]))


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


# The battery ----------------------------------------------------------------------------------------------------------

Pick = Callable[[Said], bool | None]


def share(logs: Iterable[Said], pick: Pick) -> Share:
    """Of the logs of which it can be said."""
    return Share.that(found for one in logs if (found := pick(one)) is not None)


def promises(every: Sequence[Said]) -> dict[str, Share]:
    """What is promised of the battery, and what was found."""
    healthy = [one for one in every if not one.fault]
    sound = [one for one in healthy if one.sound]
    answered = [one for one in healthy if one.answered]
    differing = [one for one in healthy if not one.null]
    wrong = [one for one in every if one.fault and one.wrong]
    tellable = [one for one in wrong if one.fault not in NO_LOG_SHOWS]
    return {
        "without a fault, *sound*: the value is held, at least 94.5 %": share(sound, lambda one: one.holds_value),
        "the difference is held, at least 94.5 %": share(sound, lambda one: one.holds_difference),
        "the relative change is held": share(sound, lambda one: one.holds_change),
        "without a fault, any trust: the difference is held": share(answered, lambda one: one.holds_difference),
        "without a fault, *sound*: the wrong sign, at most 0.5 %": share(
            [one for one in sound if not one.null], lambda one: one.astray
        ),
        "any trust: the wrong sign, at most 0.5 %": share(differing, lambda one: one.astray),
        "rankers that earn the same are called different, *sound*, at most 5.5 %": share(
            [one for one in sound if one.null], lambda one: one.decided
        ),
        "the same at any trust, at most 5.5 %": share([one for one in healthy if one.null], lambda one: one.decided),
        "without a fault: *sound*": share(healthy, lambda one: one.sound),
        "without a fault, rankers that differ: decided, and rightly": share(differing, lambda one: one.right),
        "without a fault: said to be wrong, at most 1 %": share(healthy, lambda one: one.warned),
        "with a fault: numbers that are wrong": share([one for one in every if one.fault], lambda one: one.wrong),
        "of these: a finding, or a fitting assumption among the first three, at least 60 %": share(
            wrong, lambda one: one.warned or one.named
        ),
        "the same, without faults that no log can show": share(tellable, lambda one: one.warned or one.named),
        "of these: a finding": share(tellable, lambda one: one.warned),
        "of wrong numbers: *sound*": share(wrong, lambda one: one.sound),
        "with a fault: the relative change is wrong": share(
            [one for one in every if one.fault and one.answered], lambda one: one.holds_change is False
        ),
    }


def by_fault(every: Sequence[Said]) -> Iterator[list[str]]:
    """A line for each fault: what was found of all its logs, and of those of which a number is wrong."""
    for fault in FAULTS:
        logs = [one for one in every if one.fault == fault]
        wrong = [one for one in logs if one.wrong]
        counts = (
            len(logs),
            sum(not one.answered for one in logs),
            sum(one.warned for one in logs),
            len(wrong),
            sum(one.sound for one in wrong),
            sum(one.warned for one in wrong),
            sum(one.named for one in wrong),
            sum(one.answered and one.holds_change is False for one in logs),
            sum(one.astray for one in logs),
        )
        codes = Counter(code for one in logs for code in one.codes if code not in UNSEEN)
        often = ", ".join(f"`{code}` {count}" for code, count in codes.most_common(3))
        if logs:
            yield [fault, *map(str, counts), often]


def by_kind(every: Sequence[Said]) -> Iterator[list[str]]:
    """A line for each kind of healthy world."""
    healthy = [one for one in every if not one.fault]
    for kind in dict.fromkeys(one.kind for one in healthy):
        logs = [one for one in healthy if one.kind == kind]
        sound = [one for one in logs if one.sound]
        nulls = [one for one in logs if one.null]
        yield [
            kind,
            str(len(logs)),
            *(str(sum(one.trust == trust for one in logs)) for trust in (SOUND, CARE, NONE)),
            *(_of(sound, pick) for pick in (lambda one: one.holds_value, lambda one: one.holds_difference)),
            _of([one for one in logs if not one.null], lambda one: one.right),
            str(sum(one.astray for one in logs)),
            _of(nulls, lambda one: one.decided),
        ]


def _of(logs: Sequence[Said], pick: Pick) -> str:
    found = share(logs, pick)
    return f"{found.count} of {found.of}" if found.of else ""


def alarms(every: Sequence[Said]) -> Counter[str]:
    """What is said of healthy logs, by code."""
    return Counter(code for one in every if not one.fault for code in one.codes)


# The worlds -----------------------------------------------------------------------------------------------------------

Found = Mapping[tuple[str, int], Sequence[Outcome]]
"""(world, rows) -> what was said of its logs."""


def by_world(found: Found, sizes: Sequence[int]) -> Iterator[list[str]]:
    """A line for each world."""
    for name, world in WORLDS.items():
        by_size = [found.get((name, rows), ()) for rows in sizes]
        if any(by_size):
            yield [name, *map(words, by_size), *_judgement(world, found, sizes)]


def words(outcomes: Sequence[Outcome]) -> str:
    """How often the trust is sound, with care and none, in per cent."""
    counts = [Share.that(one.trust == word for one in outcomes) for word in (SOUND, CARE, NONE)]
    if not outcomes:
        return ""
    return " / ".join(f"{100 * count.count / count.of:.0f}" for count in counts)


def _judgement(world: World, found: Found, sizes: Sequence[int]) -> list[str]:
    """What is named first and whether that is right; how often the interval of a *sound* holds, and is far off."""
    every = [one for rows in sizes for one in found.get((world.name, rows), ())]
    known = list(_known(world, found))
    used = [one for one in every if one.trust == SOUND]
    answered = [one for one in every if one.trust != NONE]
    right = "cannot be known" if world.causes is None else str(Share.that(one.right for one in known))
    first = most_frequent(known or every)
    return [
        f"`{first}`" if first else "",
        "" if world.healthy else right,
        str(Share.that(one.held for one in used)),
        str(Share.that(one.off for one in used)),
        str(Share.that(one.decided for one in answered)),
        str(Share.that(one.astray for one in answered)),
    ]


def _known(world: World, found: Found) -> Iterator[Outcome]:
    """The logs of a broken world that ought to name a cause."""
    for other, rows, one in _flat(found):
        if other is world and world.causes and rows >= world.known_from and not one.spared:
            yield one


def totals(found: Found) -> dict[str, Share]:
    """What is promised of the worlds, and what was measured."""
    healthy = [one for world, _, one in _flat(found) if world.healthy]
    long = [one for world, rows, one in _flat(found) if world.healthy and rows >= world.known_from]
    broken = [one for world, _, one in _flat(found) if not world.healthy]
    knowable = [one for world, _, one in _flat(found) if world.causes]
    telling = [one for world, rows, one in _flat(found) if world.causes and rows >= world.known_from]
    return {
        "healthy logs: *sound*, where the log is long enough": Share.that(one.trust == SOUND for one in long),
        "the same: *none*, at most 2 %": Share.that(one.trust == NONE for one in long),
        "healthy logs of any length: *none*": Share.that(one.trust == NONE for one in healthy),
        "healthy logs: the interval of a *sound* holds the truth, at least 93 %": Share.that(
            one.held for one in healthy if one.trust == SOUND
        ),
        "healthy logs: the interval of a *with care* holds the truth": Share.that(
            one.held for one in healthy if one.trust == CARE
        ),
        "broken logs: *sound*": Share.that(one.trust == SOUND for one in broken),
        "broken logs: the error of a *sound* exceeds three standard errors, at most 2 %": Share.that(
            one.off for one in broken if one.trust == SOUND
        ),
        "the same, without the worlds in which no log can tell": Share.that(
            one.off for one in knowable if one.trust == SOUND
        ),
        "the same, where a log of that size can tell": Share.that(one.off for one in telling if one.trust == SOUND),
        "healthy logs: a decision that is wrong": Share.that(one.astray for one in healthy if one.trust != NONE),
        "broken logs that can tell: a decision that is wrong": Share.that(
            one.astray for one in telling if one.trust != NONE
        ),
        "broken logs that can tell: the right cause is named first, at least 80 %": Share.that(
            one.right for world in WORLDS.values() for one in _known(world, found)
        ),
    }


def _flat(found: Found) -> Iterator[tuple[World, int, Outcome]]:
    """Every log by itself, with its world and size."""
    yield from ((WORLDS[name], rows, one) for (name, rows), outcomes in found.items() for one in outcomes)


def most_frequent(outcomes: Iterable[Outcome]) -> str:
    """The code that is named first most often."""
    [(code, _)] = Counter(one.first for one in outcomes).most_common(1)
    return code
