"""What must not change an answer: the relations of the library, who reads the log, and what else is asked beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import offrank
from tests.metamorphic.changes import RELATIONS, Leaves, differences, files, flat_answer
from tests.metamorphic.combined import at_once
from tests.metamorphic.logs import log
from tests.metamorphic.spellings import estimators, fitted, folder
from tests.night import turn

CANDIDATES, NUMBERS, TEXT, ROWS, BATCHES, UNREAD = RELATIONS
FILES, THREADS = "rows in several files", "read by three threads"
GROUPS = ((CANDIDATES, NUMBERS, ROWS, BATCHES, UNREAD, THREADS), (CANDIDATES, TEXT, ROWS, FILES, UNREAD, THREADS))
"""If nothing differs after several at once, none of them is broken: each has all but for one kind of name and cut."""
SEEDS = 5
"""Orders, cuts and names are drawn anew for commits, by so many numbers."""
OF_COMPANY = frozenset({"disagreement", "clicks-not-reward"})
"""Findings that hold estimates against each other, or what they estimate."""
ROWS_OF = ("estimates[", "metrics[")
"""What is said of each of several things."""
REFUSED = (": refused", ": why")


@dataclass(frozen=True)
class Excuse:
    """Why relations need not hold; one of the parts that have this excuse breaks them, or it is not needed any more."""

    why: str
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """What `read_log` takes, and the estimators by spelling, with click models that are learnt from it."""

    readable: Any
    estimators: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """Something registered, and a question about the log of a shape that needs it.

    - ask: of what is given, and of `executor`, who reads it.
    - tolerance: of what is learnt anew from each log, to its own tolerance.
    - alone: what each of several things that `ask` asks at once answers by itself, which is then compared; or nothing.
    """

    name: str
    ask: Callable[..., Any]
    shape: str = "partial"
    excuses: tuple[Excuse, ...] = ()
    tolerance: float = 1e-9
    alone: Callable[[], Iterable[Leaves]] | None = None

    def kept(self, relations: tuple[str, ...]) -> tuple[str, ...]:
        """Those that must hold."""
        excused = {relation for excuse in self.excuses for relation in excuse.relations}
        return tuple(relation for relation in relations if relation not in excused)


@cache
def given(shape: str, relations: tuple[str, ...]) -> Given:
    """The log of a shape after relations."""
    here, rng = log(shape), np.random.default_rng(turn() % SEEDS)
    readable: Any = at_once(*(name for name in relations if name in RELATIONS)).change(here, rng)
    if FILES in relations:
        place = folder() / f"{shape} {', '.join(relations)}"
        place.mkdir()
        readable = files(place).change(replace(here, table=readable), rng)
    models = fitted(offrank.read_log(readable, columns={"clicks": "trained"}))
    return Given(readable, {repr(one): one for one in estimators(models)})


def of_readable(ask: Callable[..., Any]) -> Callable[..., Any]:
    """A question about the log alone."""
    return lambda of, **options: ask(of.readable, **options)


def answer(part: Part, relations: tuple[str, ...] = ()) -> Leaves:
    """What a part answers after relations; a refusal is an answer too."""
    of = given(part.shape, tuple(name for name in relations if name != THREADS))
    if THREADS not in relations:
        return flat_answer(lambda _: part.ask(of), None)
    with ThreadPoolExecutor(3) as threads:
        return flat_answer(lambda _: part.ask(of, executor=threads), None)


@cache
def _before(part: Part) -> Leaves:
    """What is answered of the log as it is: about all at once, or about each alone, of which its rows are compared."""
    if part.alone is None:
        return answer(part)
    found = {where: leaf for each in part.alone() for where, leaf in each.items()}
    return {where: leaf for where, leaf in found.items() if where.startswith(ROWS_OF) or where.endswith(REFUSED)}


def broken(part: Part, relations: tuple[str, ...]) -> list[str]:
    """Some of what is answered otherwise after relations than before."""
    before, after = _before(part), answer(part, relations)
    if part.alone is not None:
        about = {where.partition(".warnings[")[0] for where, leaf in after.items() if leaf in OF_COMPANY}
        kept = [where for where in before if where.partition(".warnings[")[0] not in about]
        before, after = ({where: side[where] for where in kept if where in side} for side in (before, after))
    found = differences(before, after, part.tolerance)
    return [f"{', '.join(relations)}: {where}: {one!r}, then {two!r}" for where, (one, two) in [*found.items()][:3]]
