"""Arms of an experiment: a column whose values tell which ranker served a row, their shares, what was randomised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..findings.arms import SharedUnitsEvidence
from ..log.batch import Integers, LogBatch, Naturals
from ..log.hashing import hashed
from ..log.source import Needs
from ..policies.by import By
from ..policies.ranking import Ranking
from ..policies.top import Top
from ..sums.base import Fold, Sample
from ..sums.group_by import GroupBy, Groups
from ..sums.moments import Moments, MomentsFold
from ..sums.sampled import Sketch, sketch

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


_BY_VALUE = GroupBy(MomentsFold())


@dataclass(frozen=True)
class ArmsFold(Fold):
    """Counts, for each value of a column, the rows, and those that each of some sorting policies explains."""

    column: str
    policies: tuple[Top | Ranking, ...]

    def needs(self) -> Needs:
        """Return the columns to read."""
        wanted = Needs(frozenset(["candidates"]), labels=frozenset([self.column]))
        for one in self.policies:
            wanted |= one.reads("log_prob")
        return wanted

    def of(self, batch: LogBatch) -> Groups:
        explains = [np.isfinite(one.log_prob(batch.contexts, batch.slates)) for one in self.policies]
        rows = np.column_stack([np.ones(len(batch)), *explains])
        return _BY_VALUE.of(Sample.of(rows, batch.row, groups=batch.labels[self.column]))

    def result(self, part: Groups) -> Arms | None:
        """Return the policy that explains all rows of each value; None if one value has no such policy.

        Without policies it has the values and their shares alone.
        """
        found: dict[str, Moments] = _BY_VALUE.result(part)
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


def _units(codes: Naturals, arm: Integers) -> Sketch:
    """Return the number of rows of each unit, with the least and the greatest of their arms, by the units' codes."""
    return sketch(UNITS, hashed(codes), np.ones((len(arm), 1), np.int64), arm[:, None], arm[:, None])


@dataclass(frozen=True)
class UnitsFold(Fold):
    """Whether all rows of each user, visit or query have one value of a column. units: the columns of these."""

    column: str
    units: tuple[str, ...] = field(default=())

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.column, *self.units]))

    def of(self, batch: LogBatch) -> dict[str, Sketch]:
        codes = batch.dependent((self.column, *self.units))
        arm = codes[self.column].view(np.int64)
        return {name: _units(codes[name].view(np.uint64), arm) for name in self.units}

    def result(self, state: dict[str, Sketch]) -> str:
        """Return the first column all of whose values have one arm, where most have several rows; else nothing."""
        return next((name for name in self.units if _constant(state[name])), "")


def _constant(seen: Sketch) -> bool:
    several = seen.sums[:, 0] > 1
    return bool(several.mean() >= _OFTEN and (seen.least == seen.greatest)[several].all()) if len(several) else False


@dataclass(frozen=True)
class SharedUnitsFold(Fold):
    """Counts the rows of each arm, and looks at users with the smallest hashes: which have rows in several arms."""

    arms: By
    unit: str

    def needs(self) -> Needs:
        """Return the columns to read."""
        return Needs(clusters=frozenset([self.unit])) | self.arms.column_read

    def of(self, batch: LogBatch) -> dict[str, Any]:
        arm, codes = self.arms.arms(batch.contexts), batch.dependent([self.unit])[self.unit]
        rows = np.bincount(arm, minlength=len(self.arms.policies)).astype(np.float64)
        return {"seen": _units(codes, arm), "rows": rows}

    def result(self, state: dict[str, Any]) -> SharedUnitsEvidence:
        seen, rows = state["seen"], state["rows"]
        several = seen.sums[:, 0] > 1
        if not several.any():
            return SharedUnitsEvidence(self.arms.column, self.unit)
        alone = ((rows / rows.sum()) ** seen.sums[several]).sum(axis=1)
        shared = float((seen.least < seen.greatest)[several].mean())
        return SharedUnitsEvidence(self.arms.column, self.unit, shared, float(1 - alone.mean()))


def rankers(scores: Sequence[str], rankings: Sequence[str]) -> tuple[Top | Ranking, ...]:
    """Return the sorting policies that may have served an arm."""
    lowest_first = (Top(name, ascending=True) for name in scores)
    return (*map(Top, scores), *map(Ranking, rankings), *lowest_first)
