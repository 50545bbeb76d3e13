"""Every estimator for every target, by each logging policy, of a log and of what the relations make of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

import offrank
from offrank.clicks import Fitted
from offrank.testing.metamorphic import Leaves, Relation, differences, flat_answer
from tests.metamorphic.logs import log
from tests.metamorphic.spellings import EXAMINATION, estimators, fitted
from tests.night import some

Pair = tuple[str, str]
"""(target, estimator); an empty target for what is said of the log, or of several estimators."""


COMPANY = frozenset({"disagreement", "clicks-not-reward"})
"""Findings that hold estimates against each other, or what they estimate."""


SAMPLED = "samples="
"""Estimators that draw slates are asked apart: what is said of the others must not follow from these draws."""
DRAWN = ("direct(", "weights(")
"""Estimators whose doubt is from draws of a click model: they are asked apart too, for a verdict may rest on it."""
ASKS_MODEL = ("direct(", "dr(")
LEARNT = 1e-6
"""Tolerance of what rests on a click model, which is learnt anew from each log, to its own tolerance."""


def kind_of(estimator: str) -> str:
    """What it draws by, which nothing that is said of others may follow from; empty where it draws nothing."""
    return SAMPLED if SAMPLED in estimator else DRAWN[0] if estimator.startswith(DRAWN) else ""


@dataclass(frozen=True)
class Changed:
    """A log that `read_log` takes, and the click models that are asked about it."""

    readable: Any
    models: Mapping[str, Fitted]


@cache
def changed(shape: str, relation: Relation | None = None) -> Changed:
    """The log of a shape, as a relation changes it."""
    here = log(shape)
    readable = here.table if relation is None else relation.change(here, np.random.default_rng(3))
    return Changed(readable, fitted(offrank.read_log(readable, columns={"clicks": "trained"})))


@dataclass(frozen=True)
class Asked:
    """All estimators for some targets, with the log of one shape read as if drawn by one policy.

    only: the estimators whose spelling has this in it. besides: those whose spelling has that in it are not asked.
    part: of how many parts of the estimators, and which of these is asked.
    """

    shape: str
    logging: str
    targets: tuple[str, ...]
    only: str = ""
    besides: str | None = None
    part: tuple[int, int] = (1, 0)

    @cached_property
    def alone(self) -> dict[str, Leaves]:
        """What each estimator answers when asked alone: for all targets that it does not refuse."""
        here = changed(self.shape)
        return {repr(one): self._answered(here, one, self.targets) for one in self._every(here)}

    def _answered(self, given: Changed, one: Any, targets: Sequence[str]) -> Leaves:
        """What an estimator answers for all targets at once, or for each half of them if it refuses any."""
        found = self._of(given, [one], targets)
        if "refused" not in found:
            return found
        half = len(targets) // 2
        return self._answered(given, one, targets[:half]) | self._answered(given, one, targets[half:]) if half else {}

    def parted(self) -> dict[Pair, str]:
        """The combinations that are answered otherwise in company; but for findings about the company."""
        together = {where.partition(": ")[2]: leaf for where, leaf in self.together.items()}
        alone = {where: leaf for found in self.alone.values() for where, leaf in found.items()}
        about = {where.partition(".warnings[")[0] for where, leaf in together.items() if leaf in COMPANY}
        rows = {where for where in alone if where.startswith("estimates[")}
        rows = {where for where in rows if where.partition(".warnings[")[0] not in about or ".warnings[" not in where}
        return self.by_pair(differences({w: alone[w] for w in rows}, {w: together.get(w, "nothing") for w in rows}))

    @cached_property
    def able(self) -> dict[str, tuple[str, ...]]:
        """The targets that each estimator does not refuse."""
        return {
            name: tuple(target for target in self.targets if f"estimates[{target}, {name}].value" in found)
            for name, found in self.alone.items()
        }

    @cached_property
    def refused(self) -> dict[Pair, Leaves]:
        """The combinations that are refused, each with its error."""
        return self._refused(changed(self.shape))

    @cached_property
    def together(self) -> Leaves:
        """What is answered when as many as possible are asked at once."""
        return self._together(changed(self.shape))

    def broken(self, relation: Relation) -> dict[Pair, str]:
        """The combinations whose answers are not as a relation says, each with one of the differences."""
        there = changed(self.shape, relation)
        before, after = self.together, self._together(there)
        if relation.expected is not None:
            before = relation.expected(before)
            after = {where: after[where] for where in before if where in after}
        found = self.by_pair(differences(before, after))
        learnt = self.by_pair(differences(before, after, LEARNT))
        found = {pair: what for pair, what in found.items() if pair in learnt or not pair[1].startswith(ASKS_MODEL)}
        for pair, why in self._refused(there).items():
            if differences(self.refused[pair], why):
                found[pair] = f"{self.refused[pair]}, then {why}"
        return found

    def by_pair(self, found: Mapping[str, tuple[Any, Any]]) -> dict[Pair, str]:
        """Differences by target and estimator."""
        names = {f"{target}, {name}": (target, name) for target in self.targets for name in self.able}
        by_pair: dict[Pair, str] = {}
        for where, (before, after) in found.items():
            row = next((row for row in names if f"[{row}]" in where), "")
            of_all = ("", next((kind for kind in (SAMPLED, *DRAWN) if where.startswith(kind)), ""))
            by_pair.setdefault(names.get(row, of_all), f"{where}: {before!r}, then {after!r}")
        return by_pair

    def _together(self, given: Changed) -> Leaves:
        groups: dict[tuple[str, tuple[str, ...]], list[Any]] = defaultdict(list)
        for one in self._every(given):
            groups[kind_of(repr(one)), self.able[repr(one)]].append(one)
        found: Leaves = {}
        for number, ((kind, targets), every) in enumerate(groups.items()):
            if targets:
                found |= {f"{kind}{number}: {where}": leaf for where, leaf in self._of(given, every, targets).items()}
        return found

    def _refused(self, given: Changed) -> dict[Pair, Leaves]:
        return {
            (target, repr(one)): dict(list(self._of(given, [one], [target]).items())[:3])
            for one in self._every(given)
            for target in self.targets
            if target not in self.able[repr(one)]
        }

    def _of(self, given: Changed, every: Sequence[Any], targets: Sequence[str]) -> Leaves:
        wanted = {target: target for target in targets}
        return flat_answer(
            lambda readable: offrank.evaluate(readable, wanted, self.logging, every, examination=EXAMINATION),
            given.readable,
        )

    def _every(self, given: Changed) -> list[Any]:
        every = [one for one in estimators(given.models) if self.only in repr(one)]
        every = [one for one in every if self.besides is None or self.besides not in repr(one)]
        return some(every, *self.part)
