"""What is said of healthy and of broken logs, held against what is promised.

python -m benchmarks.trust worlds [--logs 100] [--rows 1000 5000 20000] [--only NAME] [--workers 2] [--kept FILE]
[--write]
python -m benchmarks.trust battery [--worlds 960] [--seed 1] [--only robots] [--workers 2] [--kept FILE] [--write]
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import offrank
from benchmarks._page import markdown_head, markdown_row, measured, restored, run
from benchmarks.trust_worlds.battery import FAULTS, NO_LOG_SHOWS, Trial, kinds, trial
from benchmarks.trust_worlds.world import CARE, NONE, SOUND, WORLDS, Outcome, Share, World, outcome, share
from offrank.findings.verdict import Verdict
from offrank.language.formatting import percent

BEFORE = Path(__file__).parent / "trust_worlds" / "before.json"
"""Seed and worlds -> promise -> of how many logs commit edab7ebd held it, and of how many it could."""
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
NOTED = {"shared-users"}
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
    def refused(self) -> bool:
        return not self.answered

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
    def misses_change(self) -> bool:
        return self.answered and self.holds_change is False

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

    @property
    def told(self) -> bool:
        return self.warned or self.named

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
    own = (one for name in result if str(name) == verdict.estimator for one in result[name].warnings)
    of_answer = [one.code for one in own if one.severity != "note"]
    return tuple(dict.fromkeys([*(one.code for one in verdict.reasons), *of_log, *of_answer]))


# The battery ----------------------------------------------------------------------------------------------------------


def promises(every: Sequence[Said]) -> dict[str, Share]:
    """What is promised of the battery, and what was found."""
    healthy, faulty = ([one for one in every if bool(one.fault) == fault] for fault in (False, True))
    sound = [one for one in healthy if one.sound]
    nulls = [one for one in healthy if one.null]
    differing = [one for one in healthy if not one.null]
    wrong = [one for one in faulty if one.wrong]
    tellable = [one for one in wrong if one.fault not in NO_LOG_SHOWS]
    return {
        "without a fault, *sound*: the value is held, at least 94.5 %": share(sound, "holds_value"),
        "the difference is held, at least 94.5 %": share(sound, "holds_difference"),
        "the relative change is held": share(sound, "holds_change"),
        "without a fault, any trust: the difference is held": share(
            [one for one in healthy if one.answered], "holds_difference"
        ),
        "without a fault, *sound*: the wrong sign, at most 0.5 %": share(differing, "astray", SOUND),
        "any trust: the wrong sign, at most 0.5 %": share(differing, "astray"),
        "rankers that earn the same are called different, *sound*, at most 5.5 %": share(nulls, "decided", SOUND),
        "the same at any trust, at most 5.5 %": share(nulls, "decided"),
        "without a fault: *sound*": share(healthy, "sound"),
        "without a fault, rankers that differ: decided, and rightly": share(differing, "right"),
        "without a fault: said to be wrong, at most 1 %": share(healthy, "warned"),
        "with a fault: numbers that are wrong": share(faulty, "wrong"),
        "of these: a finding, or a fitting assumption among the first three, at least 60 %": share(wrong, "told"),
        "the same, without faults that no log can show": share(tellable, "told"),
        "of these: a finding": share(tellable, "warned"),
        "of wrong numbers: *sound*": share(wrong, "sound"),
        "with a fault: the relative change is wrong": share([one for one in faulty if one.answered], "misses_change"),
    }


def by_fault(every: Sequence[Said]) -> Iterator[list[Any]]:
    """A line for each fault: what was found of all its logs, and of those of which a number is wrong."""
    for fault in FAULTS:
        logs = [one for one in every if one.fault == fault]
        wrong = [one for one in logs if one.wrong]
        asked = ((logs, "refused"), (logs, "warned"), (wrong, "wrong"), (wrong, "sound"), (wrong, "warned"),
                 (wrong, "named"), (logs, "misses_change"), (logs, "astray"))  # fmt: skip
        counts = [len(logs), *(share(some, what).count for some, what in asked)]
        codes = Counter(code for one in logs for code in one.codes if code not in UNSEEN)
        often = ", ".join(f"`{code}` {count}" for code, count in codes.most_common(3))
        if logs:
            yield [fault, *counts, often]


def by_kind(every: Sequence[Said]) -> Iterator[list[Any]]:
    """A line for each kind of healthy world."""
    healthy = [one for one in every if not one.fault]
    for kind in dict.fromkeys(one.kind for one in healthy):
        logs = [one for one in healthy if one.kind == kind]
        trusts = Counter(one.trust for one in logs)
        shares = [share(logs, "holds_value", SOUND), share(logs, "holds_difference", SOUND)]
        shares += [share([one for one in logs if not one.null], "right")]
        shares += [share([one for one in logs if one.null], "decided")]
        *held, equal = (f"{one.count} of {one.of}" if one.of else "" for one in shares)
        yield [
            kind,
            len(logs),
            *(trusts[one] for one in (SOUND, CARE, NONE)),
            *held,
            share(logs, "astray").count,
            equal,
        ]


# The worlds -----------------------------------------------------------------------------------------------------------

Found = Mapping[tuple[str, int], Sequence[Outcome]]
"""(world, rows) -> what was said of its logs."""


def by_world(found: Found, sizes: Sequence[int]) -> Iterator[list[Any]]:
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
    right = "cannot be known" if world.causes is None else str(share(known, "right"))
    first = most_frequent(known or every)
    return [
        f"`{first}`" if first else "",
        "" if world.healthy else right,
        *(str(share(every, what, SOUND)) for what in ("held", "off")),
        *(str(share(every, what, SOUND, CARE)) for what in ("decided", "astray")),
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
        "healthy logs: *sound*, where the log is long enough": share(long, "sound"),
        "the same: *none*, at most 2 %": share(long, "refused"),
        "healthy logs of any length: *none*": share(healthy, "refused"),
        "healthy logs: the interval of a *sound* holds the truth, at least 93 %": share(healthy, "held", SOUND),
        "healthy logs: the interval of a *with care* holds the truth": share(healthy, "held", CARE),
        "broken logs: *sound*": share(broken, "sound"),
        "broken logs: the error of a *sound* exceeds three standard errors, at most 2 %": share(broken, "off", SOUND),
        "the same, without the worlds in which no log can tell": share(knowable, "off", SOUND),
        "the same, where a log of that size can tell": share(telling, "off", SOUND),
        "healthy logs: a decision that is wrong": share(healthy, "astray", SOUND, CARE),
        "broken logs that can tell: a decision that is wrong": share(telling, "astray", SOUND, CARE),
        "broken logs that can tell: the right cause is named first, at least 80 %": share(
            (one for world in WORLDS.values() for one in _known(world, found)), "right"
        ),
    }


def _flat(found: Found) -> Iterator[tuple[World, int, Outcome]]:
    """Every log by itself, with its world and size."""
    yield from ((WORLDS[name], rows, one) for (name, rows), outcomes in found.items() for one in outcomes)


def most_frequent(outcomes: Iterable[Outcome]) -> str:
    """The code that is named first most often."""
    [(code, _)] = Counter(one.first for one in outcomes).most_common(1)
    return code


# The tables -----------------------------------------------------------------------------------------------------------


def outcomes(task: tuple[str, int, int]) -> list[Outcome]:
    """All logs of one world and size: its name, rows and logs."""
    name, rows, logs = task
    return [outcome(WORLDS[name], rows, seed) for seed in range(logs)]


def worlds(
    *,
    logs: int = 100,
    rows: tuple[int, ...] = (1000, 5000, 20000),
    only: str = "",
    workers: int = 2,
    kept: Path | None = None,
) -> Iterator[str]:
    """What is said of 18 healthy and 60 broken worlds, and whether that is right.

    For each world and size of the log: how often the trust is *sound*, *with care* and *none*, which finding is named
    first, and whether its interval holds the truth. Then the totals, held against what is promised.
    """
    tasks = [(name, size, logs) for name in WORLDS if only in name for size in rows]
    found: Found = {
        (name, size): [restored(Outcome, one) for one in every]
        for (name, size, _), every in measured(outcomes, tasks, workers, kept)
    }
    yield from (f"{logs} logs of each world and size.", "")
    yield from markdown_head("Promised", "Measured", "Logs")
    for promised, one in totals(found).items():
        yield markdown_row(promised, f"{100 * one.count / max(one.of, 1):.1f} %", f"{one.of:,}")
    yield ""
    sizes = [f"{size:,} rows" for size in rows]
    yield markdown_row("World", *sizes, "named first", "right", "holds", "off", "decides", "astray")
    yield "|---|" + "--:|" * len(sizes) + "---|--:|--:|--:|--:|--:|"
    yield from (markdown_row(*cells) for cells in by_world(found, rows))


def judged(task: tuple[int, int, int]) -> Said:
    """What is said of the log of a world: seed, how many worlds there are, number."""
    return said_of(trial(*task))


def battery(
    *, worlds: int = 960, seed: int = 1, only: str = "", workers: int = 2, kept: Path | None = None
) -> Iterator[str]:
    """Never sound and wrong: worlds that are drawn, half of them with a fault, held against what is promised.

    Of each world one log is asked about as anyone would, by the default estimators; of an experiment both arms are
    compared. The truth is a sum over slates, or is counted where it is none.
    """
    tasks = [(seed, worlds, number) for number, (kind, _) in enumerate(kinds(worlds)) if only in kind]
    now = [Said.of(said) for _, said in measured(judged, tasks, workers, kept)]
    before = json.loads(BEFORE.read_text()).get(f"{seed} {worlds}", {})
    yield from (f"{len(now)} worlds with a log each, {sum(bool(one.fault) for one in now)} of them with a fault.", "")
    yield from markdown_head("Promised", "before", "logs", "now", "logs")
    for promised, found in promises(now).items():
        yield markdown_row(promised, *_cells(Share(*before.get(promised, (0, 0)))), *_cells(found))
    yield ""
    head = ["fault", "logs", "no answer", "a finding", "wrong", "of these *sound*", "a finding", "the assumption named"]
    head += ["change wrong", "wrong sign", "most often said"]
    yield from _table(head, by_fault(now))
    yield from ("", f"No log shows: {'; '.join(NO_LOG_SHOWS)}.", "")
    head = ["without a fault", "logs", "sound", "with care", "none", "value held", "difference held", "decided rightly"]
    yield from _table([*head, "wrong sign", "equal, called different"], by_kind(now))
    alarms = Counter(code for one in now if not one.fault for code in one.codes)
    said = ", ".join(f"`{code}` {count}" for code, count in alarms.most_common())
    yield f"\nSaid of logs without a fault: {said or 'nothing'}."


def _table(head: Sequence[str], rows: Iterator[list[Any]]) -> Iterator[str]:
    yield from markdown_head(*head)
    yield from (markdown_row(*cells) for cells in rows)


def _cells(found: Share) -> tuple[object, object]:
    return (percent(found.count / found.of, 1), found.of) if found.of else ("", "")


COMMANDS = {worlds: "trust", battery: "battery"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
