"""What bounds are asked of: what the log tells is counted first, then both ends of each target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..inference.clusters_and_level import AUTO, IntervalSpec
from ..log.source import Needs, Source, has, has_clicks
from ..policies.base import Policy
from ..policies.fit import fitted
from ..running.checkpoint import CheckpointFolder
from ..running.executors import Executor, Progress, run
from ..wording import Option, Wording
from .cells import CellsFold
from .click_model import AsModelled
from .ends import Bounds, NamedBounds, Part
from .fold import BoundsFold
from .items import OwnItem
from .knowledge import Knowledge
from .slates import SlatesFold, WholeSlates


@dataclass(frozen=True)
class BoundsJob:
    """The bounds of targets by a log, under ever stronger assumptions.

    - baseline: the target, or `logged`, that all others are compared with; None if they are not.
    - by: the column of groups. curve: of examination by rank.
    - limits: the smallest and the largest reward of a slate. users: how they click.
    """

    source: Source
    targets: Mapping[str, Policy]
    spec: IntervalSpec
    baseline: str | None
    by: str | None
    limits: tuple[float, float] | None
    users: Fitted | None
    curve: Sequence[float] | None
    executor: Executor | None
    progress: Progress | None

    @cached_property
    def context(self) -> str:
        """The column whose equal values mark contexts that are alike.

        Raises:
            UsageError: there is none.
        """
        asked = self.spec.cluster
        asked = "query" if asked == AUTO and has(self.source, Needs(clusters=frozenset(["query"]))) else asked
        if asked in (None, AUTO):
            remedy = Wording("name the column whose values repeat, such as the query: {}", Option("cluster", "COLUMN"))
            raise UsageError("bounds need contexts that repeat, and the log has no column for them", remedy)
        return str(asked)

    def refuse_impossible(self) -> None:
        """Raise for what cannot be bounded, before the log is read.

        Raises:
            UsageError: no column of contexts, or no range of rewards. AbilityError: a target whose law is not known.
        """
        _ = self.context
        of_clicks = has_clicks(self.source)
        if self.limits is None and not of_clicks:
            raise UsageError(
                "bounds of whole slates need the range of their rewards, and the log has no clicks",
                Wording("give the smallest and the largest possible reward: {}", Option("reward_range", [0, 1])),
            )
        for target in self.targets.values():  # as the knowledge of slates, and of items at ranks, will ask
            if self.limits is not None:
                target.law("log_prob").reads("log_prob")
            if of_clicks:
                target.law("rank_probs").reads("rank_probs")

    def found(self) -> tuple[NamedBounds, Mapping[str, NamedBounds]]:
        """Return the bounds by target, and the same by group; the log is read once for each kind of knowledge.

        Raises:
            UsageError: a curve that is shorter than the slates. LogError: a log that bounds nothing.
        """
        executor = self.executor.executor if isinstance(self.executor, CheckpointFolder) else self.executor
        spec = replace(self.spec, cluster=self.context)
        knowledge = tuple(self._knowledge(executor))
        every = {name: fitted(one, self.source, executor) for name, one in self.targets.items()}
        against = self.baseline
        baseline = every.pop(against, None) if against is not None else None
        fold = BoundsFold(knowledge, tuple(every.values()), spec, baseline, self.by)
        counted = run(self.source.select(fold.needs()), fold, executor, self.progress)
        names, parts = [name for name in every for _ in knowledge], []
        for name, (number, _, found) in zip(names, fold.parts(), strict=True):
            draws, together = len(found.drawn), 1 if against is None else len(every)
            other = against or "logged"
            parts.append(Part(name, other, found.says, self.context, number, draws, found.limits, comparisons=together))

        def named(sums: Mapping[str, Any], group: str | None) -> NamedBounds:
            found = [Bounds.of(replace(part, group=group), spec.inference(fold.columns, sums)) for part in parts]
            return {name: tuple(one for one in found if one.part.target == name) for name in every}

        groups = counted.get("groups", {}).items()
        return named(counted["whole"], None), {group: named(sums, group) for group, sums in groups}

    def _knowledge(self, executor: Executor | None) -> Iterator[Knowledge]:
        """Yield what the log tells under each assumption, the weakest first."""
        source, curve = self.source, self.curve
        if self.limits is not None:
            slates = SlatesFold(self.context, *self.limits)
            yield WholeSlates(run(source.select(slates.needs()), slates, executor), self.limits)
        if not has_clicks(source):
            return
        items = CellsFold(self.context)
        cells = run(source.select(items.needs()), items, executor)
        yield OwnItem(cells)
        if curve is not None and len(curve) < cells.ranks:
            raise UsageError(
                f"the examination curve has {len(curve)} ranks, but the slates have {cells.ranks}",
                "give a value for each rank",
            )
        if curve is not None:
            yield OwnItem(cells, np.array(curve))
        if self.users is not None:
            yield AsModelled(self.users)
