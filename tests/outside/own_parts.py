"""Parts of a user's own, as in a module outside the package: nothing in offrank knows their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

import offrank
from offrank.estimators import ESTIMATORS, EstimatorKind, Reference, Weighted, Weights
from offrank.findings import Statement, finding
from offrank.findings.row import Row
from offrank.inference import interval
from offrank.inference.registry import Sampling
from offrank.language.assumptions import ITEM_POSITION, assumption
from offrank.language.spelling import Spelled
from offrank.log.batch import Contexts, Floats, Integers, LogBatch
from offrank.log.source import Needs
from offrank.policies import POLICIES, Policy, Propensities
from offrank.policies.mixture import UniformMixture
from offrank.readers import READERS, Reader
from offrank.readers.wide import Invalid, WideLog
from offrank.sums import Mean
from offrank.sums.estimate import Interval
from offrank.sums.mean import Name


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class Mine(Reference):
    """The item-position model once more: target over logging probability of each item at its rank."""

    name: ClassVar[str] = "mine"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        logging="rank_law",
        target="rank_law",
        assumes=ITEM_POSITION,
        weighs="items",
        each_slot=True,
        follows="ratios",
    )

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        wanted, drawn = (
            np.diagonal(one.rank_law.written_out(batch.contexts.length), axis1=1, axis2=2) for one in (target, logging)
        )
        there = np.arange(wanted.shape[1]) < batch.contexts.length[:, None]
        impossible = there & (drawn <= 0)
        weight = np.divide(wanted, drawn, out=np.zeros(wanted.shape), where=there & (drawn > 0))
        return Weights(weight, weight, impossible)


TOP = assumption("top item", "a slate earns what its top item earns")


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class TopItem(Weighted):
    """The first slot alone: what a slate earns follows from it."""

    name: ClassVar[str] = "top_item"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        outcome="reward", logging="slot_probs", target="slot_probs", assumes=TOP
    )

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        weight = target.slot_probs[:, 0] / logging.slot_probs[:, 0]
        return Weights(weight, weight)


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Alike(Spelled, Policy):
    """Uniform slates once more: every item that is left has the same chance, and nothing else is known of it."""

    name: ClassVar[str] = "alike"

    def reads(self, ability: Any) -> Needs:
        return Needs(frozenset(["candidates"])) if ability in ("log_prob", "slot_probs") else self.refuse(ability)

    def slot_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        left = contexts.size[:, None] - np.arange(slates.shape[1])
        return np.where(slates >= 0, 1 / np.maximum(left, 1), 1.0)


def odds(clicked: Name, rows: Name) -> Mean:
    """A mean of one's own: the rows with a click over those without."""
    return Mean(lambda s: s[clicked] / (s[rows] - s[clicked]), (clicked, rows), (rows,))


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Half(Spelled, UniformMixture):
    """A uniform slate every other time."""

    name: ClassVar[str] = "half"
    base: Policy

    def uniform_share(self, contexts: Contexts) -> Floats:
        """[n] probability of the uniform slate."""
        return np.full(len(contexts), 0.5)


@interval("twice")
def twice(of: Sampling) -> Interval:
    """An interval that is twice as wide as the normal one."""
    half = 2 * of.quantile * of.error
    return of.interval(of.value - half, of.value + half)


@finding("own-finding", "A finding of one's own", lambda found: found.estimate.n == 1201, cause="tail")
def own_finding(found: Row) -> Statement:
    """It looks for logs of 1201 rows."""
    return Statement("warning", f"The log has {found.estimate.n} rows.", "Log one more.")


@READERS.register
@Reader
def own_format(path: str | Path, *, separator: str = ";", invalid: Invalid = "raise") -> WideLog:
    """Read lines of old scores, new scores, the slate and its clicks, with commas between numbers."""
    columns: dict[str, list[Any]] = {name: [] for name in ("old_score", "new_score", "slate", "clicks")}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        for name, part in zip(columns, line.split(separator), strict=True):
            columns[name].append([float(number) for number in part.split(",")])
    columns["slate"] = [[int(item) for item in slate] for slate in columns["slate"]]
    columns["candidates"] = [list(range(len(scores))) for scores in columns["old_score"]]
    found = offrank.read_log(pa.table(columns), invalid=invalid)
    assert isinstance(found, WideLog)
    return found
