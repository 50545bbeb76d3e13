"""Arms of an experiment: a column whose values tell which ranker served a row, their shares, what was randomised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..findings.evidence_rows import SharedUnitsEvidence
from ..log.batch import Floats, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs
from ..policies.by import By
from ..policies.ranking import Ranking
from ..policies.top import Top
from ..sums.base import MappedFold, Sample
from ..sums.group_by import GroupBy
from ..sums.moments import Moments, MomentsFold

_MANY = 30
"""Rows of a value at least that its ranker must explain where nothing else shows that nothing was drawn."""
UNITS = 4096
"""Users, visits or queries that are looked at, to see whether all rows of each have one arm."""
_OFTEN = 0.3
"""Share of the units that must have several rows; else nothing shows that the arm is theirs."""


@dataclass(frozen=True)
class Arms:
    """The values of a column, and what each means.

    policies: value -> the ranker that explains all of its rows. shares: value -> its share of the impressions.
    unit: the column all of whose rows have one arm, such as the user; empty if the arm differs from row to row. fewest:
    rows that a value has at least.
    """

    column: str
    policies: Mapping[str, str]
    shares: Mapping[str, float]
    unit: str = ""
    fewest: int = 0

    @property
    def clear(self) -> bool:
        """Whether there are several rankers, each of which explains many rows: that is no chance."""
        return len({*self.policies.values()}) > 1 and self.fewest >= _MANY


@dataclass(frozen=True)
class ArmsFold(MappedFold):
    """Counts, for each value of a column, the rows, and those that each of some sorting policies explains."""

    column: str
    policies: tuple[Top | Ranking, ...]

    def needs(self) -> Needs:
        """Return the columns to read."""
        wanted = Needs(frozenset(["candidates"]), labels=frozenset([self.column]))
        for one in self.policies:
            wanted |= one.needs("log_prob")
        return wanted

    @property
    def reducer(self) -> Any:
        return GroupBy(MomentsFold(len(self.policies) + 1))

    def mapped(self, batch: LogBatch) -> Sample:
        explains = [np.isfinite(one.log_prob(batch.contexts, batch.slates)) for one in self.policies]
        return Sample(np.column_stack([np.ones(len(batch)), *explains]), batch.row, groups=batch.labels[self.column])

    def result(self, found: dict[str, Moments]) -> Arms | None:
        """Return the policy that explains all rows of each value; None if one value has no such policy.

        Without policies it has the values and their shares alone.
        """
        told: dict[str, str] = {}
        for name, moments in found.items():
            rows, *explained = moments.sums.tolist()
            place = next((at for at, count in enumerate(explained) if count >= rows - 0.5), None)
            if not self.policies:
                continue
            if place is None:
                return None
            told[name] = repr(self.policies[place])
        rows = {name: float(moments.sums[0]) for name, moments in found.items()}
        shares = {name: count / sum(rows.values()) for name, count in rows.items()}
        return Arms(self.column, told, shares, fewest=int(min(rows.values(), default=0)))


@dataclass(frozen=True)
class UnitsSeen:
    """Units with the smallest hashes: hash [n], the least and the greatest code of their arms [n], and rows [n]."""

    hash: NDArray[np.uint64]
    least: NDArray[np.int64]
    greatest: NDArray[np.int64]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class UnitsFold:
    """Whether all rows of each user, visit or query have one value of a column. units: the columns of these."""

    column: str
    units: tuple[str, ...] = field(default=())

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.column, *self.units]))

    def empty(self) -> dict[str, UnitsSeen]:
        none = np.zeros(0, np.int64)
        return dict.fromkeys(self.units, UnitsSeen(none.view(np.uint64), none, none, none))

    def add(self, state: dict[str, UnitsSeen], batch: LogBatch) -> dict[str, UnitsSeen]:
        codes = batch.dependent((self.column, *self.units))
        arm, ones = codes[self.column].view(np.int64), np.ones(len(batch), np.int64)
        seen = {name: UnitsSeen(hashed(codes[name].view(np.uint64)), arm, arm, ones) for name in self.units}
        return self.merge(state, seen)

    def merge(self, left: dict[str, UnitsSeen], right: dict[str, UnitsSeen]) -> dict[str, UnitsSeen]:
        return {name: _joined(left[name], right[name]) for name in self.units}

    def finish(self, state: dict[str, UnitsSeen]) -> str:
        """Return the first column all of whose values have one arm, where most have several rows; else nothing."""
        return next((name for name in self.units if _constant(state[name])), "")


def _joined(left: UnitsSeen, right: UnitsSeen) -> UnitsSeen:
    keys = np.concatenate([left.hash, right.hash])
    unique, place = np.unique(keys, return_inverse=True)
    least, greatest = np.full(len(unique), np.iinfo(np.int64).max), np.full(len(unique), np.iinfo(np.int64).min)
    rows = np.zeros(len(unique), np.int64)
    np.minimum.at(least, place, np.concatenate([left.least, right.least]))
    np.maximum.at(greatest, place, np.concatenate([left.greatest, right.greatest]))
    np.add.at(rows, place, np.concatenate([left.rows, right.rows]))
    return UnitsSeen(unique[:UNITS], least[:UNITS], greatest[:UNITS], rows[:UNITS])


def _constant(seen: UnitsSeen) -> bool:
    several = seen.rows > 1
    return bool(several.mean() >= _OFTEN and (seen.least == seen.greatest)[several].all()) if len(several) else False


@dataclass(frozen=True)
class SharedUnitsFold:
    """Counts the rows of each arm, and looks at users with the smallest hashes: which have rows in several arms."""

    arms: By
    unit: str

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.unit])) | self.arms.reads

    def empty(self) -> tuple[UnitsSeen, Floats]:
        none = np.zeros(0, np.int64)
        return UnitsSeen(none.view(np.uint64), none, none, none), np.zeros(len(self.arms.policies))

    def add(self, state: tuple[UnitsSeen, Floats], batch: LogBatch) -> tuple[UnitsSeen, Floats]:
        arm, codes = self.arms.arms(batch.contexts), batch.dependent([self.unit])[self.unit]
        seen = UnitsSeen(hashed(codes), arm, arm, np.ones(len(batch), np.int64))
        return self.merge(state, (seen, np.bincount(arm, minlength=len(state[1])).astype(np.float64)))

    def merge(self, left: tuple[UnitsSeen, Floats], right: tuple[UnitsSeen, Floats]) -> tuple[UnitsSeen, Floats]:
        return _joined(left[0], right[0]), left[1] + right[1]

    def finish(self, state: tuple[UnitsSeen, Floats]) -> SharedUnitsEvidence:
        seen, rows = state
        several = seen.rows > 1
        if not several.any():
            return SharedUnitsEvidence(self.arms.column, self.unit)
        alone = ((rows / rows.sum()) ** seen.rows[several, None]).sum(axis=1)
        shared = float((seen.least < seen.greatest)[several].mean())
        return SharedUnitsEvidence(self.arms.column, self.unit, shared, float(1 - alone.mean()))


def rankers(scores: Sequence[str], rankings: Sequence[str]) -> tuple[Top | Ranking, ...]:
    """Return the sorting policies that may have served an arm."""
    lowest_first = (Top(name, ascending=True) for name in scores)
    return (*map(Top, scores), *map(Ranking, rankings), *lowest_first)
