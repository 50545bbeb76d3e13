"""The counts of a whole log and of its groups, and the result that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks.log_problems import log_evidence
from ..checks.rows import Impressions
from ..errors import SupportError, UsageError
from ..findings.release import Release
from ..findings.row import Row
from ..findings.verdict import Verdict, verdict
from ..readers.log import period_of
from ..running import reproducibility
from ..running.quantities import Quantities
from ..sums.base import total
from ..sums.estimate import Interval
from .ab_test import ABTest, arms, of_control, of_shares, pair_of
from .candidates import Rows, beside_log, requested
from .counts import Counts
from .diagnostics import Diagnostics, window_path
from .differences import Difference, Pair
from .estimates import Estimates
from .log_pass import Pass, requested_estimates
from .metadata import JudgedOf, LogRead, ResultMetadata
from .pages.document import are_days
from .provenance import facts_of, facts_of_log
from .refutation import judged_group, judged_log
from .release_rule import released
from .result import Result, Side

if TYPE_CHECKING:
    from ..checks.credit import Credit
    from ..estimators.outcomes import Outcome

MOST_STEPS = 14
"""The most days up to which estimates are made of all rows before."""


@dataclass(frozen=True)
class LogCounts:
    """The counts of a log: they give all numbers at any level, and the difference of any two targets.

    job: the pass that counted them. whole, groups: results of the folds. known, designs: as in `Counts`.
    where: the log in words. copies: a lower bound of the share of rows that are copies of others. credit: of merged
    rankings. outcomes: of the same
    rows, for each outcome beside the reward.
    """

    job: Pass
    whole: Any
    groups: Mapping[str, Any]
    known: Mapping[str, Any]
    designs: Any
    impressions: Impressions
    where: str
    diagnosed: Mapping[str, Any]
    diagnostics: Diagnostics | None
    copies: float
    credit: Credit | None = None
    days: Mapping[str, str] | None = None
    outcomes: Mapping[str, LogCounts] = field(default_factory=dict)

    @classmethod
    def of(
        cls, job: Pass, asked: Quantities, state: dict[str, Any], where: str, bases: Mapping[int, int] | None = None
    ) -> LogCounts:
        """Return what follows from a state of the quantities of a pass.

        where: the log in words. bases: first number of a file -> rows before it.

        Raises:
            EmptyLogError: the log has no impressions.
        """
        found = asked.finish(state)
        impressions: Impressions = found["impressions"]
        if not impressions.n:
            impressions.refuse_none(where)
        whole, groups = found["terms"]["whole"], found["terms"]["groups"].by_name if job.by else {}
        parts = *job.targets.values(), *job.members
        trained, log = job.trained.judged(parts, found), log_evidence(found, asked, job.checked_logging)
        known = {"slots": impressions.slots, "ties": found["ties"], "trained": trained}
        dated = period_of(asked.source) or {"first": "", "last": ""}
        days = (bool(groups) and are_days(groups)) or len(bases or ()) > 1 or dated["first"] != dated["last"]
        counted = job.counts(whole, **known, designs=found["design"])
        facts = facts_of_log(impressions, job.tested(log), job.spec.columns, days)
        known["facts"] = replace(facts, rewards=not counted.rewards_are_clicks)
        about_log = judged_log(log, [counted], job.totals)
        if job.layout.arms is not None:
            about_log = (*of_shares(counted, job.logging.designed_shares), *of_control(counted), *about_log)
        known["about_log"] = about_log
        diagnostics = Diagnostics.of(job.targets, job.logging, job.estimators.values(), asked.needs)
        diagnostics = replace(diagnostics, bases=bases or {})
        diagnosed = {one.name: found[one.name] for one in diagnostics.quantities()}
        made = whole, groups, known, found["design"], impressions, where, diagnosed, diagnostics
        counts = cls(job, *made, log.copies, found.get("credit"), found.get("days"))
        if job.scorecard is None:
            return counts
        outcomes = {one.name: counts._for(one, found[one.sums]) for one in job.scorecard.outcomes}
        return replace(counts, outcomes=outcomes)

    def _for(self, outcome: Outcome, terms: Any) -> LogCounts:
        """Return the counts of the same rows for an outcome beside the reward. terms: the result of its fold."""
        job, designs = self.job.for_outcome(outcome), self.designs
        if designs:
            places = self.job.layout.places
            designs = tuple(designs[places[pair.target, pair.estimator].number] for pair in job.layout.pairs)
        known = {**self.known, "facts": replace(self.known["facts"], rewards=not outcome.of_items)}
        groups = terms["groups"].by_name if job.by else {}
        return LogCounts(
            job, terms["whole"], groups, known, designs, self.impressions, self.where, {}, None, self.copies
        )

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}  # derived values are recomputed

    @cached_property
    def summary(self) -> Counts:
        """Return the summary of the whole log."""
        return self.job.counts(self.whole, **self.known, designs=self.designs)

    @cached_property
    def rows(self) -> dict[str, Rows]:
        """Return what the estimators say of each target, beside the log."""
        return self._beside_log(self.summary, self.job.rows(self.summary))

    def _beside_log(self, summary: Counts, rows: Mapping[str, Rows]) -> dict[str, Rows]:
        targets = self.job.targets
        return {
            name: {key: beside_log(summary, targets[name], row) for key, row in some.items()}
            for name, some in rows.items()
        }

    def _pair(self, summary: Counts, rows: Mapping[str, Rows], target: str, against: str) -> Pair:
        one, other = ((self.job.targets[name], rows[name]) if name in rows else None for name in (target, against))
        assert one is not None  # names of targets are known before
        names, every = (target, against), (each[0] for each in (one, other) if each is not None)
        facts = facts_of(self.summary.facts, self.job.logging, every)
        return Pair(summary, one, other, names, pair_of(summary, self.job.targets, rows, names), facts)

    def ab_test(self, pairs: Iterable[tuple[str, str]], confidence: float) -> ABTest | None:
        """Return the arms of an A/B test, and the differences of these pairs of targets; None of another log."""
        known, targets = self.summary.layout.arms, self.job.targets
        if known is None:
            return None
        found = ((names, pair_of(self.summary, targets, self.rows, names)) for names in pairs)
        compared = tuple(one.compared(names, confidence) for names, one in found if one is not None)
        return ABTest(known.column, arms(self.summary, self.job.logging.designed_shares), compared, self.job.no_history)

    @cached_property
    def by_group(self) -> dict[str, tuple[Counts, dict[str, Rows]]]:
        """Return the counts of each group, and what the estimators say of each target there."""
        known = {**self.known, "group": len(self.groups), "losses": not self.summary.nonnegative}
        parts = {name: judged_group(self.job.counts(part, **known), self.copies) for name, part in self.groups.items()}
        return {name: (part, self.job.rows(part, len(parts))) for name, part in parts.items()}

    @cached_property
    def cumulative(self) -> dict[str, Estimates]:
        """Return the estimates of all rows up to and with each of some days, if the groups are days."""
        return self._cumulative(self.job)

    @cached_property
    def at_one_look(self) -> dict[str, Estimates]:
        """Return the same with the intervals of one look, where those hold at every look."""
        spec = self.job.spec
        return (
            {}
            if spec.level <= spec.confidence
            else self._cumulative(replace(self.job, spec=spec.of_kind("studentised")))
        )

    def _cumulative(self, job: Pass) -> dict[str, Estimates]:
        if not are_days(self.groups):
            return {}
        found, state = dict[str, Estimates](), None
        known = {**self.known, "group": len(self.groups), "losses": not self.summary.nonnegative}
        days = sorted(self.groups)
        shown = {days[round(at)] for at in np.linspace(0, len(days) - 1, MOST_STEPS)}
        for name in days:
            state = total(state, self.groups[name])  # the results of these folds are their parts
            if name in shown:
                found[name] = requested_estimates(job.rows(job.counts(state, **known), len(shown)))
        return found

    def _verdict(self, target: str) -> Verdict | None:
        """Return the verdict on a target; None if only logged quantities were requested."""
        known, rows = self.summary, list(self.rows[target].values())
        facts = facts_of(known.facts, self.job.logging, [self.job.targets[target]])
        return verdict(target, rows, known.about_log, nonnegative=known.nonnegative, facts=facts)

    def result(self) -> Result:
        """Return the result of the evaluation."""
        groups = {name: requested_estimates(rows) for name, (_, rows) in self.by_group.items()} if self.groups else {}
        estimates, about_log = requested_estimates(self.rows), self.summary.about_log
        every = {name: self._verdict(name) for name in self.rows}
        verdicts = {name: one for name, one in every.items() if one is not None}
        metadata = self._metadata(estimates, verdicts)
        found = Result(
            estimates,
            metadata,
            groups,
            about_log=about_log,
            verdicts=verdicts,
            cumulative=self.cumulative if self.groups else {},
            at_one_look=self.at_one_look if self.groups else {},
            outcomes={name: one.result() for name, one in self.outcomes.items()} if self.outcomes else {},
            reduced=self,
        )
        if self.job.outcome is not None:
            return found.with_facts(unit=self.job.outcome.unit)
        return found if self.job.scorecard is None else found.guarded(self.job.scorecard.guardrails)

    def at(self, confidence: float) -> Result:
        """Return the same reduced log at another confidence level."""
        return self._at(confidence).result()

    def _at(self, confidence: float) -> LogCounts:
        job = replace(self.job, spec=replace(self.job.spec, confidence=confidence))
        outcomes = {name: one._at(confidence) for name, one in self.outcomes.items()} if self.outcomes else {}
        return replace(self, job=job, outcomes=outcomes)

    def difference(self, one: Side, other: Side, *, relative: bool = False, group: str | None = None) -> Interval:
        """Return the difference of two targets, or to the logged mean; by default with the verdict's estimator."""
        (target, mine), (against, theirs) = one, other
        summary, rows = (self.summary, self.rows) if group is None else self.by_group[group]
        rows = rows if group is None else self._beside_log(summary, rows)
        pair = self._pair(summary, rows, target, against)
        if mine is None and theirs is None:
            found = pair.verdict(self.summary.about_log)
            away = None if found is None else found.relative if relative else found.difference
            if away is not None:
                return away
            mine = pair.least_assuming() if found is None or found.estimator is None else found.estimator
        both = [(target, mine or theirs)] + ([] if pair.other is None else [(against, theirs or mine)])
        for name, key in both:
            if (refusal := rows[name][str(key)].refusal) is not None:
                raise refusal
        mine, theirs = (str(both[place][1]) for place in (0, -1))
        away = pair.relative(mine, theirs) if relative else pair.difference(mine, theirs)
        if away is None:
            raise SupportError(
                f"the value of {against} is not clearly above 0, so a relative difference is not defined",
                "ask for the absolute difference: relative=False",
            )
        return away

    def comparison(self, target: str, against: str, confidence: float) -> Difference:
        """Return the verdict on the difference of two targets, with its interval at this level."""
        found = self._pair(self.summary.at(confidence), self.rows, target, against).verdict(self.summary.about_log)
        if found is None:
            raise UsageError(
                "only the logged ranking was evaluated", "name an estimator of the targets, such as 'snips'"
            )
        return Difference(target, against, found, self.summary.sums.n)

    def release(self, target: str, level: float, largest: float | None = None) -> Release:
        """Return whether a target may replace the logging policy, with probability `level`; see `released`."""
        at = replace(self, job=replace(self.job, spec=replace(self.job.spec, confidence=2 * level - 1)))
        return released(at._verdict(target), (at.job.targets[target], at.rows[target]), at.summary, level, largest)

    def _answering(self, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[str, Row]]:
        """Return the row behind each verdict, or the first of each target where a verdict uses none."""
        for name, rows in self.rows.items():
            given = {one.name: one for one in requested(rows) if one.kind.weighs != "logged" and one.refusal is None}
            taken = verdicts.get(name)
            key = taken.estimator if taken is not None and taken.estimator in given else next(iter(given), None)
            if key is not None:
                yield name, given[key]

    def _metadata(self, estimates: Estimates, verdicts: Mapping[str, Verdict]) -> ResultMetadata:
        job, summary, spec, read = self.job, self.summary, self.job.spec, self.impressions
        earned = {one.kind.outcome for one in job.members}
        one_unit = len(earned) == 1 or summary.rewards_are_clicks
        clicked = summary.clicks_alone or earned == {"clicks"}
        used = dict.fromkeys(getattr(one, "cluster", None) for one in estimates.found.values())
        windows = (
            window_path(name, one) for name, rows in self.rows.items() for one in requested(rows) if one.considered
        )
        every = ((name, one) for name, rows in self.rows.items() for one in rows.values())
        judged = tuple(JudgedOf(name, one.name, one.judged) for name, one in every if one.judged is not None)
        answering, known = dict(self._answering(verdicts)), self.diagnostics
        told = None if known is None else known.found(self.diagnosed, answering, windows, summary)
        return ResultMetadata(
            kind="evaluate",
            title="What the new ranking would have earned",
            log=LogRead(self.where, read.n, read.estimated, read.skipped, period=self.days),
            logging=repr(job.logging),
            targets={name: repr(one) for name, one in job.targets.items()},
            confidence=spec.confidence,
            interval=spec.method,
            cluster=", ".join(filter(None, used)) or None,
            by=job.by,
            examination=job.examination(),
            logged=summary.logged(summary.layout.estimators[0]) if one_unit else None,
            unit="clicks per impression" if one_unit and clicked else "per impression",
            weights=tuple(job.histograms(summary, self.rows)) if self.diagnostics else (),
            ranks=tuple(read.by_rank(spec.confidence)),
            credit=self.credit,
            left_out=job.no_history if job.layout.arms is None else None,
            versions=reproducibility.versions(),
            created=reproducibility.now(),
            diagnoses=None if told is None else replace(told, models=tuple(job.models()), judged=judged),
        )
