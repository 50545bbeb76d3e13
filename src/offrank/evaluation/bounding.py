"""The bounds that a question asks for: what the log tells is counted first, then both ends of each target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..bounds.cells import CellsFold
from ..bounds.click_model import AsModelled
from ..bounds.ends import Bounds, NamedBounds, Part
from ..bounds.fold import BoundsFold
from ..bounds.items import OwnItem
from ..bounds.knowledge import Knowledge
from ..bounds.slates import SlatesFold, WholeSlates
from ..errors import UsageError
from ..inference.spec import AUTO
from ..log.source import Needs, has
from ..policies.fit import fitted
from ..running.checkpoint import CheckpointFolder
from ..running.executors import Executor, run
from ..wording import Option, Wording
from .answer import answered, has_clicks
from .question import BoundsAsked, Question
from .result import Result


def answered_with_bounds(question: Question) -> Result:
    """Return the result of a question with the bounds of each target, under ever stronger assumptions.

    What cannot be bounded, or answered, is refused before the log is read for the other. It is read once more for each
    kind of knowledge.

    Raises:
        UsageError: no column of contexts, no range of rewards, or a curve that is shorter than the slates.
        AbilityError: a target whose law is not known. LogError: a log that bounds nothing.
    """
    source, known = question.source, question.bounded_by
    assert known is not None
    _context_of(question)
    of_clicks = has_clicks(source)
    if known.limits is None and not of_clicks:
        raise UsageError(
            "bounds of whole slates need the range of their rewards, and the log has no clicks",
            Wording("give the smallest and the largest possible reward: {}", Option("reward_range", [0, 1])),
        )
    for target in question.plan.targets.values():  # as the knowledge of slates, and of items at ranks, will ask
        if known.limits is not None:
            target.law("log_prob").reads("log_prob")
        if of_clicks:
            target.law("rank_probs").reads("rank_probs")
    return answered(question).with_bounds(*_bounds(question, known))


def _bounds(question: Question, known: BoundsAsked) -> tuple[NamedBounds, Mapping[str, NamedBounds]]:
    """Return the bounds by target, and the same by group."""
    source, context, executor = question.source, _context_of(question), question.executor
    executor = executor.executor if isinstance(executor, CheckpointFolder) else executor
    spec = replace(question.spec, cluster=context)
    knowledge = tuple(_knowledge(question, known, context, executor))
    every = {name: fitted(one, source, executor) for name, one in question.plan.targets.items()}
    against = question.plan.baseline
    baseline = every.pop(against, None) if against is not None else None
    fold = BoundsFold(knowledge, tuple(every.values()), spec, baseline, question.by)
    counted = run(source.select(fold.needs), fold, executor, question.progress)
    names, parts = [name for name in every for _ in knowledge], []
    for name, (number, _, found) in zip(names, fold.parts(), strict=True):
        draws, together = len(found.drawn), 1 if against is None else len(every)
        other = against or "logged"
        parts.append(Part(name, other, found.says, context, number, draws, found.limits, comparisons=together))

    def named(sums: Mapping[str, Any], group: str | None) -> NamedBounds:
        found = [Bounds.of(replace(part, group=group), spec.inference(fold.columns, sums)) for part in parts]
        return {name: tuple(one for one in found if one.part.target == name) for name in every}

    groups = counted.get("groups", {}).items()
    return named(counted["whole"], None), {group: named(sums, group) for group, sums in groups}


def _knowledge(question: Question, known: BoundsAsked, context: str, executor: Executor | None) -> Iterator[Knowledge]:
    """Yield what the log tells under each assumption, the weakest first."""
    source = question.source
    if (limits := known.limits) is not None:
        slates = SlatesFold(context, *limits)
        yield WholeSlates(run(source.select(slates.needs), slates, executor), limits)
    if not has_clicks(source):
        return
    items, curve = CellsFold(context), question.plan.trained.curve
    cells = run(source.select(items.needs), items, executor)
    yield OwnItem(cells)
    if curve is not None and len(curve) < cells.ranks:
        raise UsageError(
            f"the examination curve has {len(curve)} ranks, but the slates have {cells.ranks}",
            "give a value for each rank",
        )
    if curve is not None:
        yield OwnItem(cells, np.array(curve))
    if known.users is not None:
        yield AsModelled(known.users)


def _context_of(question: Question) -> str:
    asked = question.spec.cluster
    asked = "query" if asked == AUTO and has(question.source, Needs(clusters=frozenset(["query"]))) else asked
    if asked in (None, AUTO):
        remedy = Wording("name the column whose values repeat, such as the query: {}", Option("cluster", "COLUMN"))
        raise UsageError("bounds need contexts that repeat, and the log has no column for them", remedy)
    return str(asked)
