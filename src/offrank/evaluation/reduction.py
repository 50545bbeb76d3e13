"""The one pass over a log that an evaluation makes: its folds, and what follows from their states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..checks.rows import Impressions, ImpressionsFold
from ..errors import EmptyLogError
from ..estimators.design import design_fold
from ..estimators.fold import TermsFold
from ..folds.base import Tee
from ..folds.group_by import by_column
from ..log.batch import RunCache
from ..log.source import Needs, Source
from .diagnostics import Diagnostics
from .plan import Plan, Reduced
from .refutation import judged_groups, judged_log
from .sums import inner_fold


@dataclass(frozen=True)
class Pass:
    """The pass of a plan over a log. fold: all that is counted; needed: the columns; cache: of batches."""

    plan: Plan
    fold: Tee
    needed: Needs
    diagnostics: Diagnostics
    cache: RunCache = field(default_factory=RunCache, compare=False, repr=False)

    @classmethod
    def of(cls, plan: Plan, source: Source) -> Pass:
        """The pass over a source, of which only the columns matter."""
        layout, cache = plan.layout, RunCache()
        by, grouped = (None, False) if plan.by is None else (by_column(plan.by), True)
        inner = inner_fold(plan.spec, layout, plan.products, grouped=grouped)
        terms = TermsFold(layout, plan.logging, inner, plan.spec.columns, by)
        needed = plan.needs() | plan.trained.needs(plan.parts())
        design, needed = design_fold(layout, plan.logging, source, needed, cache)
        log = plan.log_fold(source)
        needed |= log.needs()
        folds: dict[str, Any] = {"terms": terms, "impressions": ImpressionsFold(), "log": log, "design": design}
        diagnostics = Diagnostics.of(plan.targets, plan.logging, plan.estimators.values(), needed)
        folds |= {"ties": plan.ties, "rows": plan.trained.fold(plan.parts(), needed.scores), "behind": diagnostics.fold}
        return cls(plan, Tee(folds), needed, diagnostics, cache)

    def finish(self, state: dict[str, Any], where: str, bases: Mapping[int, int] | None = None) -> Reduced:
        """What follows from a state. where: the log in words. bases: first number of a file -> rows before it.

        Raises:
            EmptyLogError: the log has no impressions.
        """
        plan, found = self.plan, self.fold.finish(state)
        impressions: Impressions = found["impressions"]
        if not impressions.n:
            skipped = f"; {sum(impressions.skipped.values())} were skipped" if impressions.skipped else ""
            raise EmptyLogError(f"{where} has no impressions{skipped}", "give a log with some")
        whole, groups = found["terms"]["whole"], found["terms"].get("groups", {})
        ties = dict(zip(plan.ties.policies, found["ties"].tolist(), strict=True))
        trained = plan.trained.judged(plan.parts(), found["rows"])
        known = {"slots": impressions.slots, "ties": ties, "trained": trained}
        known["about_log"] = judged_log(
            found["log"], [plan.summary(whole, **known, designs=found["design"])], plan.totals
        )
        by_group = {name: plan.summary(part, **known) for name, part in groups.items()}
        diagnostics = replace(self.diagnostics, bases=bases or {})
        made = plan, whole, groups, known, found["design"], impressions, where, found["behind"], diagnostics
        return Reduced(*made, judged_groups(by_group, found["log"].copies))
