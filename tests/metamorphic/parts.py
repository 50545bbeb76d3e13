"""Every registered estimator, policy, interval and reward model, and what each is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import offrank
from offrank.inference.registry import INTERVALS
from offrank.reward_models.registry import REWARD_MODELS
from tests.metamorphic.changes import Leaves, flat_answer
from tests.metamorphic.relations import CANDIDATES, NUMBERS, ROWS, TEXT, Excuse, Given, Part, given, of_readable
from tests.metamorphic.spellings import EXAMINATION, SOME_POLICIES, estimator_names, policies, written_out
from tests.night import WHOLE, some, turn

MUCH = "plackett_luce(old)"
"""All targets are asked for by this logging policy, one by each of the others, in turn."""
FEW = 15
"""Of so many estimators one is asked about each target and each logging policy."""
LEARNT = 1e-6
"""Tolerance of what rests on a click model, which is learnt anew from each log, to its own tolerance."""
SAMPLED = Excuse("slates are drawn from the candidates as written", (CANDIDATES, NUMBERS, TEXT))
DRAWN = Excuse("the doubt is of draws of documents, which are numbered by the names of items", (NUMBERS, TEXT))
UNLISTED = ("distinct", "filtered")
"""Policies whose slates are drawn where a prediction needs whole ones."""
BY_ROW = Excuse("what is drawn follows from the number of a row", (ROWS,))


@dataclass(frozen=True)
class Situation:
    """A target, for which estimators are asked by a logging policy."""

    target: str
    logging: str
    shape: str = "partial"

    def asked(self, verb: Any, of: Given, names: Sequence[str], *, another: bool = False, **options: Any) -> Leaves:
        """The answer about estimators; with another target, if so said."""
        targets = {"another": written_out(SOME_POLICIES[0])} if another else {}
        targets[self.target] = written_out(self.target)
        estimators, logging = [of.estimators[name] for name in names], written_out(self.logging)
        return flat_answer(
            lambda log: verb(log, targets, logging, estimators, examination=EXAMINATION, **options), of.readable
        )


@cache
def alone(situation: Situation, verb: Any, name: str) -> Leaves:
    """What an estimator answers, of the log as it is and by itself; its name stands before a refusal."""
    found = situation.asked(verb, given(situation.shape, ()), [name])
    return {f"{name}: {where}": leaf for where, leaf in found.items()} if "refused" in found else found


def beside(situation: Situation, verb: Any, names: Sequence[str], of: Given, **options: Any) -> Leaves:
    """What estimators answer when all that are not refused are asked at once."""
    able = [name for name in names if f"{name}: refused" not in alone(situation, verb, name)]
    found = situation.asked(verb, of, able[::-1], another=True, **options) if able else {}
    for name in {*names} - {*able}:
        refusal = situation.asked(verb, of, [name], **options)
        found |= {f"{name}: {where}": leaf for where, leaf in refusal.items()}
    return found


def situations() -> list[Situation]:
    """Each target by one policy, and each logging policy with one of few targets; and logs of other shapes."""
    found = [Situation(target, MUCH) for target in policies()]
    found += [Situation(SOME_POLICIES[n % 3], logging) for n, logging in enumerate(policies()) if logging != MUCH]
    found += [Situation(target, "logged", "full") for target in (*SOME_POLICIES, "logged", "epsilon(logged, 0.2)")]
    return found + [Situation(target, MUCH, "slates") for target in SOME_POLICIES]


def drawing(name: str, target: str) -> tuple[tuple[Excuse, ...], float]:
    """What an estimator draws, and by what; and the tolerance of its answers."""
    if "samples=" in name:
        return (SAMPLED,), 1e-9
    if name == "direct(cascade)" and any(policy in target for policy in UNLISTED):
        return (SAMPLED, BY_ROW), LEARNT
    return (DRAWN,) if name.startswith(("direct(", "weights(")) else (), LEARNT if name[0] == "d" else 1e-9


def parts_of(verb: Any, place: int, situation: Situation, few: int) -> Iterator[tuple[Part, Part]]:
    """Some estimators in a situation: against each alone, and against all of them at once."""
    names = some(estimator_names(), few, place)
    kinds = {name: drawing(name, situation.target) for name in names}
    for excuses, tolerance in dict.fromkeys(kinds.values()):
        here = tuple(name for name in names if kinds[name] == (excuses, tolerance))
        title = f"{verb.__name__} {', '.join(here)} for {situation.target} by {situation.logging}, {situation.shape}"
        whole = Part(title, partial(beside, situation, verb, here), situation.shape, excuses, tolerance)
        each = partial(map, partial(alone, situation, verb), here)
        yield replace(whole, name=f"{title}, alone", alone=each), whole


def estimates() -> Iterator[Part]:
    """The numbers of estimators in every situation."""
    for place, situation in enumerate(situations()):
        yield from (part for part, _ in parts_of(offrank.estimate, place, situation, FEW))


def evaluations() -> Iterator[Part]:
    """All words and numbers, in some of the situations: also at night, when there are more of them."""
    parts = 5 if WHOLE else 15
    for place, situation in [*enumerate(situations())][turn() % parts :: parts]:
        for both in parts_of(offrank.evaluate, place, situation, 11):
            yield from both


def intervals() -> Iterator[Part]:
    """Every kind of interval, of the whole and of groups."""
    names = ["snips", "snipm", "controlled(ips)"]
    for kind in INTERVALS:
        ask = partial(offrank.estimate, target=SOME_POLICIES[0], logging=MUCH, estimators=names, by="device")
        ask = partial(ask, interval=kind, replicates=20)
        yield Part(f"interval {kind}", of_readable(ask))


def reward_models() -> Iterator[Part]:
    """Every model that estimators learn, and what rests on it."""
    for name in REWARD_MODELS:
        ask = partial(offrank.estimate, target="top(new)", logging=MUCH, estimators=[f"direct({name})", f"dr({name})"])
        yield Part(f"reward model {name}", of_readable(ask), tolerance=LEARNT)


def drawn() -> Iterator[Part]:
    """Slates so long that some are drawn: by the number of the row."""
    for target in some(SOME_POLICIES[1:], 3):
        ask = partial(beside, Situation(target, "uniform", "long"), offrank.estimate, ["direct(cascade)"])
        yield Part(f"estimate with slates drawn from {target}", ask, "long", (BY_ROW, SAMPLED), LEARNT)
