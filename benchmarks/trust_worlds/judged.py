"""What is said of the logs of the battery, held against the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import offrank
from offrank.findings.verdict import Verdict

from .battery import FAULTS, FITTING, NO_LOG_SHOWS
from .drawing import Trial
from .measure import CARE, NONE, SOUND, Share

Numbers = tuple[float, float, float]
"""A value with the ends of its interval."""
NULL = 1e-9
"""Lifts smaller than this are none."""
FIRST = 3
"""So many of the assumptions are read."""
UNSEEN = frozenset(
    {
        "assumed",
        "disagreement",
        "low-ess",
        "small-ess-share",
        "hidden-mass",
        "few-rewards",
        "rare-rewards",
        "few-clusters",
    }
    | {"heavy-rewards", "large-weight", "heavy-tail", "no-overlap", "support", "known-error"}
)
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
    seconds: float = 0.0

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
    def cautious(self) -> bool:
        """Whether any warning is given."""
        return bool(self.codes) or self.trust == CARE

    @property
    def named(self) -> bool:
        """Whether one of the assumptions that are read is the one that fails."""
        return bool(FITTING.get(self.fault, frozenset()) & set(self.assumptions[:FIRST]))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, said: dict[str, Any]) -> Said:
        """What `to_dict` made, read from JSON."""
        return cls(**{name: tuple(one) if isinstance(one, list) else one for name, one in said.items()})


def _holds(numbers: Numbers, truth: float) -> bool:
    slack = NULL * abs(truth)
    return bool(numbers[1] - slack <= truth <= numbers[2] + slack)


def said_of(trial: Trial) -> Said:
    """Ask about one log."""
    table = trial.table()
    about = (trial.number, trial.kind, trial.fault, table.num_rows, trial.truths(table), trial.compares)
    began = time.process_time()
    try:
        result = trial.answer(table)
    except offrank.OffrankError as error:
        return Said(*about, trust=NONE, codes=(error.code,), seconds=time.process_time() - began)
    verdict = next(iter(result.decisions.values())) if trial.compares else result.verdict
    numbers = {name: _numbers(getattr(verdict, name)) for name in ("value", "difference", "relative")}
    return Said(*about, trust=verdict.trust, decision=verdict.decision, estimator=str(verdict.estimator), **numbers,
                codes=_codes(result, verdict), assumptions=tuple(one.code for one in verdict.assumptions),
                seconds=time.process_time() - began)  # fmt: skip


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


# What is promised -----------------------------------------------------------------------------------------------------

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


def note(one: Said) -> str:
    """One log in a line, for whoever looks for what went wrong."""
    pairs = {"value": (None if one.compares else one.value, one.truth[0]), "difference": (one.difference, one.away)}
    numbers = "; ".join(_told(name, *pair) for name, pair in pairs.items())
    said = f"{one.decision}, {one.trust}, by {one.estimator}; {numbers}; {', '.join(one.codes)}"
    return f"{one.number} {one.kind}, {one.rows} rows: {said}"


def _told(name: str, found: Numbers | None, truth: float) -> str:
    if found is None:
        return f"no {name}"
    missed = "" if _holds(found, truth) else " MISSED"
    return f"{name} {found[0]:.4g} ({found[1]:.4g} to {found[2]:.4g}), truth {truth:.4g}{missed}"
