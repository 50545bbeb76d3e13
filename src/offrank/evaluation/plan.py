"""The plan of an evaluation (what to read from a log), and its reduced log, from which every number follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from ..checks.log import LogFold
from ..checks.rows import Impressions, TiesFold
from ..errors import AbilityError, ColumnError, NoOverlapError, SupportError, UsageError
from ..estimators.base import Estimator, Reference
from ..estimators.family import Family
from ..estimators.fold import ROWS, Layout, needs
from ..estimators.named import REFERENCES
from ..estimators.wrappers import bare, weighing
from ..findings import cautions_for
from ..findings.evidence import OfCurve
from ..findings.release import Release
from ..findings.untested import ROWS_KEPT
from ..findings.verdict import Verdict
from ..folds.estimate import Caution, Interval
from ..folds.sums import Products
from ..inference.ratio import Controlled
from ..inference.spec import IntervalSpec
from ..log.source import Needs, Source
from ..policies.fit import counts
from ..policies.propensities import AnyPolicy
from ..policies.ties import sorts
from . import reproducibility
from .arguments import TOTALS
from .candidates import Assessment, Pick, SelectedEstimate, chosen, compared, named
from .counts import AnyEstimator, Summary
from .diagnostics import Diagnosed, Diagnostics, window_path
from .differences import Difference, Pair
from .estimates import Estimates
from .metadata import Background, LogRead, ModelOf, WeightsOf
from .provenance import NOTHING, Provenance
from .release_rule import released
from .result import Result, Side

Picks = Mapping[str, Mapping[str, Pick]]


@dataclass(frozen=True)
class Plan:
    """An evaluation, ready to run on any source.

    estimators: by their spelling. references: less assuming weightings that the user did not request. picks: by
    spelling and target, what was chosen before. totals: true numbers of impressions, by which rows are tested.
    """

    targets: Mapping[str, AnyPolicy]
    logging: AnyPolicy
    estimators: Mapping[str, Family]
    spec: IntervalSpec
    by: str | None = None
    trained: Provenance = NOTHING
    references: tuple[Reference, ...] = ()
    picks: Picks = field(default_factory=dict)
    totals: Mapping[str, float] | None = None

    def referenced(self, source: Source) -> Plan:
        """Add less assuming estimators than those requested, if the log and the policies support them.

        They read nothing more than the columns that a policy names: logged probabilities of the shown slates may be
        wrong, and the user did not request them.
        """
        found, needed = self, self.needs()
        for one in REFERENCES:
            if one in self.layout.estimators or not any(one.assumptions < bare(e).assumptions for e in self._asked):
                continue
            more = replace(found, references=(*found.references, one))
            try:
                wanted = more.needs()
                source.select(wanted)
            except (AbilityError, ColumnError):
                continue
            if (wanted.roles, wanted.written) == (needed.roles, needed.written):
                found = more
        return found

    @property
    def members(self) -> list[AnyEstimator]:
        """Return the estimators of all spellings."""
        return [one for members in self.estimators.values() for one in members.values()]

    @property
    def _asked(self) -> list[AnyEstimator]:
        """Return the estimators that depend on the target."""
        return [one for one in self.members if bare(one).weighs != "logged"]

    @property
    def only_target(self) -> AnyPolicy:
        """Return the first target."""
        return next(iter(self.targets.values()))

    @property
    def layout(self) -> Layout:
        """Return each distinct weighting once: ips and snips share one."""
        weighed, targets = dict.fromkeys(map(bare, self.members)), dict.fromkeys(self.targets.values())
        per_slot = dict.fromkeys(bare(e) for e in self.members if e.normalisation == "slot")
        return Layout(tuple(targets), (*weighed, *self.references), tuple(per_slot), self.references)

    @property
    def ties(self) -> TiesFold:
        """Return the fold that counts ties of the sorting targets."""
        return TiesFold(tuple(filter(sorts, self.layout.targets)))

    def log_fold(self, source: Source) -> LogFold:
        """Return the fold of the log's own checks; they include the logging policy if any estimator requires it."""
        asked = any(bare(estimator).requires_logging is not None for estimator in self._asked)
        return LogFold.of(source, self.logging if asked else None)

    @property
    def products(self) -> Products:
        """Return the products of columns that a bootstrap also sums, to refit slopes in each replicate."""
        if self.spec.method != "bootstrap":
            return ()
        controlled = {bare(e) for e in self.members if e.normalisation == "control"}
        found = [
            pair
            for _, estimator, value, weight in self.layout.pairs()
            if estimator in controlled
            for pair in Controlled.products(value, weight, 0)
        ]
        return tuple(dict.fromkeys(found))

    def needs(self) -> Needs:
        """Return the columns to read."""
        wanted = needs(self.layout, self.logging) | self.ties.needs() | self.spec.needs()
        return wanted | Needs(labels=frozenset([self.by] if self.by else []))

    def parts(self) -> list[Any]:
        """Return all parts that may have been learnt from data."""
        return [*self.targets.values(), *self.members]

    def summary(self, folded: Any, **known: Any) -> Summary:
        """Return the summary of the folds' results. known: as in `Summary`."""
        # The true totals are compared with the rows: if they differ, that is said of the log.
        tested = frozenset([ROWS_KEPT] if self.totals is not None and len(self.totals) == len(TOTALS) else [])
        made = self.layout, self.spec, folded, counts(self.logging), self.products
        return Summary(*made, tested=tested, **known)

    def estimates(self, summary: Summary) -> Estimates:
        """Return every estimator for every target."""
        return listed(self.judged(summary))

    def judged(self, summary: Summary, groups: int = 1) -> dict[str, Assessment]:
        """Compare the estimates of every target with each other. groups: number of such summaries."""
        every = [*self._asked, *map(named, self.references)]
        pairs = compared(every, summary.rewards_are_clicks) * len(self.targets) * groups
        return {
            name: Assessment.of(summary, target, self._chosen(summary, name), pairs)
            for name, target in self.targets.items()
        }

    def _chosen(self, summary: Summary, name: str) -> dict[str, SelectedEstimate]:
        """Return the estimate of the target of this name that is chosen for each spelling."""
        picks = {key: by_target[name] for key, by_target in self.picks.items()}
        each = self.estimators.items()
        found = {key: chosen(summary, self.targets[name], members, picks.get(key)) for key, members in each}
        return {key: _examined(key, one) for key, one in found.items()}

    def examination(self) -> list[float] | None:
        """Return the examination curve that an estimator uses."""
        curves = (bare(one).curve for one in self.members)
        return next((list(curve) for curve in curves if curve), None)

    def models(self) -> Iterator[ModelOf]:
        """Return how the reward model of each estimator was learnt, and how well it predicts."""
        for key, members in self.estimators.items():
            models = (bare(one).model_evidence for one in members.values())
            yield from dict.fromkeys(ModelOf(key, one) for one in models if one is not None)

    def histograms(self, summary: Summary) -> Iterator[WeightsOf]:
        """Return the weight histograms by target and weighting; ips and snips share one, under the first name."""
        for name, target in self.targets.items():
            named: dict[Estimator, str] = {}
            for key, one in self._chosen(summary, name).items():
                named.setdefault(bare(one.estimator), key)
            for estimator, key in named.items():
                if weighing(estimator) is None:
                    continue
                place, _, _ = summary.layout.places[target, estimator]
                yield WeightsOf(name, key, summary.folded["histogram"][place])


@dataclass(frozen=True)
class Reduced:
    """A log reduced under a plan: it gives all numbers at any level, and the difference of any two targets.

    whole, groups: results of the folds. known, designs: as in `Summary`. where: the log in words. refuted: what
    refutes the logging policy in each group.
    """

    plan: Plan
    whole: Any
    groups: Mapping[str, Any]
    known: Mapping[str, Any]
    designs: Any
    impressions: Impressions
    where: str
    behind: Mapping[str, Any]
    diagnostics: Diagnostics
    refuted: Mapping[str, tuple[Caution, ...]]

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}  # derived values are recomputed

    @cached_property
    def summary(self) -> Summary:
        """Return the summary of the whole log."""
        return self.plan.summary(self.whole, **self.known, designs=self.designs)

    @cached_property
    def judged(self) -> dict[str, Assessment]:
        """Return the judged estimates of each target."""
        return self.plan.judged(self.summary)

    @cached_property
    def by_group(self) -> dict[str, tuple[Summary, dict[str, Assessment]]]:
        """Return the judged estimates of each group."""
        known = {**self.known, "group": len(self.groups), "losses": not self.summary.nonnegative}
        parts = {
            name: self.plan.summary(part, **known, of_group=self.refuted[name]) for name, part in self.groups.items()
        }
        return {name: (part, self.plan.judged(part, len(parts))) for name, part in parts.items()}

    def result(self) -> Result:
        """Return the result of the evaluation."""
        groups = {name: listed(judged) for name, (_, judged) in self.by_group.items()}
        estimates, about_log = listed(self.judged), self.summary.about_log
        every = {name: one.verdict(name, about_log) for name, one in self.judged.items()}
        verdicts = {name: one for name, one in every.items() if one is not None}
        background = self._background(estimates, verdicts)
        return Result(estimates, background, groups, about_log=about_log, verdicts=verdicts, reduced=self)

    def at(self, confidence: float) -> Result:
        """Return the same reduced log at another confidence level."""
        plan = replace(self.plan, spec=replace(self.plan.spec, confidence=confidence))
        return replace(self, plan=plan).result()

    def difference(self, one: Side, other: Side, *, relative: bool = False, group: str | None = None) -> Interval:
        """Return the difference of two targets, or to the logged mean; by default with the verdict's estimator."""
        (target, mine), (against, theirs) = one, other
        summary, judged = (self.summary, self.judged) if group is None else self.by_group[group]
        pair = Pair(summary, judged[target], judged.get(against), (target, against))
        if mine is None and theirs is None:
            found = pair.verdict(self.summary.about_log)
            away = None if found is None else found.relative if relative else found.difference
            if away is not None:
                return away
            mine = pair.least_assuming() if found is None or found.estimator is None else found.estimator
        both = [(target, mine or theirs)] + ([] if pair.other is None else [(against, theirs or mine)])
        for name, key in both:
            if isinstance(refused := judged[name].estimates[str(key)], NoOverlapError):
                raise refused
        mine, theirs = (str(both[place][1]) for place in (0, -1))
        away = pair.relative(mine, theirs) if relative else pair.difference(mine, theirs)
        if away is None:
            raise SupportError(
                f"what {against} earns is not clearly above 0, so that nothing can be told as a share of it",
                "ask for the absolute difference: relative=False",
            )
        return away

    def comparison(self, target: str, against: str, confidence: float) -> Difference:
        """Return the verdict on the difference of two targets, with its interval at this level."""
        pair = Pair(self.summary.at(confidence), self.judged[target], self.judged.get(against), (target, against))
        found = pair.verdict(self.summary.about_log)
        if found is None:
            raise UsageError("only what was logged was asked for", "name an estimator of the targets, such as 'snips'")
        return Difference(target, against, found, self.summary.moments.n)

    def release(self, target: str, level: float, largest: float | None = None) -> Release:
        """Return whether a target may replace the logging policy, with probability `level`; see `released`."""
        at = replace(self, plan=replace(self.plan, spec=replace(self.plan.spec, confidence=2 * level - 1)))
        return released(target, at.judged[target], at.summary, level, largest)

    def _diagnosed(self, verdicts: Mapping[str, Verdict]) -> Iterator[Diagnosed]:
        """Return the estimates behind the verdicts, or the first of each target where a verdict uses none."""
        for name, one in self.judged.items():
            given = {key: each for key, each in one.candidates.items() if each.asked and each.estimate is not None}
            taken = verdicts.get(name)
            key = taken.estimator if taken is not None and taken.estimator in given else next(iter(given), None)
            if key is not None and (estimate := given[key].estimate) is not None:
                chosen = one.found[key]
                _, *columns = self.summary.layout.places[one.target, bare(chosen.estimator)]
                terms = self.summary.moments.of((ROWS, *columns))
                yield Diagnosed(name, key, chosen.estimator, estimate, terms, self.summary.nonnegative)

    def _background(self, estimates: Estimates, verdicts: Mapping[str, Verdict]) -> Background:
        plan, summary, spec, rows = self.plan, self.summary, self.plan.spec, self.impressions
        earned = {bare(one).outcome for one in plan.members}
        one_unit = len(earned) == 1 or summary.rewards_are_clicks
        clicked = summary.clicks_alone or earned == {"clicks"}
        used = dict.fromkeys(one.cluster for one in estimates.given.values() if one.cluster is not None)
        each = ((name, key, one) for name, judged in self.judged.items() for key, one in judged.found.items())
        windows = (window_path(name, key, one) for name, key, one in each if one.considered)
        return Background(
            kind="evaluate",
            title="What the new ranking would have earned",
            log=LogRead(self.where, rows.n, rows.estimated, rows.skipped),
            logging=repr(plan.logging),
            targets=reproducibility.spelled(plan.targets),
            confidence=spec.confidence,
            interval=spec.method,
            cluster=", ".join(used) or None,
            by=plan.by,
            examination=plan.examination(),
            logged=summary.logged(summary.layout.estimators[0]) if one_unit else None,
            unit="clicks per impression" if one_unit and clicked else "per impression",
            weights=tuple(plan.histograms(summary)),
            ranks=tuple(rows.by_rank(spec.confidence)),
            versions=reproducibility.versions(),
            created=reproducibility.now(),
            diagnoses=replace(
                self.diagnostics.found(self.behind, list(self._diagnosed(verdicts)), windows, spec),
                models=tuple(plan.models()),
            ),
        )


def _examined(key: str, found: SelectedEstimate) -> SelectedEstimate:
    """Add the warnings about the estimate's examination curve to the estimate.

    Remedies spell the estimator as the user did: `clip(pbm, 100)`, without the curve given separately.
    """
    estimate = found.estimate
    if isinstance(estimate, NoOverlapError):
        return found
    plain = bare(found.estimator)
    # With a window of one rank, no click moves to another rank.
    curve = None if plain.window_size == 0 else plain.curve
    said = cautions_for(OfCurve(curve=curve)) if curve else ()
    spelled = key if estimate.chosen is None else repr(found.estimator)
    own = (replace(one, remedy=one.remedy.replace(repr(found.estimator), spelled)) for one in estimate.warnings)
    return replace(found, estimate=replace(estimate, warnings=(*said, *own)))


def listed(judged: Mapping[str, Assessment]) -> Estimates:
    """Return the estimates of all targets as a list."""
    return Estimates({(name, key): found for name, one in judged.items() for key, found in one.estimates.items()})
